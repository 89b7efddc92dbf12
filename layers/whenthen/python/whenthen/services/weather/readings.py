"""What the weather is like at a place, and what it will be on a day."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from whenthen.services.checking import Check, CheckFailed
from whenthen.services.weather.open_meteo import ask
from whenthen.services.weather.values import first_of, number, section, whole_number

_CURRENT = ("temperature_2m", "relative_humidity_2m", "weather_code", "wind_speed_10m")
_DAILY = (
    "weather_code",
    "temperature_2m_max",
    "temperature_2m_min",
    "precipitation_probability_max",
    "sunrise",
    "sunset",
)

_AHEAD_MS = 60 * 60_000
"""How far ahead of our clock an observation may be."""

_DAY_MS = 24 * 60 * 60_000
_LAST_SECOND = 253_370_764_799
_MAX_CODE = 99
_COLDEST, _HOTTEST = -120, 120
_FASTEST_KMH = 600


@dataclass(frozen=True, slots=True)
class Reading:
    """The present weather. What the service does not know is None.

    Parameters
    ----------
    observed_at:
        Epoch milliseconds.
    celsius:
        Temperature.
    code:
        See `conditions`.
    humidity:
        Percent.
    wind_kmh:
        Wind speed.
    """

    observed_at: int
    celsius: float | None
    code: int | None
    humidity: float | None
    wind_kmh: float | None


@dataclass(frozen=True, slots=True)
class Forecast:
    """A day's weather.

    Parameters
    ----------
    code:
        See `conditions`; None when the service does not know.
    high, low:
        Degrees Celsius.
    rain_chance:
        Percent, or None.
    sunrise, sunset:
        Epoch milliseconds, or None where the sun stays up or down.
    """

    code: int | None
    high: float
    low: float
    rain_chance: float | None
    sunrise: int | None
    sunset: int | None


def read_current(check: Check[Any], latitude: float, longitude: float) -> Reading:
    """Return the present weather of a place.

    Raises
    ------
    CheckFailed
        It can't be read.
    """
    current = section(ask(check, latitude, longitude, current=",".join(_CURRENT)), "current")
    time = whole_number(current.get("time"), "time", 0, _LAST_SECOND)
    if time is None:
        raise CheckFailed("The weather service's answer has no time.")
    if time * 1000 > check.now + _AHEAD_MS:
        raise CheckFailed("The weather service's observation is of a time that has not come yet.")
    return Reading(
        observed_at=time * 1000,
        celsius=_celsius(current.get("temperature_2m")),
        code=whole_number(current.get("weather_code"), "weather code", 0, _MAX_CODE),
        humidity=number(current.get("relative_humidity_2m"), "humidity", 0, 100),
        wind_kmh=number(current.get("wind_speed_10m"), "wind speed", 0, _FASTEST_KMH),
    )


def read_forecast(check: Check[Any], latitude: float, longitude: float, day: date, zone: str, near: int) -> Forecast:
    """Return the weather of a date.

    Parameters
    ----------
    day, zone:
        The date, and the zone it is in.
    near:
        An instant of that date, epoch milliseconds.

    Raises
    ------
    CheckFailed
        It can't be read.
    """
    date_text = day.isoformat()
    answer = ask(
        check,
        latitude,
        longitude,
        daily=",".join(_DAILY),
        timezone=zone,
        start_date=date_text,
        end_date=date_text,
    )
    found = section(answer, "daily")
    daily = {name: first_of(found.get(name), name) for name in ("time", *_DAILY)}
    time = whole_number(daily["time"], "time", 0, _LAST_SECOND)
    # By the offset of today, so near a change of the clock it is an hour off.
    if time is None or abs(time * 1000 - near) > _DAY_MS + _AHEAD_MS:
        raise CheckFailed("The weather service's forecast is not for the day that was asked for.")
    high, low = _celsius(daily["temperature_2m_max"]), _celsius(daily["temperature_2m_min"])
    if high is None or low is None:
        raise CheckFailed("The weather service has no temperatures for this place and day.")
    sunrise, sunset = _sun(daily)
    return Forecast(
        code=whole_number(daily["weather_code"], "weather code", 0, _MAX_CODE),
        high=high,
        low=low,
        rain_chance=number(daily["precipitation_probability_max"], "chance of rain", 0, 100),
        sunrise=sunrise,
        sunset=sunset,
    )


def _celsius(value: Any) -> float | None:
    return number(value, "temperature", _COLDEST, _HOTTEST)


def _sun(daily: Mapping[str, Any]) -> tuple[int | None, int | None]:
    rise = whole_number(daily["sunrise"], "sunrise", 0, _LAST_SECOND)
    down = whole_number(daily["sunset"], "sunset", 0, _LAST_SECOND)
    # The polar night is told as a day of no length, the polar day as one of 24 hours.
    if rise is None or down is None or not 0 < (down - rise) * 1000 < _DAY_MS:
        return None, None
    return rise * 1000, down * 1000
