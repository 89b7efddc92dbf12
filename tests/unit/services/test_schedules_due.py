"""What is due after an interruption."""

from zoneinfo import ZoneInfo

import pytest

from whenthen.services.schedules.due import MAX_AT_ONCE, NEVER, CatchUp, Due, find_due
from whenthen.services.schedules.slots import Slot
from whenthen.services.schedules.texts import late_text, time_text, weekday_text

MINUTE = 60_000
DAY = 24 * 60 * MINUTE
YEAR = 365 * DAY
NOW = 1_790_000_000_000 // DAY * DAY


class Every:
    """A slot each so many minutes; counts how often it is asked."""

    def __init__(self, minutes: int, end: int = NEVER) -> None:
        self.step = minutes * MINUTE
        self.end = end
        self.asked = 0

    def next_slot(self, after: int) -> Slot | None:
        self.asked += 1
        at = (after // self.step + 1) * self.step
        return Slot(at, str(at)) if at < self.end else None


def due(
    schedule: Every, after: int, now: int = NOW, *, catch_up: CatchUp = "last", grace_minutes: int = 60
) -> tuple[list[int], Due]:
    """How many minutes late the slots are, and all of it."""
    found = find_due(schedule, after, now, catch_up=catch_up, grace_minutes=grace_minutes)
    return [(now - slot.at) // MINUTE for slot in found.slots], found


def test_nothing_is_due_between_slots() -> None:
    late, found = due(Every(60), NOW, NOW + 59 * MINUTE)
    assert late == []
    assert found == Due((), NOW, NOW + 60 * MINUTE)


def test_a_slot_is_due_at_its_instant_and_not_after_it_was_considered() -> None:
    late, found = due(Every(60), NOW - 1)
    assert late == [0]
    assert (found.after, found.next_at, found.missed) == (NOW, NOW + 60 * MINUTE, 0)
    assert due(Every(60), NOW)[0] == []


def test_a_clock_that_is_turned_back_fires_nothing() -> None:
    late, found = due(Every(1), NOW + 10 * MINUTE)
    assert late == []
    assert found == Due((), NOW + 10 * MINUTE, NOW + 11 * MINUTE)


@pytest.mark.parametrize("catch_up", ["last", "all", "none"])
@pytest.mark.parametrize("late_ms", [0, 1, 60_000, 90_000])
def test_what_is_on_time_runs_whatever_the_policy(catch_up: CatchUp, late_ms: int) -> None:
    for grace_minutes in (0, 1, 60):
        schedule = Every(1440)
        late, found = due(schedule, NOW - DAY, NOW + late_ms, catch_up=catch_up, grace_minutes=grace_minutes)
        assert len(late) == 1
        assert found.missed == 0


@pytest.mark.parametrize(
    ("catch_up", "grace_minutes", "late_minutes", "runs"),
    [
        ("last", 60, 60, True),
        ("last", 60, 61, False),
        ("all", 60, 60, True),
        ("all", 60, 61, False),
        ("none", 60, 2, False),
        ("last", 0, 2, False),
        ("last", 10080, 1439, True),
    ],
)
def test_the_grace(catch_up: CatchUp, grace_minutes: int, late_minutes: int, runs: bool) -> None:
    now = NOW + late_minutes * MINUTE
    late, found = due(Every(1440), NOW - 1, now, catch_up=catch_up, grace_minutes=grace_minutes)
    assert late == ([late_minutes] if runs else [])
    assert found.missed == (0 if runs else 1)
    assert (found.after, found.next_at) == (now, NOW + DAY)


def test_several_that_are_on_time_all_run() -> None:
    for late_ms in (0, 20_000, 30_000):
        late, found = due(Every(1), NOW - 1 - MINUTE, NOW + late_ms)
        assert late == [1, 0]
        assert found.missed == 0
    # A millisecond more, and the first one is late: the last one alone runs.
    late, found = due(Every(1), NOW - 1 - MINUTE, NOW + 30_001)
    assert (late, found.missed) == ([0], 1)


def test_the_last_of_several_runs_alone_and_the_others_are_told() -> None:
    late, found = due(Every(10), NOW - 45 * MINUTE, NOW + 5 * MINUTE)
    assert late == [5]
    assert (found.missed, found.missed_since) == (4, NOW - 40 * MINUTE)
    assert (
        found.note(ZoneInfo("UTC"))
        == f"4 runs were missed, the first of {time_text(NOW - 40 * MINUTE, ZoneInfo('UTC'))}."
    )


def test_one_that_was_missed_is_told() -> None:
    _, found = due(Every(1440), NOW - 1, NOW + 2 * DAY - 1, grace_minutes=60)
    assert found.missed == 2
    _, found = due(Every(1440), NOW - 1, NOW + DAY - 1, grace_minutes=60)
    assert found.note(ZoneInfo("Europe/Paris")) == "The run of September 21, 2026 at 02:00AM was missed."


def test_with_all_those_beyond_the_grace_are_missed() -> None:
    late, found = due(Every(10), NOW - 200 * MINUTE, NOW + 5 * MINUTE, catch_up="all")
    assert late == [55, 45, 35, 25, 15, 5]
    # Those at 190 to 60 minutes before.
    assert found.missed == 14


def test_more_than_fit_are_given_in_turn_and_none_is_lost() -> None:
    schedule, after, now = Every(1), NOW - 10_000 * MINUTE, NOW
    found: list[int] = []
    looks = 0
    while True:
        part = find_due(schedule, after, now, catch_up="all", grace_minutes=10_080)
        found += [slot.at for slot in part.slots]
        looks += 1
        assert len(part.slots) <= MAX_AT_ONCE
        assert part.missed == 0
        if part.next_at > now:
            break
        assert part.next_at == now
        after = part.after
        # The engine looks again a minute later.
        now += MINUTE
    assert found == list(range(NOW - 9_999 * MINUTE, now + 1, MINUTE))
    assert looks == pytest.approx(10_000 / 49, abs=1)


@pytest.mark.parametrize("catch_up", ["last", "all", "none"])
@pytest.mark.parametrize("grace_minutes", [0, 60, 10_080])
def test_a_year_of_minutes_is_no_effort(catch_up: CatchUp, grace_minutes: int) -> None:
    schedule = Every(1)
    late, found = due(schedule, NOW - YEAR, catch_up=catch_up, grace_minutes=grace_minutes)
    assert schedule.asked < 1_200
    assert found.missed == 1001
    assert found.note(ZoneInfo("UTC")).startswith("More than 1000 runs were missed, the first of September 21, 2025")
    assert late[-1] == (0 if catch_up != "all" or grace_minutes < 50 else grace_minutes - 49)


def test_the_last_is_found_among_gaps() -> None:
    class Clustered(Every):
        """Slots in the first ten minutes of each hour alone."""

        def next_slot(self, after: int) -> Slot | None:
            at = (after // MINUTE + 1) * MINUTE
            if at % (60 * MINUTE) >= 10 * MINUTE:
                at = (at // (60 * MINUTE) + 1) * 60 * MINUTE
            return Slot(at, "")

    for since in range(10, 60):
        late, _ = due(Clustered(1), NOW - 3 * 60 * MINUTE, NOW + since * MINUTE)
        assert late == [since - 9]


def test_the_last_is_found_to_the_millisecond() -> None:
    class Some(Every):
        """Slots at these instants alone."""

        def next_slot(self, after: int) -> Slot | None:
            at = min((at for at in instants if at > after), default=None)
            return None if at is None else Slot(at, "")

    begin = NOW - 1_000_000
    for seed in range(400):
        instants = [begin + (seed * 7919 + n * n * 104_729) % 900_000 for n in range(1 + seed % 7)]
        found = find_due(Some(1), begin - 1, NOW, catch_up="last", grace_minutes=60)
        assert [slot.at for slot in found.slots] == [max(instants)]
        assert found.missed == len(set(instants)) - 1


def test_after_the_last_slot_nothing_is_looked_for() -> None:
    late, found = due(Every(60, end=NOW + 1), NOW - 1)
    assert late == [0]
    assert found.next_at == NEVER
    assert due(Every(60, end=NOW + 1), NOW)[1] == Due((), NOW, NEVER)


@pytest.mark.parametrize(
    ("minutes", "text"),
    [
        (1, "1 minute late"),
        (4, "4 minutes late"),
        (119, "119 minutes late"),
        (120, "2 hours late"),
        (2879, "47 hours late"),
        (2880, "2 days late"),
    ],
)
def test_how_late(minutes: int, text: str) -> None:
    assert late_text(minutes * MINUTE + 59_999) == text


def test_texts_are_those_of_the_zone() -> None:
    at = 1_282_604_460_000
    assert time_text(at, ZoneInfo("UTC")) == "August 23, 2010 at 11:01PM"
    assert time_text(at, ZoneInfo("Asia/Tokyo")) == "August 24, 2010 at 08:01AM"
    assert (weekday_text(at, ZoneInfo("UTC")), weekday_text(at, ZoneInfo("Asia/Tokyo"))) == ("Monday", "Tuesday")
