"""When a trigger is checked next."""

from hypothesis import given
from hypothesis import strategies as st

from whenthen.engine.intervals import LONGEST_WAIT_MINUTES, LONGEST_WISH_MS, after_failure, after_success

MINUTE = 60_000
NOW = 1_790_000_007_123
START = NOW - NOW % MINUTE

instants = st.integers(0, 4_000_000_000_000)
intervals = st.integers(1, 1440)


def test_the_interval_counts_from_the_whole_minute() -> None:
    assert after_success(NOW, 5, wanted=None, not_before=None) == START + 5 * MINUTE


def test_what_the_service_wants_comes_before_the_interval() -> None:
    assert after_success(NOW, 5, wanted=NOW + 1, not_before=None) == NOW + 1


def test_b07_a_publishers_wish_is_kept_for_a_day_at_most() -> None:
    assert after_success(NOW, 5, wanted=None, not_before=NOW + 30 * MINUTE) == NOW + 30 * MINUTE
    assert after_success(NOW, 5, wanted=NOW, not_before=NOW + 30 * MINUTE) == NOW + 30 * MINUTE
    assert after_success(NOW, 60, wanted=None, not_before=NOW + 30 * MINUTE) == START + 60 * MINUTE
    assert after_success(NOW, 5, wanted=None, not_before=NOW * 2) == NOW + LONGEST_WISH_MS


@given(instants, intervals, st.integers(1, 10_000), st.none() | instants)
def test_b03_after_any_number_of_failures_there_is_another_check(
    now: int, interval: int, failures: int, retry_at: int | None
) -> None:
    at = after_failure(now, interval, failures, retry_at=retry_at)
    assert now < at <= max(now + LONGEST_WISH_MS, now + 1440 * MINUTE)
    without = after_failure(now, interval, failures, retry_at=None)
    assert without <= after_failure(now, interval, failures + 1, retry_at=None)
    assert without <= now + max(interval, LONGEST_WAIT_MINUTES) * MINUTE
    assert at >= without


def test_waits_double() -> None:
    waits = [after_failure(START, 3, failures, retry_at=None) - START for failures in range(1, 8)]
    assert [wait // MINUTE for wait in waits] == [3, 6, 12, 24, 48, 60, 60]
