"""When events repeat, compared with the libraries that know it and have no bound."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import takewhile

import pytest
from dateutil.rrule import rrulestr
from hypothesis import given, settings
from hypothesis import strategies as st

from whenthen.services.calendar.recurrence import MAX_DAYS, Budget, TooMuchWork, starts_between
from whenthen.services.calendar.rules import TooOften, read_rule
from whenthen.services.calendar.times import utc

DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


def numbers(least: int, most: int, *, signed: bool = False) -> st.SearchStrategy[str]:
    number = st.integers(least, most)
    either = number | number.map(lambda found: -found) if signed else number
    return st.lists(either, min_size=1, max_size=4).map(lambda found: ",".join(map(str, found)))


def maybe(name: str, values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.none().map(lambda _: "") | values.map(lambda value: f";{name}={value}")


@st.composite
def rules(draw: st.DrawFn) -> str:
    """Rules of every kind, without those for which the library searches to the end of time."""
    frequency = draw(st.sampled_from(["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY"]))
    text = f"FREQ={frequency}" + draw(maybe("INTERVAL", st.sampled_from("1234")))
    text += draw(maybe("COUNT", st.sampled_from(["1", "2", "5", "40", "700"])))
    text += draw(maybe("WKST", st.sampled_from(DAYS)))
    plain = st.lists(st.sampled_from(DAYS), min_size=1, max_size=4).map(",".join)
    by_day = draw(maybe("BYDAY", plain))
    if frequency == "YEARLY":
        text += draw(
            maybe("BYMONTH", numbers(1, 12))
            | maybe("BYYEARDAY", numbers(1, 365, signed=True))
            | maybe("BYWEEKNO", numbers(1, 52, signed=True))
            | maybe("BYMONTHDAY", numbers(1, 28, signed=True))
        )
        if draw(st.booleans()) and "BY" not in text:
            by_day = draw(maybe("BYDAY", st.sampled_from(["20MO", "-1SU", "1FR,-2TU", "52WE"])))
    elif frequency == "MONTHLY":
        text += draw(maybe("BYMONTH", numbers(1, 12)) | maybe("BYMONTHDAY", numbers(1, 28, signed=True)))
        if "BYMONTHDAY" not in text:
            by_day = by_day or draw(maybe("BYDAY", st.sampled_from(["1MO", "-1SU", "2FR,-2TU", "4WE"])))
    text += by_day
    # Positions that no month has would be one of them.
    alone = text.count(";BY") == 1 and not any(map(str.isdigit, by_day))
    if frequency in ("MONTHLY", "YEARLY") and ";BYDAY=" in text and alone:
        text += draw(maybe("BYSETPOS", numbers(1, 2, signed=True)))
    if frequency != "HOURLY":
        text += draw(maybe("BYHOUR", numbers(0, 23)))
    return text + draw(maybe("BYMINUTE", numbers(0, 59)))


@settings(max_examples=300, deadline=None)
@given(
    rules(),
    st.datetimes(datetime(2022, 1, 1), datetime(2026, 12, 31)).map(lambda found: found.replace(microsecond=0)),
    st.datetimes(datetime(2025, 1, 1), datetime(2026, 12, 31)),
    st.integers(0, 60),
)
def test_as_the_library_has_it(text: str, start: datetime, first: datetime, days: int) -> None:
    try:
        rule = read_rule(text, utc)
    except TooOften:
        return
    last = first + timedelta(days=days)
    expected = takewhile(lambda found: found <= last, rrulestr(text, dtstart=start))
    assert list(starts_between(rule, start, first, last, Budget())) == [found for found in expected if found >= first]


@pytest.mark.parametrize(
    "text",
    [
        "FREQ=DAILY;COUNT=30",
        "FREQ=DAILY;INTERVAL=3;COUNT=11;BYHOUR=7,17",
        "FREQ=WEEKLY;BYDAY=MO,WE,FR;COUNT=13",
        "FREQ=WEEKLY;INTERVAL=2;WKST=SU;COUNT=7",
        "FREQ=HOURLY;INTERVAL=5;BYMINUTE=0,30;COUNT=100",
    ],
)
def test_counting_comes_out_the_same_from_wherever_it_is_asked(text: str) -> None:
    start = datetime(2026, 3, 4, 9, 30)
    every = list(rrulestr(text, dtstart=start))
    rule = read_rule(text, utc)
    for days in range(120):
        first = datetime(2026, 3, 1) + timedelta(days=days)
        last = first + timedelta(days=2)
        found = list(starts_between(rule, start, first, last, Budget()))
        assert found == [moment for moment in every if first <= moment <= last]


@pytest.mark.parametrize(
    ("text", "start", "expected"),
    [
        ("FREQ=YEARLY", "2024-02-29", ["2028-02-29"]),
        ("FREQ=MONTHLY", "2025-12-31", ["2026-01-31", "2026-03-31", "2026-05-31", "2026-07-31"]),
        ("FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=4", "2025-12-31", ["2026-01-31", "2026-02-28", "2026-03-31"]),
        ("FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", "2025-06-13", ["2026-02-13", "2026-03-13", "2026-11-13"]),
        ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "2025-12-31", ["2026-01-30", "2026-02-27", "2026-03-31"]),
        ("FREQ=YEARLY;BYDAY=TH;BYMONTH=11;BYSETPOS=4", "2025-11-27", ["2026-11-26", "2027-11-25", "2028-11-23"]),
        ("FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10", "1996-10-27", ["2026-10-25", "2027-10-31", "2028-10-29"]),
        ("FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=TU,SU", "1997-08-05", ["2026-01-11", "2026-01-13", "2026-01-25"]),
        ("FREQ=YEARLY;BYWEEKNO=53;BYDAY=MO", "2020-12-28", ["2026-12-28"]),
    ],
)
def test_rules_that_are_well_known(text: str, start: str, expected: list[str]) -> None:
    found = starts_between(
        read_rule(text, utc),
        datetime.fromisoformat(start),
        datetime(2026, 1, 2),
        datetime(2028, 12, 31),
        Budget(),
    )
    assert [moment.date().isoformat() for moment in found][: len(expected)] == expected


@pytest.mark.parametrize(
    "text",
    [
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=WEEKLY;BYDAY=1MO;BYMONTHDAY=32",
        "FREQ=DAILY;COUNT=999999999",
        "FREQ=HOURLY;COUNT=999999999",
        "FREQ=WEEKLY;BYDAY=MO,TU;COUNT=999999999",
        "FREQ=DAILY;INTERVAL=999999",
    ],
)
def test_rules_that_a_library_never_ends_with(text: str) -> None:
    """From the year 1 on: work is in proportion to the days that are asked for."""
    try:
        rule = read_rule(text, utc)
    except ValueError:
        return
    start, first = datetime(1, 1, 1), datetime(2026, 9, 21)
    assert len(list(starts_between(rule, start, first, first + timedelta(days=2), Budget(1000)))) <= 49


@pytest.mark.parametrize("text", ["FREQ=DAILY;BYDAY=MO;COUNT=99999", "FREQ=YEARLY;BYDAY=MO;BYSETPOS=1;COUNT=99999"])
def test_what_has_to_be_counted_is_paid_for(text: str) -> None:
    start, first = datetime(1, 1, 1), datetime(2026, 9, 21)
    with pytest.raises(TooMuchWork):
        list(starts_between(read_rule(text, utc), start, first, first, Budget(100_000)))
    assert MAX_DAYS <= 10**6


@pytest.mark.parametrize(
    "text",
    [
        "",
        "FREQ",
        "FREQ=FORTNIGHTLY",
        "INTERVAL=2",
        "FREQ=DAILY;INTERVAL=0",
        "FREQ=DAILY;INTERVAL=-1",
        "FREQ=DAILY;INTERVAL=x",
        "FREQ=DAILY;INTERVAL=99999999999",
        "FREQ=DAILY;COUNT=0",
        "FREQ=DAILY;UNTIL=tomorrow",
        "FREQ=YEARLY;BYMONTH=13",
        "FREQ=YEARLY;BYMONTHDAY=0",
        "FREQ=YEARLY;BYDAY=XX",
        "FREQ=DAILY;BYHOUR=24",
        "FREQ=YEARLY;RSCALE=HEBREW",
    ],
)
def test_what_is_no_rule(text: str) -> None:
    with pytest.raises(ValueError, match="not a"):
        read_rule(text, utc)


@pytest.mark.parametrize(
    "text",
    ["FREQ=SECONDLY", "FREQ=MINUTELY;INTERVAL=1440", "FREQ=DAILY;BYMINUTE=1,2,3,4,5;BYSECOND=1,2,3,4,5,6,7,8,9,10"],
)
def test_what_repeats_too_often(text: str) -> None:
    with pytest.raises(TooOften):
        read_rule(text, utc)


@pytest.mark.parametrize("text", ["freq=daily; count=-1", "FREQ=DAILY;", "FREQ=DAILY;X-A=1;WKST=??"])
def test_rules_as_programs_also_write_them(text: str) -> None:
    assert read_rule(text, utc).frequency == "DAILY"


def test_it_is_lazy() -> None:
    """A caller that stops pays for what it has seen."""
    start = datetime(2026, 1, 1)
    found: Iterator[datetime] = starts_between(read_rule("FREQ=DAILY", utc), start, start, datetime.max, Budget(10))
    assert [next(found) for _ in range(3)] == [start + timedelta(days=number) for number in range(3)]
