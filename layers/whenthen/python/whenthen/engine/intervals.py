"""When a trigger is checked next: pure functions."""

LONGEST_WAIT_MINUTES = 60
"""The ceiling of the wait after failures, unless the trigger's own interval is longer."""

LONGEST_WISH_MS = 24 * 60 * 60_000
"""How long a publisher may keep us away."""

_MINUTE_MS = 60_000

_LATEST_MS = 253_370_764_800_000
"""The year 9999."""


def after_success(now: int, interval_minutes: int, *, wanted: int | None, not_before: int | None) -> int:
    """Return the next check's instant, epoch milliseconds.

    Parameters
    ----------
    now:
        The instant of this check.
    interval_minutes:
        The trigger's interval.
    wanted:
        When the service wants the next check, or None for the interval.
    not_before:
        The publisher's wish, or None; one of more than a day counts as a day.
    """
    at = _whole_minute(now) + interval_minutes * _MINUTE_MS if wanted is None else wanted
    return min(max(at, min(not_before or 0, now + LONGEST_WISH_MS)), _LATEST_MS)


def after_failure(now: int, interval_minutes: int, failures: int, *, retry_at: int | None) -> int:
    """Return the next check's instant after `failures` in a row: doubled waits up to a ceiling, for ever (B03).

    `retry_at` is what the source asked for, or None; the other parameters are those of `after_success`.
    """
    ceiling = max(interval_minutes, LONGEST_WAIT_MINUTES)
    minutes = min(interval_minutes << min(failures - 1, 16), ceiling)
    at = _whole_minute(now) + minutes * _MINUTE_MS
    return min(max(at, min(retry_at or 0, now + LONGEST_WISH_MS)), _LATEST_MS)


def _whole_minute(ms: int) -> int:
    # A tick is never exactly a minute after the last: without this a check could slip to the tick after its own.
    return ms - ms % _MINUTE_MS
