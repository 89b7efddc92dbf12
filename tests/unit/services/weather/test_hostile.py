"""Answers that are no weather: clear words, and nothing else."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.checking import NOW, Checks
from tests.support.sink import Reply, Sink
from tests.unit.services.weather.stand_in import MINUTE, PATH, PLACE, StandIn, current, fixture, forecast, stand_in
from whenthen.services.checking import CheckFailed

SLOT = 1_790_053_200_000
"""The slot of 07:00 on 22 September 2026 in Paris, for which ``forecast.json`` is."""


def raw(answer: Any, old: str, new: str) -> bytes:
    """JSON text with something in it that Python does not write."""
    text = json.dumps(answer)
    assert old in text
    return text.replace(old, new).encode()


NOT_JSON = {
    "html": b"<!doctype html><html><body>502 Bad Gateway</body></html>",
    "empty": b"",
    "text": b"ok",
    "null": b"null",
    "array": b"[]",
    "array of answers": json.dumps([fixture("current")]).encode(),
    "string": b'"sunny"',
    "number": b"21.5",
    "broken off": json.dumps(fixture("current")).encode()[:200],
    "binary": bytes(range(256)),
    "wrong encoding": b'{"current": "\xff"}',
    "deep": b"[" * 200_000,
    "deep object": b'{"current":' * 100_000,
    "empty object": b"{}",
    "error without a reason": b'{"error": true}',
    "error with a strange reason": b'{"error": true, "reason": ["x"]}',
}

BAD_CURRENT: dict[str, Any] = {
    "part is null": {"current": None},
    "part is a list": {"current": [1]},
    "part is text": {"current": "sunny"},
    "no time": {"current": {"temperature_2m": 20}},
    "null time": current(time=None),
    "text time": current(time="2026-09-21T14:00"),
    "true time": current(time=True),
    "negative time": current(time=-1),
    "fraction of a second": current(time=1789999200.5),
    "huge time": current(time=10**300),
    "time to come": current(time=NOW // 1000 + 7200),
    "text": current(temperature_2m="18.6"),
    "bool": current(temperature_2m=True),
    "list": current(temperature_2m=[18.6]),
    "object": current(temperature_2m={"value": 18.6}),
    "too hot": current(temperature_2m=2000),
    "too cold": current(temperature_2m=-300.0),
    "huge": current(temperature_2m=10**400),
    "huge float": raw(current(), "18.6", "1e999"),
    "very long number": raw(current(), "18.6", "9" * 10_000),
    "nan": raw(current(), "18.6", "NaN"),
    "infinity": raw(current(), "18.6", "-Infinity"),
    "code between codes": current(weather_code=2.5),
    "code out of range": current(weather_code=100),
    "text code": current(weather_code="rain"),
    "humidity": current(relative_humidity_2m=101),
    "wind": current(wind_speed_10m=-1),
}

BAD_FORECAST: dict[str, Any] = {
    "part is missing": fixture("current"),
    "no lists": forecast(temperature_2m_max=21.5),
    "empty lists": forecast(temperature_2m_max=[]),
    "null": forecast(temperature_2m_min=[None]),
    "nulls instead of lists": forecast(temperature_2m_min=None),
    "text": forecast(temperature_2m_max=["21.5"]),
    "nested": forecast(temperature_2m_max=[[21.5]]),
    "another day": forecast(time=[1790028000 + 3 * 86400]),
    "no day": forecast(time=[]),
    "days as text": forecast(time=["2026-09-22"]),
    "sunrise": forecast(sunrise=["05:38"]),
    "huge sunset": forecast(sunset=[10**30]),
    "chance": forecast(precipitation_probability_max=[-5]),
    "nan": raw(forecast(), "21.5", "NaN"),
}


def refusal(service: StandIn, now: int = NOW) -> CheckFailed:
    position = service.checks.position
    with pytest.raises(CheckFailed) as caught:
        service.checks.check(now)
    assert str(caught.value).startswith("The ")
    assert service.checks.position == position
    return caught.value


@pytest.fixture(scope="module")
def sink() -> Iterator[Sink]:
    with Sink() as sink:
        yield sink


@pytest.fixture(scope="module", params=["temperature_rises_above", "condition_changes_to"])
def present(request: pytest.FixtureRequest, sink: Sink) -> StandIn:
    fields = {"threshold": 10} if request.param == "temperature_rises_above" else {"condition": "fog"}
    return StandIn(sink, request.param, fields)


@pytest.fixture(scope="module")
def report(sink: Sink) -> StandIn:
    service = StandIn(sink, "todays_report_at", {"time": "07:00", "zone": "Europe/Paris"})
    service.checks.check(SLOT - MINUTE)
    return service


@pytest.mark.parametrize("answer", [*NOT_JSON.values(), *BAD_CURRENT.values()], ids=[*NOT_JSON, *BAD_CURRENT])
def test_the_present_weather(present: StandIn, answer: Any) -> None:
    present.answer(answer)
    refusal(present)


@pytest.mark.parametrize("answer", [*NOT_JSON.values(), *BAD_FORECAST.values()], ids=[*NOT_JSON, *BAD_FORECAST])
def test_the_forecast(report: StandIn, answer: Any) -> None:
    report.answer(answer)
    refusal(report, SLOT)


def test_what_is_refused_is_so_for_what_is_bad_in_it(present: StandIn, report: StandIn) -> None:
    present.answer(current())
    assert present.checks.check().position
    present.checks.position = None
    report.answer(forecast())
    assert report.checks.check(SLOT).items
    report.checks.position = {"after": SLOT - MINUTE}


def test_the_reason_of_an_error_is_passed_on() -> None:
    with stand_in("temperature_rises_above", {"threshold": 10}) as service:
        service.answer(fixture("error_400"), 400)
        error = refusal(service)
        assert "Latitude must be in range of -90 to 90°. Given: 91.0." in str(error)
        assert error.retry_at is None
        # Also with a status that says all is well.
        service.answer(fixture("error_400"))
        assert "Latitude must be in range" in str(refusal(service))


def test_a_limit_says_when_to_come_back() -> None:
    with stand_in("temperature_rises_above", {"threshold": 10}) as service:
        service.answer(fixture("error_429"), 429, (("Retry-After", "120"),))
        error = refusal(service)
        assert "Minutely API request limit exceeded" in str(error)
        assert error.retry_at == NOW + 120_000
        service.answer(fixture("error_429"), 429)
        assert refusal(service).retry_at is None


@pytest.mark.parametrize(
    "reason",
    ["x" * 100_000, "a\x00b\x1b[31m\u202e\n", 5, None, {"a": 1}, ["x"], True, "\ud800"],
    ids=["long", "controls", "number", "null", "object", "list", "bool", "half a character"],
)
def test_a_reason_is_kept_short_and_printable(reason: Any) -> None:
    with stand_in("temperature_rises_above", {"threshold": 10}) as service:
        service.answer({"error": True, "reason": reason}, 400)
        words = str(refusal(service))
    assert len(words) < 300
    assert words.isprintable()


@pytest.mark.parametrize("status", [204, 304, 401, 403, 404, 500, 502, 503])
def test_other_statuses(status: int) -> None:
    with stand_in("temperature_rises_above", {"threshold": 10}) as service:
        service.answer(b"" if status in (204, 304) else NOT_JSON["html"], status)
        assert str(status) in str(refusal(service))


def test_five_mebibytes() -> None:
    with stand_in("temperature_rises_above", {"threshold": 10}) as service:
        service.answer(b'{"current": "' + b"x" * 5 * 1024 * 1024 + b'"}')
        assert "larger than 4 MiB" in str(refusal(service))
        service.answer(b'{"reason": "' + b"x" * 5 * 1024 * 1024 + b'"}', 400)
        assert "400" in str(refusal(service))


def test_a_connection_that_ends() -> None:
    with stand_in("temperature_rises_above", {"threshold": 10}) as service:
        service.sink.reply(PATH, [Reply(close=True)])
        assert "could not be read" in str(refusal(service))


def test_a_body_that_breaks_off() -> None:
    with stand_in("temperature_rises_above", {"threshold": 10}) as service:
        body = json.dumps(fixture("current")).encode()
        service.sink.reply(PATH, [Reply(headers=(("Content-Encoding", "gzip"),), body=body)])
        refusal(service)


def test_a_service_that_is_not_there() -> None:
    with stand_in("temperature_rises_above", {"threshold": 10}) as service:
        service.answer(current())
        url = service.sink.url
    checks = Checks("weather", "temperature_rises_above", {**PLACE, "threshold": 10}, service_url=url)
    with pytest.raises(CheckFailed, match="could not be read"):
        checks.check()
    with pytest.raises(CheckFailed, match="not set"):
        Checks("weather", "temperature_rises_above", {**PLACE, "threshold": 10}).check()


def test_more_than_is_asked_for_does_no_harm() -> None:
    with stand_in("temperature_rises_above", {"threshold": 10}) as service:
        service.answer({**current(surprise=[1]), "error": False, "hourly": {"time": []}})
        assert service.checks.check().position == {"beyond": True, "since": 1_789_999_200_000}
