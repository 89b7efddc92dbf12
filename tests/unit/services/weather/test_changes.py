"""Triggers that watch the present weather."""

from typing import Any

import pytest

from tests.unit.services.weather.stand_in import MINUTE, NOW, OBSERVED, StandIn, current, stand_in
from whenthen.services.registry import find_trigger
from whenthen.services.weather.conditions import condition_of, condition_text

TRIGGERS = {
    "condition_changes_to": {"condition": "rain"},
    "temperature_rises_above": {"threshold": 20.0},
    "temperature_drops_below": {"threshold": 10.0},
}
CROSSED: dict[str, dict[str, Any]] = {
    "condition_changes_to": {"weather_code": 61},
    "temperature_rises_above": {"temperature_2m": 20.1},
    "temperature_drops_below": {"temperature_2m": 9.9},
}
triggers = pytest.mark.parametrize("trigger", TRIGGERS)


def look(service: StandIn, minutes: int, **values: Any) -> list[str]:
    """A check so many minutes after `NOW`, with an observation of its own time; what it found."""
    service.answer(current(time=OBSERVED // 1000 + minutes * 60, **values))
    return [item.unique for item in service.checks.check(NOW + minutes * MINUTE).items]


def series(trigger: str, fields: dict[str, Any], name: str, values: list[Any]) -> list[Any]:
    """The values at which a trigger fires, of one value after the other."""
    with stand_in(trigger, fields) as service:
        return [value for n, value in enumerate(values) if look(service, 15 * n, **{name: value})]


@triggers
def test_it_fires_when_the_limit_is_crossed_and_not_at_every_check(trigger: str) -> None:
    with stand_in(trigger, TRIGGERS[trigger]) as service:
        assert look(service, 0) == []
        assert look(service, 15) == []
        assert look(service, 30, **CROSSED[trigger]) == [str(OBSERVED + 30 * MINUTE)]
        assert look(service, 45, **CROSSED[trigger]) == []
        assert look(service, 60) == []
        assert look(service, 75, **CROSSED[trigger]) == [str(OBSERVED + 75 * MINUTE)]


@triggers
def test_the_first_check_only_records_the_side(trigger: str) -> None:
    with stand_in(trigger, TRIGGERS[trigger]) as service:
        assert look(service, 0, **CROSSED[trigger]) == []
        assert look(service, 15, **CROSSED[trigger]) == []
        assert look(service, 30) == []
        assert look(service, 45, **CROSSED[trigger]) == [str(OBSERVED + 45 * MINUTE)]


@triggers
def test_a_missing_value_keeps_the_position(trigger: str) -> None:
    (name,) = CROSSED[trigger]
    with stand_in(trigger, TRIGGERS[trigger]) as service:
        look(service, 0)
        known = service.checks.position
        service.answer(current(time=OBSERVED // 1000 + 900, **{name: None}))
        found = service.checks.check(NOW + 15 * MINUTE)
        assert (found.items, found.position) == ((), known)
        assert found.note.startswith("The weather service has no ")
        answer = current(time=OBSERVED // 1000 + 1800)
        del answer["current"][name]
        service.answer(answer)
        assert service.checks.check(NOW + 30 * MINUTE).position == known
        # The crossing is found afterwards.
        assert look(service, 45, **CROSSED[trigger])


@triggers
def test_a_missing_value_at_the_first_check_leaves_the_second_to_record(trigger: str) -> None:
    (name,) = CROSSED[trigger]
    with stand_in(trigger, TRIGGERS[trigger]) as service:
        assert look(service, 0, **{name: None}) == []
        assert look(service, 15, **CROSSED[trigger]) == []
        assert look(service, 30) == []
        assert look(service, 45, **CROSSED[trigger])


@triggers
def test_nothing_is_written_while_nothing_changes(trigger: str) -> None:
    with stand_in(trigger, TRIGGERS[trigger]) as service:
        look(service, 0)
        known = service.checks.position
        for n in range(1, 4):
            look(service, 15 * n)
            assert service.checks.position == known


@triggers
def test_the_same_observation_is_the_same_event(trigger: str) -> None:
    with stand_in(trigger, TRIGGERS[trigger]) as service:
        look(service, 0)
        before = service.checks.position
        service.answer(current(time=OBSERVED // 1000 + 900, **CROSSED[trigger]))
        first = service.checks.check(NOW + 16 * MINUTE).items
        service.checks.position = before
        again = service.checks.check(NOW + 21 * MINUTE).items
        assert first == again
        assert len(first) == 1


@triggers
def test_an_older_answer_out_of_a_cache_changes_nothing(trigger: str) -> None:
    with stand_in(trigger, TRIGGERS[trigger]) as service:
        look(service, 0)
        assert look(service, 30, **CROSSED[trigger])
        assert look(service, 15) == []
        assert look(service, 30) == []
        assert look(service, 45, **CROSSED[trigger]) == []


def test_the_limit_itself_is_not_beyond_it() -> None:
    values = [19.9, 20.0, 20.1, 20.0, 20.1, 25.0, 19.0, 20.0, 20.01]
    assert series("temperature_rises_above", {"threshold": 20}, "temperature_2m", values) == [20.1, 20.1, 20.01]
    values = [1.0, 0.0, -0.1, 0.0, -5.0, -6.0]
    assert series("temperature_drops_below", {"threshold": 0}, "temperature_2m", values) == [-0.1, -5.0]


def test_fahrenheit() -> None:
    fields = {"threshold": 68.0, "unit": "fahrenheit"}
    assert series("temperature_rises_above", fields, "temperature_2m", [19.0, 20.0, 20.1]) == [20.1]
    # 37.8 °C is 100.04 °F.
    fields = {"threshold": 100.04, "unit": "fahrenheit"}
    assert series("temperature_rises_above", fields, "temperature_2m", [37.0, 37.8, 37.9]) == [37.9]


def test_conditions() -> None:
    codes = [0, 1, 2, 3, 45, 48, 51, 61, 80, 95, 82, 71, 85, 67, 0]
    expected = {
        "clear": [0],
        "cloudy": [2],
        "fog": [45],
        "rain": [51, 82, 67],
        "thunderstorm": [95],
        "snow": [71],
    }
    for condition, fired in expected.items():
        assert series("condition_changes_to", {"condition": condition}, "weather_code", codes) == fired


def test_a_code_that_is_not_known_changes_nothing() -> None:
    assert series("condition_changes_to", {"condition": "rain"}, "weather_code", [0, 61, 42, 61, 0, 4, 63]) == [61, 63]
    assert condition_of(42) is None
    assert condition_text(42) == condition_text(None) == ""


def test_ingredients() -> None:
    trigger = find_trigger("weather", "temperature_rises_above")
    assert trigger is not None
    with stand_in("temperature_rises_above", {"threshold": 18.0}, zone="Europe/Paris") as service:
        look(service, 0, temperature_2m=10)
        service.answer(current(time=OBSERVED // 1000 + 900))
        (item,) = service.checks.check(NOW + 15 * MINUTE).items
    assert item.ingredients == {
        "CurrentCondition": "Partly cloudy",
        "CurrentTempCelsius": "18.6",
        "CurrentTempFahrenheit": "65.5",
        "Humidity": "64",
        "WindSpeedKph": "12.4",
        "WindSpeedMph": "7.7",
        "CheckTime": "September 21, 2026 at 04:15PM",
        "ForecastUrl": "https://open-meteo.com/en/docs?latitude=48.85&longitude=2.35",
    }
    assert set(item.ingredients) == {ingredient.slug for ingredient in trigger.ingredients}
    assert item.occurred_at == OBSERVED + 15 * MINUTE


def test_ingredients_that_the_service_does_not_know_are_empty() -> None:
    with stand_in("temperature_drops_below", {"threshold": 10.0}) as service:
        look(service, 0)
        service.answer(
            {"current": {"time": OBSERVED // 1000 + 900, "temperature_2m": -0.04, "relative_humidity_2m": None}}
        )
        (item,) = service.checks.check(NOW + 15 * MINUTE).items
    known = {name: value for name, value in item.ingredients.items() if value}
    assert set(known) == {"CurrentTempCelsius", "CurrentTempFahrenheit", "CheckTime", "ForecastUrl"}
    assert known["CurrentTempCelsius"] == "0"
    assert known["CurrentTempFahrenheit"] == "31.9"


def test_what_is_asked() -> None:
    with stand_in("condition_changes_to", {"condition": "fog"}) as service:
        look(service, 0)
        assert service.sink.requests[0].path.startswith("/v1/forecast?")
        assert service.query() == {
            "latitude": "48.85",
            "longitude": "2.35",
            "current": "temperature_2m,relative_humidity_2m,weather_code,wind_speed_10m",
            "temperature_unit": "celsius",
            "wind_speed_unit": "kmh",
            "timeformat": "unixtime",
        }
        assert len(service.sink.requests) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"latitude": 91},
        {"latitude": float("nan")},
        {"longitude": 180.1},
        {"longitude": "east"},
        {"threshold": float("inf")},
        {"threshold": 151},
        {"unit": "kelvin"},
        {"interval_minutes": 0},
    ],
    ids=str,
)
def test_fields_that_are_refused(fields: dict[str, Any]) -> None:
    trigger = find_trigger("weather", "temperature_rises_above")
    assert trigger is not None
    with pytest.raises(ValueError, match=next(iter(fields))):
        trigger.fields.model_validate({"latitude": 1, "longitude": 1, "threshold": 1, **fields})


def test_the_interval() -> None:
    trigger = find_trigger("weather", "temperature_rises_above")
    assert trigger is not None
    fields = trigger.fields.model_validate({"latitude": 1, "longitude": 1, "threshold": 1})
    assert fields.model_dump()["interval_minutes"] == 15
