"""Cron expressions: five fields of the crontab file."""

from datetime import datetime
from zoneinfo import ZoneInfo

from whenthen.services.schedules.slots import Slot, next_elapsed_slot, next_wall_slot

_NAMES = ("minute", "hour", "day-of-month", "month", "day-of-week")
_HOURS = 24

_REFERENCE = datetime(2000, 1, 1)
"""Where the search for a first run begins when an expression is read. It goes on for 50 years."""


def check_cron(expression: str) -> str:
    """Return a cron expression with single spaces.

    Raises
    ------
    ValueError
        It is none, or names a date that never comes.
    """
    from cronsim import CronSim, CronSimError

    fields = expression.split()
    if len(fields) != len(_NAMES):
        raise ValueError(f"must have five fields ({', '.join(_NAMES)}), not {len(fields)}; seconds can't be given")
    for index, (name, field) in enumerate(zip(_NAMES, fields, strict=True)):
        alone = ["*"] * len(_NAMES)
        alone[index] = field
        try:
            CronSim(" ".join(alone), _REFERENCE)
        except CronSimError as error:
            raise ValueError(f"has a {name} that can't be read: {field[:40]!r}") from error
    found = " ".join(fields)
    try:
        if next(CronSim(found, _REFERENCE), None) is not None:
            return found
    except CronSimError:
        pass
    raise ValueError("names a date that never comes")


def next_cron_slot(expression: str, zone: ZoneInfo, after: int) -> Slot | None:
    """Return the first slot of an expression that `check_cron` has taken, later than `after`, epoch milliseconds.

    One that names all hours (``*/15 * * * *``) runs by elapsed time, every other by the wall clock. Debian's cron,
    which cronsim follows, goes by a star at the beginning of the minutes or the hours instead: then ``*/15 2 * * *``
    and ``0 */2 * * *`` would miss runs on the day when the clock goes forward, and the first of them would run twice
    when it goes back. So cronsim is asked for wall times alone.
    """
    from cronsim import CronSim

    def next_wall(wall: datetime) -> datetime | None:
        return next(CronSim(expression, wall), None)

    every_hour = len(CronSim(expression, _REFERENCE).hours) == _HOURS
    return (next_elapsed_slot if every_hour else next_wall_slot)(next_wall, zone, after)
