"""Sunrise and sunset."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from whenthen.clock import from_datetime, to_datetime

_MOST_DAYS = 400
"""How far to look: in a year every place but the poles has a day with a sunrise."""


@dataclass(frozen=True, slots=True)
class SunEvent:
    """A sunrise or sunset: its date in the mean solar time of the place, and its instant, epoch milliseconds."""

    day: date
    at: int


def sun_event(day: date, latitude: float, longitude: float, *, rising: bool) -> SunEvent | None:
    """Return the sunrise or sunset of a date, or None where the sun stays up or down all day.

    Parameters
    ----------
    day:
        The date in the mean solar time of the place. Unlike the date in a time zone, each has one sunrise and one
        sunset, except for the polar day and night.
    latitude, longitude:
        Degrees.
    rising:
        Sunrise, or else sunset.
    """
    from astral import Observer, SunDirection
    from astral.sun import SUN_APPARENT_RADIUS, time_of_transit

    # Astral goes by dates of UTC, and leaves out or repeats what happens near its midnight. At Greenwich that is
    # midnight by the sun too: so the place is put there, and the sun where it is when it is that time at the place.
    ahead = timedelta(hours=longitude / 15)
    moment = datetime.combine(day, time()) - ahead
    try:
        found = time_of_transit(
            Observer(latitude, 0.0),
            moment,
            90.0 + SUN_APPARENT_RADIUS,
            SunDirection.RISING if rising else SunDirection.SETTING,
        )
    except ValueError:
        return None
    since_midnight = found - datetime.combine(moment.date(), time(), UTC)
    at = datetime.combine(day, time(), UTC) + since_midnight - ahead
    return SunEvent(day, from_datetime(at.replace(microsecond=0)))


def next_sun_event(after: int, latitude: float, longitude: float, *, rising: bool) -> SunEvent | None:
    """Return the first sunrise or sunset later than `after`, epoch milliseconds, or None where there is none."""
    day = (to_datetime(after) + timedelta(hours=longitude / 15)).date() - timedelta(days=1)
    for _ in range(_MOST_DAYS):
        found = sun_event(day, latitude, longitude, rising=rising)
        if found and found.at > after:
            return found
        day += timedelta(days=1)
    return None
