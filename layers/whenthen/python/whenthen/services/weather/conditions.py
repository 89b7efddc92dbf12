"""Weather codes of the WMO (table 4677, as far as Open-Meteo uses it) in words and in groups."""

from typing import Literal

type Condition = Literal["clear", "cloudy", "fog", "rain", "snow", "thunderstorm"]

_CODES: dict[int, tuple[Condition, str]] = {
    0: ("clear", "Clear"),
    1: ("clear", "Mostly clear"),
    2: ("cloudy", "Partly cloudy"),
    3: ("cloudy", "Overcast"),
    45: ("fog", "Fog"),
    48: ("fog", "Freezing fog"),
    51: ("rain", "Light drizzle"),
    53: ("rain", "Drizzle"),
    55: ("rain", "Heavy drizzle"),
    56: ("rain", "Light freezing drizzle"),
    57: ("rain", "Freezing drizzle"),
    61: ("rain", "Light rain"),
    63: ("rain", "Rain"),
    65: ("rain", "Heavy rain"),
    66: ("rain", "Light freezing rain"),
    67: ("rain", "Freezing rain"),
    71: ("snow", "Light snow"),
    73: ("snow", "Snow"),
    75: ("snow", "Heavy snow"),
    77: ("snow", "Snow grains"),
    80: ("rain", "Light rain showers"),
    81: ("rain", "Rain showers"),
    82: ("rain", "Violent rain showers"),
    85: ("snow", "Snow showers"),
    86: ("snow", "Heavy snow showers"),
    95: ("thunderstorm", "Thunderstorm"),
    96: ("thunderstorm", "Thunderstorm with hail"),
    99: ("thunderstorm", "Thunderstorm with heavy hail"),
}


def condition_of(code: int | None) -> Condition | None:
    """Return the group of a code, or None for one that is missing or not known."""
    return _CODES[code][0] if code in _CODES else None


def condition_text(code: int | None) -> str:
    """Return words for a code; empty for one that is missing or not known."""
    return _CODES[code][1] if code in _CODES else ""
