"""The weather in the words of ingredients."""

from zoneinfo import ZoneInfo

from whenthen.services.schedules.texts import time_text
from whenthen.services.weather.conditions import condition_text
from whenthen.services.weather.fields import Unit
from whenthen.services.weather.readings import Forecast, Reading

_KM_PER_MILE = 1.609344


def in_unit(celsius: float, unit: Unit) -> float:
    """Return a temperature in a unit, to a hundredth of a degree."""
    return round(celsius if unit == "celsius" else celsius * 9 / 5 + 32, 2)


def reading_ingredients(reading: Reading, zone: ZoneInfo) -> dict[str, str]:
    """Return the ingredients of a reading; what is not known is empty text."""
    return {
        "CurrentCondition": condition_text(reading.code),
        "CurrentTempCelsius": _degrees(reading.celsius, "celsius"),
        "CurrentTempFahrenheit": _degrees(reading.celsius, "fahrenheit"),
        "Humidity": _number(reading.humidity),
        "WindSpeedKph": _number(reading.wind_kmh),
        "WindSpeedMph": _number(None if reading.wind_kmh is None else reading.wind_kmh / _KM_PER_MILE),
        "CheckTime": time_text(reading.observed_at, zone),
    }


def forecast_ingredients(forecast: Forecast, unit: Unit, zone: ZoneInfo) -> dict[str, str]:
    """Return the ingredients of a forecast; what is not known is empty text."""
    return {
        "Report": _report(forecast, unit),
        "TodaysCondition": condition_text(forecast.code),
        "HighTempCelsius": _degrees(forecast.high, "celsius"),
        "HighTempFahrenheit": _degrees(forecast.high, "fahrenheit"),
        "LowTempCelsius": _degrees(forecast.low, "celsius"),
        "LowTempFahrenheit": _degrees(forecast.low, "fahrenheit"),
        "ChanceOfRain": _number(forecast.rain_chance),
        "SunriseAt": "" if forecast.sunrise is None else time_text(forecast.sunrise, zone),
        "SunsetAt": "" if forecast.sunset is None else time_text(forecast.sunset, zone),
    }


def _report(forecast: Forecast, unit: Unit) -> str:
    sign = "°C" if unit == "celsius" else "°F"
    condition = condition_text(forecast.code)
    degrees = f"{_degrees(forecast.low, unit)} to {_degrees(forecast.high, unit)} {sign}"
    return f"{condition}, {degrees}" if condition else degrees


def _degrees(celsius: float | None, unit: Unit) -> str:
    return "" if celsius is None else _number(in_unit(celsius, unit))


def _number(value: float | None) -> str:
    # Adding 0 takes the sign off a negative zero.
    return "" if value is None else f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")
