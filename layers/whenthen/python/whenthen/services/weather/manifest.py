"""What the weather service offers."""

from whenthen.services.contract import Ingredient, Service, Trigger
from whenthen.services.schedules.items import SLOT_INGREDIENTS
from whenthen.services.weather.checks import (
    check_condition_changes_to,
    check_temperature_drops_below,
    check_temperature_rises_above,
    check_todays_report,
)
from whenthen.services.weather.fields import ConditionChangesToFields, ThresholdFields, TodaysReportAtFields

_FORECAST_URL = Ingredient(
    "ForecastUrl", "Where the forecast is", "https://open-meteo.com/en/docs?latitude=48.85&longitude=2.35"
)

_CURRENT = (
    Ingredient("CurrentCondition", "Condition", "Light rain"),
    Ingredient("CurrentTempCelsius", "Temperature in degrees Celsius", "21.5"),
    Ingredient("CurrentTempFahrenheit", "Temperature in degrees Fahrenheit", "70.7"),
    Ingredient("Humidity", "Relative humidity in percent", "64"),
    Ingredient("WindSpeedKph", "Wind speed in kilometres per hour", "12.4"),
    Ingredient("WindSpeedMph", "Wind speed in miles per hour", "7.7"),
    Ingredient("CheckTime", "When it was observed", "August 23, 2010 at 11:00PM"),
    _FORECAST_URL,
)

SERVICE = Service(
    slug="weather",
    name="Weather",
    triggers=(
        Trigger(
            slug="todays_report_at",
            name="Today's weather report",
            description="Fires every day at a time of day, with the weather that is expected on that day.",
            fields=TodaysReportAtFields,
            ingredients=(
                Ingredient("Report", "The report in short", "Light rain, 14.2 to 21.5 °C"),
                Ingredient("TodaysCondition", "Condition", "Light rain"),
                Ingredient("HighTempCelsius", "Highest temperature in degrees Celsius", "21.5"),
                Ingredient("HighTempFahrenheit", "Highest temperature in degrees Fahrenheit", "70.7"),
                Ingredient("LowTempCelsius", "Lowest temperature in degrees Celsius", "14.2"),
                Ingredient("LowTempFahrenheit", "Lowest temperature in degrees Fahrenheit", "57.6"),
                Ingredient("ChanceOfRain", "Chance of rain in percent", "80"),
                Ingredient("SunriseAt", "When the sun rises", "August 23, 2010 at 06:04AM"),
                Ingredient("SunsetAt", "When the sun sets", "August 23, 2010 at 08:07PM"),
                *SLOT_INGREDIENTS,
                _FORECAST_URL,
            ),
            check=check_todays_report,
        ),
        Trigger(
            slug="condition_changes_to",
            name="Current condition changes to",
            description="Fires when the weather at a place changes to a condition from any other one.",
            fields=ConditionChangesToFields,
            ingredients=_CURRENT,
            check=check_condition_changes_to,
        ),
        Trigger(
            slug="temperature_rises_above",
            name="Current temperature rises above",
            description="Fires when the temperature at a place goes above a limit; "
            "again after it has been back at the limit or below.",
            fields=ThresholdFields,
            ingredients=_CURRENT,
            check=check_temperature_rises_above,
        ),
        Trigger(
            slug="temperature_drops_below",
            name="Current temperature drops below",
            description="Fires when the temperature at a place goes below a limit; "
            "again after it has been back at the limit or above.",
            fields=ThresholdFields,
            ingredients=_CURRENT,
            check=check_temperature_drops_below,
        ),
    ),
)
