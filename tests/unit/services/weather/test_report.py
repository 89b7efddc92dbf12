"""Today's report."""

from typing import Any

import pytest

from tests.unit.services.date_time.clockwork import DAY, HOUR, ms
from tests.unit.services.weather.stand_in import MINUTE, StandIn, forecast, stand_in
from whenthen.services.checking import CheckFailed
from whenthen.services.registry import find_trigger

ZONE = "Europe/Paris"
SLOT = ms("2026-09-22T07:00", ZONE)
FIELDS = {"time": "07:00", "zone": ZONE}


def begun(service: StandIn, answer: Any) -> StandIn:
    """The stand-in after its first check, an hour before the report."""
    service.answer(answer)
    found = service.checks.check(SLOT - HOUR)
    assert (found.items, found.next_check_at) == ((), SLOT)
    assert service.sink.requests == []
    return service


def test_a_report() -> None:
    trigger = find_trigger("weather", "todays_report_at")
    assert trigger is not None
    assert not trigger.offline
    with stand_in("todays_report_at", FIELDS) as service:
        begun(service, forecast())
        found = service.checks.check(SLOT + 20_000)
        (item,) = found.items
        assert item.ingredients == {
            "Report": "Light rain, 0 to 21.5 °C",
            "TodaysCondition": "Light rain",
            "HighTempCelsius": "21.5",
            "HighTempFahrenheit": "70.7",
            "LowTempCelsius": "0",
            "LowTempFahrenheit": "31.9",
            "ChanceOfRain": "80",
            "SunriseAt": "September 22, 2026 at 07:38AM",
            "SunsetAt": "September 22, 2026 at 07:48PM",
            "CheckTime": "September 22, 2026 at 07:00AM",
            "DayOfWeek": "Tuesday",
            "LateMinutes": "0",
            "ForecastUrl": "https://open-meteo.com/en/docs?latitude=48.85&longitude=2.35",
        }
        assert set(item.ingredients) == {ingredient.slug for ingredient in trigger.ingredients}
        assert (item.unique, item.occurred_at, item.note) == ("2026-09-22T07:00", SLOT, "")
        assert (found.next_check_at, found.position) == (SLOT + DAY, {"after": SLOT + 20_000})
        assert service.query() == {
            "latitude": "48.85",
            "longitude": "2.35",
            "daily": "weather_code,temperature_2m_max,temperature_2m_min,precipitation_probability_max,sunrise,sunset",
            "timezone": ZONE,
            "start_date": "2026-09-22",
            "end_date": "2026-09-22",
            "temperature_unit": "celsius",
            "wind_speed_unit": "kmh",
            "timeformat": "unixtime",
        }
        assert service.checks.check(SLOT + MINUTE).items == ()
        assert len(service.sink.requests) == 1


def test_fahrenheit_in_the_text() -> None:
    with stand_in("todays_report_at", {**FIELDS, "unit": "fahrenheit"}) as service:
        (item,) = begun(service, forecast(weather_code=[None])).checks.check(SLOT).items
        assert item.ingredients["Report"] == "31.9 to 70.7 °F"
        assert item.ingredients["TodaysCondition"] == ""


def test_a_report_that_fails_stays_due_within_its_grace() -> None:
    with stand_in("todays_report_at", FIELDS) as service:
        begun(service, forecast())
        service.answer(b"", 503)
        for minutes in (0, 5, 15, 35):
            with pytest.raises(CheckFailed):
                service.checks.check(SLOT + minutes * MINUTE)
        service.answer(forecast())
        (item,) = service.checks.check(SLOT + 75 * MINUTE).items
        assert (item.unique, item.note, item.ingredients["LateMinutes"]) == (
            "2026-09-22T07:00",
            "75 minutes late",
            "75",
        )
        assert service.checks.check(SLOT + 80 * MINUTE).items == ()


def test_a_report_beyond_its_grace_is_missed_and_asks_nobody() -> None:
    with stand_in("todays_report_at", {**FIELDS, "grace_minutes": 30}) as service:
        begun(service, b"")
        with pytest.raises(CheckFailed):
            service.checks.check(SLOT)
        found = service.checks.check(SLOT + 31 * MINUTE)
        assert found.items == ()
        assert found.note == "The run of September 22, 2026 at 07:00AM was missed."
        assert found.next_check_at == SLOT + DAY
        assert len(service.sink.requests) == 1


def test_of_several_days_the_last_is_given() -> None:
    with stand_in("todays_report_at", {**FIELDS, "grace_minutes": 1440}) as service:
        begun(service, forecast(time=[1790028000 + 2 * 86400]))
        found = service.checks.check(SLOT + 2 * DAY + HOUR)
        assert [item.unique for item in found.items] == ["2026-09-24T07:00"]
        assert found.note == "2 runs were missed, the first of September 22, 2026 at 07:00AM."
        assert service.query()["start_date"] == "2026-09-24"


def test_the_date_is_that_of_the_slot_also_after_midnight() -> None:
    with stand_in("todays_report_at", {**FIELDS, "time": "23:50"}) as service:
        slot = ms("2026-09-22T23:50", ZONE)
        service.answer(forecast())
        service.checks.check(SLOT)
        (item,) = service.checks.check(slot + 20 * MINUTE).items
        assert service.query()["start_date"] == "2026-09-22"
        assert item.ingredients["DayOfWeek"] == "Tuesday"


@pytest.mark.parametrize(
    "sun",
    [
        # As the service tells the polar night and day.
        {"sunrise": [1790028000], "sunset": [1790028000]},
        {"sunrise": [1790028000], "sunset": [1790028000 + 86400]},
        {"sunrise": [None], "sunset": [None]},
        {"sunrise": [], "sunset": []},
        {"sunrise": [0], "sunset": [0]},
    ],
)
def test_a_day_without_a_sunrise(sun: dict[str, Any]) -> None:
    with stand_in("todays_report_at", FIELDS) as service:
        (item,) = begun(service, forecast(**sun)).checks.check(SLOT).items
        assert (item.ingredients["SunriseAt"], item.ingredients["SunsetAt"]) == ("", "")


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("2026-03-28T12:00", ["2026-03-29T01:00Z", "2026-03-30T00:30Z"]),
        ("2026-10-24T12:00", ["2026-10-25T00:30Z", "2026-10-26T01:30Z"]),
    ],
)
def test_c02_c05_a_report_keeps_to_the_rules_of_schedules(after: str, expected: list[str]) -> None:
    with stand_in("todays_report_at", {**FIELDS, "time": "02:30"}) as service:
        at = ms(after, ZONE)
        for text in expected:
            at = service.checks.fields.next_slot(at).at  # type: ignore[attr-defined]
            assert at == ms(text)


def test_c16_the_zone_is_the_owners() -> None:
    with stand_in("todays_report_at", {"time": "07:00"}, zone="Asia/Tokyo") as service:
        assert service.checks.check(SLOT).next_check_at == ms("2026-09-23T07:00", "Asia/Tokyo")
