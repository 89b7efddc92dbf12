"""Events that are new."""

import json

import pytest

from tests.support.checking import NOW
from tests.support.sink import Reply, Sink
from tests.unit.services.calendar.calendars import additions, at, event, show, titles
from whenthen.services.calendar.checks import MAX_NEW_EVENTS


def test_an_event_is_shown_with_all_that_is_known_of_it(sink: Sink) -> None:
    show(
        sink,
        event(
            "a",
            "DTSTART;TZID=America/New_York:20261002T090000",
            "DURATION:PT90M",
            "CREATED:20260920T101500Z",
            "DESCRIPTION:d",
            "LOCATION:w",
            "URL:javascript:alert(1)",
        ),
    )
    (item,) = additions(sink).check().items
    assert item.ingredients == {
        "Title": "a",
        "Description": "d",
        "Where": "w",
        "Starts": "October 02, 2026 at 03:00PM",
        "Ends": "October 02, 2026 at 04:30PM",
        "EventUrl": "",
        "CreatedAt": "September 20, 2026 at 12:15PM",
    }
    assert (item.unique, item.occurred_at) == ("a", at("2026-09-20T10:15:00+00:00"))


def test_a_repeated_event_is_one_whatever_becomes_of_it(sink: Sink) -> None:
    weekly = ("DTSTART:20260901T090000Z", "RRULE:FREQ=WEEKLY")
    show(sink, event("a", *weekly))
    checks = additions(sink)
    seen = {item.unique for item in checks.check().items}
    show(
        sink,
        event("a", "DTSTART:20260902T090000Z", "RRULE:FREQ=DAILY", "SEQUENCE:3", "SUMMARY:other"),
        event("a", "DTSTART:20260908T100000Z", "RECURRENCE-ID:20260908T090000Z"),
    )
    assert {item.unique for item in checks.check().items} == seen == {"a"}


def test_an_occurrence_without_its_event_is_an_event(sink: Sink) -> None:
    """What somebody gets who was asked to one meeting of many."""
    show(sink, event("a", "DTSTART:20260908T100000Z", "RECURRENCE-ID:20260908T090000Z"))
    assert titles(additions(sink).check()) == ["a"]


def test_r1_one_uid_for_many_events(sink: Sink) -> None:
    """Given a program that gives all its events one UID, then each is an event, and the first keeps the UID."""
    show(sink, *(event("x", f"DTSTART:202609{day}T090000Z") for day in (10, 11, 12)))
    checks = additions(sink)
    before = {item.unique for item in checks.check().items}
    show(sink, *(event("x", f"DTSTART:202609{day}T090000Z") for day in (10, 11, 12, 13)))
    after = {item.unique for item in checks.check().items}
    assert len(before) == 3
    assert "x" in before
    assert before < after
    assert len(after) == 4


def test_without_a_uid(sink: Sink) -> None:
    lines = ["BEGIN:VEVENT", "SUMMARY:t", "DTSTART:20260908T100000Z", "END:VEVENT"]
    show(sink, *lines)
    checks = additions(sink)
    first = {item.unique for item in checks.check().items}
    show(sink, *lines[:2], "DESCRIPTION:more", *lines[2:])
    assert {item.unique for item in checks.check().items} == first
    show(sink, *lines, *lines[:1], "SUMMARY:other", *lines[2:])
    assert len({item.unique for item in checks.check().items} - first) == 1


def test_events_that_are_called_off_or_not_searched_for(sink: Sink) -> None:
    show(
        sink,
        event("yoga monday", "DTSTART:20260908T100000Z"),
        event("yoga tuesday", "DTSTART:20260908T100000Z", "STATUS:cancelled"),
        event("chess", "DTSTART:20260908T100000Z"),
    )
    assert titles(additions(sink, search="Yoga").check()) == ["yoga monday"]


def test_events_come_in_the_order_in_which_they_were_made(sink: Sink) -> None:
    show(
        sink,
        event("second", "DTSTART:20260901T100000Z", "CREATED:20260902T000000Z"),
        event("third", "DTSTART:20260903T100000Z"),
        event("first", "DTSTART:20261001T100000Z", "CREATED:20260801T000000Z"),
    )
    found = additions(sink).check()
    assert titles(found) == ["first", "second", "third"]
    assert found.items[2].occurred_at == NOW


def test_unchanged_calendars(sink: Sink) -> None:
    show(sink, event("a", "DTSTART:20260908T100000Z"), event("b"), headers=(("ETag", '"1"'),))
    checks = additions(sink)
    found = checks.check()
    first = checks.position
    assert "can't be read: 1" in found.note
    for reply in (None, Reply(status=304)):
        if reply:
            sink.reply("/a.ics", [reply])
        again = checks.check()
        assert (again.items, again.note) == ((), found.note)
        assert checks.position == first
    assert sink.requests[-1].headers["if-none-match"] == '"1"'


def test_a_large_calendar_is_watched_as_to_its_latest_events(sink: Sink) -> None:
    """Given more events than are watched, then one that moves up because others go is not new."""
    hours = [f"202609{1 + number // 24 % 28:02}T{number % 24:02}0000Z" for number in range(MAX_NEW_EVENTS + 500)]
    events = [event(f"e{number}", f"DTSTART:{2000 + number // 600}0101T{hours[number][9:]}") for number in range(2500)]
    show(sink, *events)
    checks = additions(sink)
    found = checks.check()
    seen = {item.unique for item in found.items}
    assert len(seen) == MAX_NEW_EVENTS
    assert "Only the latest" in found.note
    show(sink, *events[:-100], event("new", "DTSTART:20261001T090000Z"))
    assert {item.unique for item in checks.check().items} - seen == {"new"}
    assert len(json.dumps(checks.position)) < 2048


@pytest.mark.parametrize("start", ["00010101T000000", "99991231T235959", "00010101T000000Z"])
def test_the_ends_of_time(sink: Sink, start: str) -> None:
    show(sink, event("a", f"DTSTART:{start}", "DURATION:P9999W"), event("b", f"DTSTART;VALUE=DATE:{start[:8]}"))
    for item in additions(sink).check().items:
        assert " at " in item.ingredients["Ends"]
