"""Samples of the weather service."""

import json
from typing import Any

from tests.support.samples import Sample
from tests.support.sink import Reply
from tests.unit.services.weather.stand_in import OBSERVED, PATH, PLACE, current, forecast

_LATER = OBSERVED // 1000 + 900


def _reply(answer: Any) -> dict[str, Reply]:
    return {PATH: Reply(body=json.dumps(answer).encode())}


def _current(**values: Any) -> dict[str, Reply]:
    return _reply(current(**values))


SAMPLES = {
    "todays_report_at": Sample(
        {**PLACE, "time": "07:30", "grace_minutes": 1440},
        before=_reply(forecast()),
        after=_reply(forecast()),
        later=24 * 3_600_000,
    ),
    "condition_changes_to": Sample(
        {**PLACE, "condition": "rain"},
        before=_current(weather_code=0),
        after=_current(weather_code=61, time=_LATER),
    ),
    "temperature_rises_above": Sample(
        {**PLACE, "threshold": 25},
        before=_current(temperature_2m=20),
        after=_current(temperature_2m=26, time=_LATER),
    ),
    "temperature_drops_below": Sample(
        {**PLACE, "threshold": 5, "unit": "fahrenheit"},
        before=_current(temperature_2m=0),
        after=_current(temperature_2m=-20, time=_LATER),
    ),
}
