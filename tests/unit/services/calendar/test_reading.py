"""Calendars as programs write them, and as they should not: what occurs when."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.services.calendar.calendars import DAY, HOUR, at, calendar, event
from whenthen.clock import isoformat
from whenthen.services.calendar.events import MAX_EVENTS
from whenthen.services.calendar.reading import read
from whenthen.services.isolation.errors import NotRead

FIRST = at("2026-03-23T00:00:00+00:00")


def occurrences(text: str | bytes, days: int = 14, first: int = FIRST) -> dict[str, Any]:
    body = text.encode() if isinstance(text, str) else text
    answer: dict[str, Any] = read(body, "Europe/Paris", "", [first // HOUR, (first + days * DAY) // HOUR - 1])
    return answer


def found(text: str | bytes, days: int = 14, first: int = FIRST) -> list[tuple[str, str]]:
    """Titles and starts of what occurs in so many days, starts in UTC."""
    return [(item["title"], isoformat(item["start"])[:16]) for item in occurrences(text, days, first)["events"]]


def notes(*events: str) -> str:
    return " ".join(occurrences(calendar(*events))["notes"])


def test_wall_time_stays_when_clocks_change() -> None:
    weekly = event("a", "DTSTART;TZID=Europe/Paris:20260105T090000", "RRULE:FREQ=WEEKLY")
    assert found(calendar(weekly)) == [("a", "2026-03-23T08:00"), ("a", "2026-03-30T07:00")]
    in_utc = event("a", "DTSTART:20260105T090000Z", "RRULE:FREQ=WEEKLY")
    assert found(calendar(in_utc)) == [("a", "2026-03-23T09:00"), ("a", "2026-03-30T09:00")]


def test_a_time_that_clocks_skip_and_one_that_they_show_twice() -> None:
    """RFC 5545, 3.3.5: the offset before the gap, and the first of the two."""
    daily = event("a", "DTSTART;TZID=Europe/Paris:20260101T023000", "RRULE:FREQ=DAILY")
    spring = found(calendar(daily), days=3, first=at("2026-03-28T00:00:00+00:00"))
    assert [start for _, start in spring] == ["2026-03-28T01:30", "2026-03-29T01:30", "2026-03-30T00:30"]
    autumn = found(calendar(daily), days=3, first=at("2026-10-24T00:00:00+00:00"))
    assert [start for _, start in autumn] == ["2026-10-24T00:30", "2026-10-25T00:30", "2026-10-26T01:30"]


def test_exceptions_additions_and_changes() -> None:
    text = calendar(
        event(
            "a",
            "DTSTART;TZID=Europe/Paris:20260323T090000",
            "RRULE:FREQ=DAILY;COUNT=7",
            "EXDATE;TZID=Europe/Paris:20260324T090000,20260325T090000",
            "EXDATE:20260326T080000Z",
            "RDATE:20260401T100000Z,20260323T080000Z",
            "RDATE;VALUE=PERIOD:20260402T100000Z/PT3H,20260403T100000Z/20260403T120000Z",
        ),
        event("a", "SUMMARY:moved", "RECURRENCE-ID:20260327T080000Z", "DTSTART:20260327T150000Z"),
        event("a", "RECURRENCE-ID;TZID=Europe/Paris:20260328T090000", "DTSTART:20260328T080000Z", "STATUS:CANCELLED"),
    )
    assert found(text) == [
        ("a", "2026-03-23T08:00"),
        ("a", "2026-03-27T15:00"),
        ("a", "2026-03-29T07:00"),
        ("a", "2026-04-01T10:00"),
        ("a", "2026-04-02T10:00"),
        ("a", "2026-04-03T10:00"),
    ]
    assert [(item["end"] - item["start"]) // HOUR for item in occurrences(text)["events"]] == [0, 0, 0, 0, 3, 2]


def test_a_change_into_and_out_of_the_time_that_is_asked_for() -> None:
    text = calendar(
        event("a", "DTSTART:20260105T090000Z", "RRULE:FREQ=WEEKLY"),
        event("a", "RECURRENCE-ID:20260105T090000Z", "DTSTART:20260325T100000Z"),
        event("a", "RECURRENCE-ID:20260323T090000Z", "DTSTART:20260520T100000Z"),
    )
    assert found(text, days=7) == [("a", "2026-03-25T10:00")]


def test_of_two_versions_the_newer_counts() -> None:
    text = calendar(
        event("a", "DTSTART:20260324T100000Z", "SEQUENCE:2"),
        event("a", "DTSTART:20260323T100000Z", "SEQUENCE:1"),
        event("b", "DTSTART:20260323T090000Z", "RRULE:FREQ=DAILY"),
        event("b", "RECURRENCE-ID:20260325T090000Z", "DTSTART:20260325T110000Z", "SEQUENCE:5"),
        event("b", "RECURRENCE-ID:20260325T090000Z", "DTSTART:20260325T120000Z", "SEQUENCE:4"),
    )
    assert [start for title, start in found(text, days=3) if title == "a"] == ["2026-03-24T10:00"]
    assert ("b", "2026-03-25T11:00") in found(text, days=3)
    assert ("b", "2026-03-25T12:00") not in found(text, days=3)


def test_whole_days() -> None:
    text = calendar(
        event("a", "DTSTART;VALUE=DATE:20260327", "RRULE:FREQ=DAILY;UNTIL=20260330", "EXDATE;VALUE=DATE:20260328"),
        event("a", "SUMMARY:other", "RECURRENCE-ID;VALUE=DATE:20260329", "DTSTART;VALUE=DATE:20260329"),
    )
    assert found(text) == [("a", "2026-03-26T23:00"), ("a", "2026-03-28T23:00"), ("a", "2026-03-29T22:00")]


@pytest.mark.parametrize(
    ("until", "last"),
    [
        ("20260325T080000Z", "2026-03-25T08:00"),
        ("20260325T075959Z", "2026-03-24T08:00"),
        ("20260325T090000", "2026-03-25T08:00"),
        ("19990101T000000Z", ""),
        ("99991231T235959Z", "2026-04-05T07:00"),
    ],
)
def test_the_end_of_a_rule(until: str, last: str) -> None:
    text = calendar(event("a", "DTSTART;TZID=Europe/Paris:20260301T090000", f"RRULE:FREQ=DAILY;UNTIL={until}"))
    starts = [start for _, start in found(text)]
    assert (starts[-1] if starts else "") == last


def test_the_start_is_an_occurrence_also_where_the_rule_has_none() -> None:
    text = calendar(event("a", "DTSTART:20260324T090000Z", "RRULE:FREQ=WEEKLY;BYDAY=FR"))
    assert [start for _, start in found(text)] == ["2026-03-24T09:00", "2026-03-27T09:00", "2026-04-03T09:00"]


OUTLOOK_ZONE = "\r\n".join(
    [
        "BEGIN:VTIMEZONE",
        "TZID:Customized Time Zone",
        "BEGIN:STANDARD",
        "DTSTART:16010101T030000",
        "TZOFFSETFROM:+0300",
        "TZOFFSETTO:+0200",
        "RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=10",
        "END:STANDARD",
        "BEGIN:DAYLIGHT",
        "DTSTART:16010101T020000",
        "TZOFFSETFROM:+0200",
        "TZOFFSETTO:+0300",
        "RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=3",
        "END:DAYLIGHT",
        "END:VTIMEZONE",
    ]
)


@pytest.mark.parametrize(
    ("tzid", "offset"),
    [
        ("America/New_York", -4),
        ('"America/New_York"', -4),
        ("W. Europe Standard Time", 1),
        ("Tokyo Standard Time", 9),
        ("/freeassociation.sourceforge.net/America/New_York", -4),
        ("/mozilla.org/20050126_1/America/Argentina/Buenos_Aires", -3),
        ("UTC", 0),
        ("GMT", 0),
        ("Customized Time Zone", 2),
        ("Nowhere/Land", 1),
        ("../../etc/passwd", 1),
    ],
)
def test_zones(tzid: str, offset: float) -> None:
    text = calendar(OUTLOOK_ZONE, event("a", f"DTSTART;TZID={tzid}:20260327T120000"))
    expected = isoformat(at("2026-03-27T12:00:00+00:00") - round(offset * 3_600_000))[:16]
    assert found(text) == [("a", expected)]


def test_a_zone_of_the_calendars_own_changes_its_clocks() -> None:
    daily = event("a", "DTSTART;TZID=Customized Time Zone:20250101T010000", "RRULE:FREQ=DAILY")
    text = calendar(OUTLOOK_ZONE, daily)
    spring = found(text, days=2, first=at("2026-03-28T12:00:00+00:00"))
    assert [start for _, start in spring] == ["2026-03-28T23:00", "2026-03-29T22:00"]
    autumn = found(text, days=2, first=at("2026-10-24T12:00:00+00:00"))
    assert [start for _, start in autumn] == ["2026-10-24T22:00", "2026-10-25T23:00"]


def test_a_known_zone_is_not_what_a_calendar_defines_it_to_be() -> None:
    text = calendar(
        OUTLOOK_ZONE.replace("Customized Time Zone", "Tokyo Standard Time"),
        event("a", "DTSTART;TZID=Tokyo Standard Time:20260327T120000"),
    )
    assert found(text) == [("a", "2026-03-27T03:00")]


def test_zones_of_one_calendar_are_not_those_of_another() -> None:
    """Given two calendars that call different zones the same, as those of one well-known program do."""
    other = OUTLOOK_ZONE.replace("+0300", "-0500").replace("+0200", "-0600")
    meeting = event("a", "DTSTART;TZID=Customized Time Zone:20260327T120000")
    assert found(calendar(OUTLOOK_ZONE, meeting)) == [("a", "2026-03-27T10:00")]
    assert found(calendar(other, meeting)) == [("a", "2026-03-27T18:00")]


def test_a_zone_whose_rules_have_ended() -> None:
    """Given a country that has kept its summer time, then what was last is for ever."""
    ended = OUTLOOK_ZONE.replace("BYMONTH=10", "BYMONTH=10;UNTIL=20151025T010000Z").replace(
        "BYMONTH=3", "BYMONTH=3;UNTIL=20160327T010000Z"
    )
    for month in ("01", "06"):
        text = calendar(ended, event("a", f"DTSTART;TZID=Customized Time Zone:2026{month}10T120000"))
        first = at(f"2026-{month}-01T00:00:00+00:00")
        assert found(text, days=30, first=first) == [("a", f"2026-{month}-10T09:00")]


@pytest.mark.parametrize(
    "zone",
    [
        "BEGIN:VTIMEZONE\r\nTZID:Customized Time Zone\r\nEND:VTIMEZONE",
        "BEGIN:VTIMEZONE\r\nTZID:Customized Time Zone\r\nBEGIN:STANDARD\r\nEND:STANDARD\r\nEND:VTIMEZONE",
        OUTLOOK_ZONE.replace("DTSTART", "X-NO"),
        OUTLOOK_ZONE.replace("DTSTART:1601", "DTSTART:0000"),
    ],
)
def test_zones_that_make_no_sense(zone: str) -> None:
    meeting = event("a", "DTSTART;TZID=Customized Time Zone:20260327T120000")
    assert found(calendar(zone, meeting)) == [("a", "2026-03-27T11:00")]
    assert "Unknown time zones, such as 'Customized Time Zone': 1." in notes(zone, meeting)


@pytest.mark.parametrize(
    ("zone", "start"), [("America/New_York", "16:00"), ("Nowhere/Land", "11:00"), ("Europe", "11:00"), ("", "11:00")]
)
def test_the_zone_of_a_calendar(zone: str, start: str) -> None:
    """Times without a zone are in the calendar's, if it names one, and else in the field's."""
    text = calendar(f"X-WR-TIMEZONE:{zone}", event("a", "DTSTART:20260327T120000"), event("b", "DTSTART:20260327"))
    assert found(text) == [("b", "2026-03-26T23:00"), ("a", f"2026-03-27T{start}")]


GOOD = event("good", "DTSTART:20260323T100000Z")


@pytest.mark.parametrize(
    ("broken", "note"),
    [
        (event("x"), "can't be read: 1"),
        (event("x", "DTSTART:"), "can't be read: 1"),
        (event("x", "DTSTART:20261332T000000"), "can't be read: 1"),
        (event("x", "DTSTART:20260230"), "can't be read: 1"),
        (event("x", "DTSTART:00000101"), "can't be read: 1"),
        (event("x", "DTSTART:2026-03-32T99:00"), "can't be read: 1"),
        (event("x", "DTSTART:20260101", "RECURRENCE-ID:soon"), "can't be read: 1"),
        (event("x", "DTSTART:20260101", "RRULE:FREQ=NEVER"), "repetition can't be read: 1"),
        (event("x", "DTSTART:20260101", "RRULE:FREQ=SECONDLY"), "too often, of which only the first counts: 1"),
        (event("x", "DTSTART:20260101", "EXDATE:never,", "RDATE:", "DTEND:x", "SEQUENCE:²", "CREATED:x"), ""),
        (event("x", "DTSTART:20260101", "RRULE:FREQ=DAILY;INTERVAL=0"), "repetition can't be read: 1"),
        (event("x", "DTSTART:20260101", "RRULE:COUNT=3"), "repetition can't be read: 1"),
        (event("x", "DTSTART:20260101", "RRULE:FREQ=HOURLY;BYMINUTE=1,2,3"), "too often"),
        (event("x", "DTSTART:20260101", "RRULE:FREQ=DAILY;BYHOUR=77"), "can't be followed: 1"),
        (event("x", "DTSTART:20260101", "RRULE;VALUE=TEXT:FREQ=DAILY"), "can't be read: 1"),
        (event("x", "DTSTART;VALUE=PERIOD:20260101T100000Z/PT1H"), "can't be read: 1"),
        (event("x", "DTSTART;TZID=Europe:20260101T100000"), ""),
        (event("x", f"DTSTART;TZID={'x' * 5000}:20260101T100000"), ""),
        (event("x", "DTSTART:20260101", "BEGIN:VALARM", "TRIGGER:never", "END:VALARM"), ""),
        (event("x", "DTSTART:20260101", "BEGIN:VALARM", "TRIGGER:-PT5M"), "can't be read: 1"),
        (event("x", "DTSTART:00010101T000000Z", "RRULE:FREQ=YEARLY;BYWEEKNO=1"), ""),
        (event("x", "DTSTART:99991231T235959Z", "DURATION:P999999W", "RRULE:FREQ=DAILY"), ""),
        ("BEGIN:VEVENT\r\nDTSTART", "can't be read: 1"),
        ("BEGIN:VEVENT\r\nBEGIN:VALARM\r\nDTSTART:20260101", "can't be read: 1"),
        ("END:VEVENT\r\nEND:VCALENDAR\r\nEND:VALARM", ""),
        ('BEGIN:VEVENT\r\nDTSTART;X="20260101\r\nDTSTART;TZID=":20260101', ""),
        ("\x00\x01: ;;\r\n:::\r\n;\r\n\r\n   ", ""),
    ],
)
def test_one_broken_event_does_not_hide_the_others(broken: str, note: str) -> None:
    for events in ((broken, GOOD), (GOOD, broken)):
        assert ("good", "2026-03-23T10:00") in found(calendar(*events), days=1)
        assert note in notes(*events)


@pytest.mark.parametrize(
    "text",
    [
        calendar(GOOD).replace("\r\n", "\n"),
        calendar(GOOD).replace("\r\n", "\r"),
        "\ufeff" + calendar(GOOD),
        calendar(GOOD).replace("SUMMARY:good", "SUMMARY:go\r\n od"),
        calendar(GOOD).replace("SUMMARY:good", "SUMMARY:go\r\n\tod"),
        calendar(GOOD).replace("SUMMARY:good", 'summary;LANGUAGE=en;X="a:b;c":good'),
        calendar(GOOD).replace("END:VCALENDAR\r\n", ""),
        calendar(GOOD).replace(
            "END:VEVENT", "BEGIN:VALARM\r\nSUMMARY:alarm\r\nDTSTART:20200101\r\nEND:VALARM\r\nEND:VEVENT"
        ),
        "BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n" + calendar(GOOD),
    ],
)
def test_lines_as_programs_write_them(text: str) -> None:
    assert found(text, days=1) == [("good", "2026-03-23T10:00")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252", "latin-1"])
def test_encodings(encoding: str) -> None:
    text = calendar(event("Grüße", "DTSTART:20260323T100000Z"))
    assert found(text.encode(encoding), days=1) == [("Grüße", "2026-03-23T10:00")]


def test_a_line_that_is_folded_within_a_character() -> None:
    body = calendar(event("Grüße", "DTSTART:20260323T100000Z")).encode().replace(b"\xc3\xbc", b"\xc3\r\n \xbc")
    assert found(body, days=1) == [("Grüße", "2026-03-23T10:00")]


def test_a_calendar_that_breaks_off_has_the_events_before() -> None:
    text = calendar(GOOD, event("lost", "DTSTART:20260323T100000Z")).partition("END:VEVENT\r\nEND:VCALENDAR")[0]
    assert found(text, days=1) == [("good", "2026-03-23T10:00")]
    assert "ends before its end" in " ".join(occurrences(text)["notes"])


@pytest.mark.parametrize(
    "end",
    ["DTEND:20260323T090000Z", "DTEND:20260322", "DTEND:x", "DURATION:-PT1H", "DURATION:P99999999999W", "DTEND:PT1H"],
)
def test_an_end_that_is_none(end: str) -> None:
    """Then the event is over when it starts."""
    (item,) = occurrences(calendar(event("a", "DTSTART:20260323T100000Z", end)))["events"]
    assert item["start"] == item["end"] == at("2026-03-23T10:00:00+00:00")


def test_one_uid_for_many_events() -> None:
    text = calendar(event("x", "DTSTART:20260323T100000Z"), event("x", "DTSTART:20260324T100000Z"))
    assert found(text) == [("x", "2026-03-23T10:00"), ("x", "2026-03-24T10:00")]


def test_ten_thousand_events() -> None:
    text = calendar(*(event(f"e{number}", "DTSTART:20260323T100000Z") for number in range(MAX_EVENTS)))
    assert len(found(text)) == MAX_EVENTS


def test_texts() -> None:
    text = calendar(event("a", "DTSTART:20260323", "DESCRIPTION:a\\nb\\Nc\\,d\\;e\\\\nf\\x", "LOCATION:" + "x" * 600))
    (item,) = read(text.encode(), "UTC", "")["events"]
    assert item["description"] == "a\nb\nc,d;e\\nf\\x"
    assert (len(item["where"]), item["where"][-1]) == (500, "…")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "not a calendar"),
        (b"<html>", "web page"),
        (b"\x00\xff", "not a calendar"),
        (b"BEGIN:VCARD\r\nEND:VCARD", "not a calendar"),
        (b"BEGIN:VCALENDAR\n" + b"BEGIN:VEVENT\n" * (MAX_EVENTS + 1), "more than"),
    ],
)
def test_what_is_no_calendar(body: bytes, said: str) -> None:
    with pytest.raises(NotRead, match=said):
        read(body, "UTC", "")


@settings(deadline=None)
@given(
    st.text(
        st.sampled_from('BEGIN:VCALENDAR\nBEGIN:VEVENT\r\nDTSTART;TZID="20260323T1Z,RRULE:FREQ=DAILY;CO'), max_size=300
    )
)
def test_any_text_is_read_or_refused(text: str) -> None:
    body = f"BEGIN:VCALENDAR\n{GOOD}\nBEGIN:VEVENT\nDTSTART:20260101\n{text}"
    assert ("good", "2026-03-23T10:00") in found(body, days=1)
