"""What the OwnTracks apps post."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whenthen.errors import FieldError
from whenthen.services.location.owntracks import MAX_DEVICE_CHARACTERS, Report, read_report

NOW = 1_790_000_000
LOCATION: dict[str, Any] = {
    "_type": "location", "topic": "owntracks/ann/pixel", "tid": "xl", "lat": 48.8584, "lon": 2.2945, "tst": NOW - 5,
    "acc": 12, "alt": 35, "batt": 80, "bs": 1, "conn": "w", "created_at": NOW, "inregions": ["Home"], "t": "u",
    "vel": 0,
}  # fmt: skip
TRANSITION: dict[str, Any] = {
    "_type": "transition", "topic": "owntracks/ann/pixel/event", "tid": "xl", "lat": 48.8584, "lon": 2.2945,
    "tst": NOW - 5, "acc": 12.0, "event": "enter", "desc": "Home", "wtst": 1_700_000_000, "rid": "6da9cf", "t": "c",
}  # fmt: skip
EXPECTED = Report("ann/pixel", NOW - 5, 48.8584, 2.2945, 12.0)


def read(message: Any, **names: str) -> Report | None:
    return read_report(json.dumps(message).encode(), names, NOW)


def device(message: dict[str, Any], **names: str) -> str:
    report = read(message, **names)
    assert report is not None
    return report.device


@pytest.mark.parametrize("message", [LOCATION, TRANSITION], ids=["location", "transition"])
def test_a_message_tells_where_the_phone_is(message: dict[str, Any]) -> None:
    assert read(message) == EXPECTED
    assert read({**message, "lat": -90, "lon": 180}) == Report("ann/pixel", NOW - 5, -90.0, 180.0, 12.0)
    without = {name: value for name, value in message.items() if name != "acc"}
    assert read(without) == Report("ann/pixel", NOW - 5, 48.8584, 2.2945, 0.0)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" \n",
        b'{"_type": "lwt", "tst": 1}',
        b'{"_type": "waypoint", "lat": 1, "lon": 2}',
        b'{"_type": "cmd", "action": "dump"}',
        b'{"_type": ["location"]}',
        b"{}",
        b'{"_type": "transition", "event": "enter", "t": "b", "tst": 1, "desc": "Beacon"}',
        b'{"_type": "location", "lat": 0, "lon": 0, "tst": 1, "acc": -1}',
    ],
)
def test_messages_about_anything_else_are_none(body: bytes) -> None:
    assert read_report(body, {}, NOW) is None


def test_a_phone_is_named_by_its_user_and_itself() -> None:
    assert device(LOCATION, u="ben", d="iphone") == "ben/iphone"
    assert device(LOCATION, u="", d="iphone") == "iphone"
    assert device({**LOCATION, "topic": "owntracks/ann"}) == "ann"
    assert device({**LOCATION, "topic": 5}) == "xl"
    assert device({**LOCATION, "topic": "", "tid": 7}) == "phone"
    assert device(LOCATION, u="a\nb", d="\ud800x\x00") == "a b/?x"
    assert len(device(LOCATION, u="u" * 500, d="d")) == MAX_DEVICE_CHARACTERS


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("lat", None), ("lat", "48.1"), ("lat", True), ("lat", 90.001), ("lat", -91), ("lat", float("nan")),
        ("lat", float("inf")), ("lat", [1]), ("lat", 10**400), ("lon", 180.5), ("lon", -181), ("lon", None),
        ("tst", None), ("tst", -1), ("tst", NOW * 1000), ("tst", NOW + 2 * 86_400), ("tst", float("nan")),
        ("tst", 10**400), ("tst", "1790000000"), ("acc", float("inf")), ("acc", "12"), ("acc", 1e12),
        ("acc", None),
    ],
)  # fmt: skip
def test_bad_values_are_named(field: str, value: Any) -> None:
    for message in (LOCATION, TRANSITION):
        with pytest.raises(FieldError) as refused:
            read({**message, field: value})
        assert refused.value.field == field


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"\xff", "body"),
        (b"{", "body"),
        (b"[" * 100_000, "body"),
        (b"[]", "body"),
        (b"null", "body"),
        (b'{"_type": "encrypted", "data": "xxx"}', "_type"),
        (b'{"_type": "location"}', "tst"),
    ],
)
def test_what_can_t_be_read_is_told(body: bytes, field: str) -> None:
    with pytest.raises(FieldError) as refused:
        read_report(body, {}, NOW)
    assert refused.value.field == field


def test_a_clock_that_is_fast_is_now() -> None:
    """Given a phone an hour ahead, then its fix does not hide those of the next hour."""
    report = read({**LOCATION, "tst": NOW + 3600})
    assert report is not None
    assert report.at == NOW


@settings(deadline=None)
@given(
    st.binary(max_size=200)
    | st.recursive(st.none() | st.floats() | st.text(), st.lists).map(json.dumps).map(str.encode)
)
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    with suppress(FieldError):
        read_report(body, {}, NOW)
