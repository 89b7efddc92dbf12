"""Events that start: on time, once, and also while the calendar can't be read."""

import json

import pytest

from tests.support.checking import Checks
from tests.support.sink import Reply, Sink
from tests.unit.services.calendar.calendars import HOUR, MINUTE, at, calendar, event, show, starts, titles
from whenthen.services.calendar.upcoming import MAX_REMEMBERED_BYTES
from whenthen.services.checking import CheckFailed, Item

MORNING = at("2026-09-21T08:00:00+00:00")
MEETING = event(
    "meeting",
    "DTSTART;TZID=Europe/Paris:20260921T110000",
    "DTEND;TZID=Europe/Paris:20260921T123000",
    "DESCRIPTION:Bring the numbers\\, and\\nwater",
    "LOCATION:Room 4\\; west",
    "URL:https://example.org/m/1",
)
"""From 9:00 to 10:30 UTC."""


def fired(checks: Checks, now: int, seen: set[str]) -> tuple[Item, ...]:
    """What the engine would let fire."""
    items = tuple(item for item in checks.check(now).items if item.unique not in seen)
    seen |= {item.unique for item in items}
    return items


def test_an_event_fires_when_it_is_due(sink: Sink) -> None:
    show(sink, MEETING)
    checks = starts(sink, lead=15)
    found = checks.check(MORNING)
    assert found.items == ()
    assert found.next_check_at == MORNING + 5 * MINUTE
    found = checks.check(MORNING + 43 * MINUTE)
    assert found.items == ()
    assert found.next_check_at == MORNING + 45 * MINUTE
    (item,) = checks.check(MORNING + 45 * MINUTE).items
    assert item.ingredients == {
        "Title": "meeting",
        "Description": "Bring the numbers, and\nwater",
        "Where": "Room 4; west",
        "Starts": "September 21, 2026 at 11:00AM",
        "Ends": "September 21, 2026 at 12:30PM",
        "EventUrl": "https://example.org/m/1",
    }
    assert (item.occurred_at, item.note) == (MORNING + 45 * MINUTE, "")
    found = checks.check(MORNING + 50 * MINUTE)
    assert (found.items, found.next_check_at) == ((), None)


def test_what_is_due_at_the_first_check_is_recorded(sink: Sink) -> None:
    """R3: the engine remembers what the first check shows, so nothing of it fires, later either."""
    show(sink, MEETING)
    checks = starts(sink, lead=15)
    seen = {item.unique for item in checks.check(MORNING + 50 * MINUTE).items}
    assert len(seen) == 1
    show(sink, MEETING, event("other", "DTSTART:20261001T090000Z"))
    assert fired(checks, MORNING + 55 * MINUTE, seen) == ()


def test_titles_may_change_and_times_too(sink: Sink) -> None:
    """An edited title does not fire again; an event that has moved fires at its new time."""
    show(sink, event("a", "DTSTART:20260921T090000Z"))
    checks, seen = starts(sink), set[str]()
    checks.check(MORNING)
    assert len(fired(checks, MORNING + HOUR, seen)) == 1
    show(sink, event("a", "DTSTART:20260921T090000Z", "SUMMARY:edited", "SEQUENCE:1"))
    assert fired(checks, MORNING + HOUR + MINUTE, seen) == ()
    show(sink, event("a", "DTSTART:20260921T093000Z", "SEQUENCE:2"))
    assert fired(checks, MORNING + HOUR + 2 * MINUTE, seen) == ()
    assert len(fired(checks, MORNING + 90 * MINUTE, seen)) == 1


def test_an_event_that_is_called_off_does_not_fire(sink: Sink) -> None:
    for gone in ((), (event("a", "DTSTART:20260921T090000Z", "STATUS:CANCELLED"),)):
        show(sink, event("a", "DTSTART:20260921T090000Z"))
        checks = starts(sink)
        checks.check(MORNING)
        show(sink, *gone)
        assert checks.check(MORNING + HOUR).items == ()


def test_events_come_on_time_while_the_source_is_down(sink: Sink) -> None:
    show(sink, MEETING, event("evening", "DTSTART:20260921T190000Z"))
    checks = starts(sink, lead=15)
    checks.check(MORNING)
    for bad in (Reply(status=500), Reply(close=True), Reply(body=b"<html>log in"), Reply(body=b"")):
        sink.reply("/a.ics", [bad])
        found = checks.check(MORNING + 40 * MINUTE)
        assert found.items == ()
        assert found.next_check_at == MORNING + 45 * MINUTE
        assert "as they were known before" in found.note
    assert titles(checks.check(MORNING + 45 * MINUTE)) == ["meeting"]
    assert titles(checks.check(at("2026-09-21T18:45:00+00:00"))) == ["evening"]
    with pytest.raises(CheckFailed):
        checks.check(at("2026-09-21T18:50:00+00:00"))
    show(sink, MEETING)
    assert checks.check(at("2026-09-21T19:00:00+00:00")).note == ""


def test_a_source_that_wants_to_be_left_alone_is_while_events_go_on(sink: Sink) -> None:
    show(sink, MEETING)
    checks = starts(sink)
    checks.check(MORNING)
    sink.reply("/a.ics", [Reply(status=429, headers=(("Retry-After", "7200"),))])
    checks.check(MORNING + 5 * MINUTE)
    asked = len(sink.requests)
    checks.check(MORNING + 10 * MINUTE)
    assert titles(checks.check(MORNING + HOUR)) == ["meeting"]
    assert len(sink.requests) == asked
    show(sink, MEETING)
    assert checks.check(MORNING + 5 * MINUTE + 2 * HOUR).note == ""
    assert len(sink.requests) == asked + 1


def test_events_come_on_time_while_nothing_changes(sink: Sink) -> None:
    """Given answers without a document for days, then the whole calendar is asked for before the known hours end."""
    etag = (("ETag", '"1"'),)
    body = calendar(event("daily", "DTSTART:20260901T090000Z", "RRULE:FREQ=DAILY")).encode()
    checks, seen, whole = starts(sink, lead=30), set[str](), 0
    sink.reply("/a.ics", [Reply(body=body, headers=etag)])
    checks.check(MORNING)
    for hours in range(6, 6 * 24, 6):
        now = MORNING + hours * HOUR
        # Without a change a server answers 304 to a request with the validator, and the document to one without.
        assert checks.position is not None
        known = checks.position["until"] - now >= 12 * HOUR
        whole += not known
        sink.reply("/a.ics", [Reply(status=304) if known else Reply(body=body, headers=etag)])
        assert fired(checks, now, seen) == ()
        assert ("if-none-match" in sink.requests[-1].headers) is known
        if hours % 24 == 0:
            sink.reply("/a.ics", [Reply(status=304)])
            assert len(fired(checks, now + 30 * MINUTE, seen)) == 1
    assert 5 <= whole <= 12


def test_nothing_is_written_while_nothing_changes(sink: Sink) -> None:
    show(sink, MEETING)
    checks = starts(sink)
    checks.check(MORNING)
    first = checks.position
    checks.check(MORNING + 5 * MINUTE)
    assert checks.position == first
    sink.reply("/a.ics", [Reply(status=500)])
    checks.check(MORNING + 10 * MINUTE)
    assert checks.position == first


def test_late_events_come_with_a_note_and_not_later_than_an_hour(sink: Sink) -> None:
    """Given an outage of the engine, then what was due in the last hour fires, and the rest is told."""
    show(
        sink,
        event("early", "DTSTART:20260921T090000Z"),
        event("late", "DTSTART:20260921T093000Z"),
        event("now", "DTSTART:20260921T101500Z"),
    )
    checks = starts(sink)
    checks.check(MORNING)
    found = checks.check(at("2026-09-21T10:16:00+00:00"))
    assert [(item.ingredients["Title"], item.note) for item in found.items] == [
        ("late", "Comes 46 minutes late."),
        ("now", ""),
    ]
    assert "missed" in found.note
    assert found.note.endswith(": 1.")
    assert checks.check(at("2026-09-21T10:17:00+00:00")).note == ""


def test_an_event_that_is_added_at_the_last_minute_fires_at_once(sink: Sink) -> None:
    show(sink, MEETING)
    checks = starts(sink, lead=30)
    checks.check(MORNING)
    show(sink, MEETING, event("sudden", "DTSTART:20260921T081500Z"))
    (item,) = checks.check(MORNING + 5 * MINUTE).items
    assert (item.ingredients["Title"], item.note) == ("sudden", "Comes 20 minutes late.")


def test_found_again_from_the_same_position_it_is_the_same_event(sink: Sink) -> None:
    show(sink, MEETING)
    checks = starts(sink)
    checks.check(MORNING)
    position = json.loads(json.dumps(checks.position))
    (item,) = checks.check(MORNING + HOUR).items
    checks.position = position
    (again,) = checks.check(MORNING + HOUR + MINUTE).items
    assert again.unique == item.unique


def test_more_than_fifty_at_once(sink: Sink) -> None:
    """The engine keeps the old position until all have fired; then the same ones have to be found."""
    show(sink, *(event(f"e{number}", "DTSTART:20260921T090000Z") for number in range(130)))
    checks = starts(sink)
    checks.check(MORNING)
    position, seen, rounds = checks.position, set[str](), 0
    while True:
        checks.position = position
        new = [item.unique for item in checks.check(MORNING + HOUR).items if item.unique not in seen]
        if not new:
            break
        seen |= set(new[:50])
        rounds += 1
    assert (len(seen), rounds) == (130, 3)


def test_a_full_calendar_is_remembered_as_far_as_there_is_room(sink: Sink) -> None:
    lines = ("DESCRIPTION:" + "ä" * 1900,)
    show(sink, *(event(f"e{n:03}", f"DTSTART:20260921T{9 + n // 60:02}{n % 60:02}00Z", *lines) for n in range(240)))
    checks, seen = starts(sink), set[str]()
    for minute in range(0, 5 * 60 + 10, 10):
        fired(checks, MORNING + minute * MINUTE, seen)
        assert len(json.dumps(checks.position)) < MAX_REMEMBERED_BYTES + 2048
    assert len(seen) == 240


def test_words_that_are_searched_for(sink: Sink) -> None:
    show(
        sink,
        event("Team lunch", "DTSTART:20260921T090000Z", "LOCATION:Café"),
        event("Lunch", "DTSTART:20260921T090000Z", "DESCRIPTION:with the TEAM"),
        event("Team", "DTSTART:20260921T090000Z"),
    )
    for words, found in (("team lunch", 2), ("CAFÉ", 1), ("", 3), ("dinner", 0)):
        checks = starts(sink, search=words)
        checks.check(MORNING)
        assert len(checks.check(MORNING + HOUR).items) == found


def test_a_week_ahead(sink: Sink) -> None:
    show(sink, event("a", "DTSTART:20260928T090000Z"), event("b", "DTSTART:20260921T090000Z"))
    checks = starts(sink, lead=7 * 24 * 60)
    checks.check(MORNING)
    assert titles(checks.check(MORNING + HOUR)) == ["a"]


def test_whole_days_begin_at_midnight_of_the_zone(sink: Sink) -> None:
    show(sink, event("day", "DTSTART;VALUE=DATE:20260922"))
    for zone, midnight in (("Europe/Paris", "2026-09-22T00:00:00+02:00"), ("Asia/Tokyo", "2026-09-22T00:00:00+09:00")):
        checks = starts(sink, zone=zone)
        checks.check(MORNING)
        assert checks.check(at(midnight) - 1).items == ()
        (item,) = checks.check(at(midnight)).items
        assert item.ingredients["Starts"] == "September 22, 2026 at 12:00AM"
        assert item.ingredients["Ends"] == "September 23, 2026 at 12:00AM"


def test_a_day_of_25_hours_ends_at_midnight(sink: Sink) -> None:
    show(sink, event("day", "DTSTART;VALUE=DATE:20261025"))
    checks = starts(sink)
    checks.check(at("2026-10-24T12:00:00+00:00"))
    (item,) = checks.check(at("2026-10-24T22:00:00+00:00")).items
    assert item.ingredients["Ends"] == "October 26, 2026 at 12:00AM"


def test_a_first_check_of_what_is_no_calendar(sink: Sink) -> None:
    for body, said in ((b"<!doctype html>", "web page"), (b"", "not a calendar"), (b"BEGIN:VCARD", "not a calendar")):
        sink.reply("/a.ics", [Reply(body=body)])
        with pytest.raises(CheckFailed, match=said) as raised:
            starts(sink).check(MORNING)
        assert raised.value.field == "url"


def test_webcal_addresses(sink: Sink) -> None:
    assert starts(sink, url="webcal://example.org/a.ics").fields.url == "https://example.org/a.ics"  # type: ignore[attr-defined]
