"""When the weather changes, and when its report is due."""

from typing import Any

from whenthen.services.checking import Check, Found, Item
from whenthen.services.schedules.due import NEVER, find_due
from whenthen.services.schedules.items import considered, position_after, slot_item
from whenthen.services.schedules.slots import wall_time
from whenthen.services.weather.conditions import condition_of
from whenthen.services.weather.fields import (
    ConditionChangesToFields,
    PlaceFields,
    ThresholdFields,
    TodaysReportAtFields,
)
from whenthen.services.weather.open_meteo import forecast_url
from whenthen.services.weather.readings import Reading, read_current, read_forecast
from whenthen.services.weather.texts import forecast_ingredients, in_unit, reading_ingredients
from whenthen.services.zones import zone_info


def check_todays_report(check: Check[TodaysReportAtFields]) -> Found:
    """Return today's report when it is due. The first check finds none, and asks nobody.

    Of several that are due the last is given: an old report is of no use.

    Raises
    ------
    CheckFailed
        It is due and can't be read; it stays due within its grace.
    """
    fields = check.fields
    if check.position is None:
        first = fields.next_slot(check.now)
        return Found((), position_after(check.now), next_check_at=first.at if first else NEVER)
    zone = zone_info(fields.zone)
    due = find_due(fields, considered(check.position), check.now, catch_up="last", grace_minutes=fields.grace_minutes)
    items = []
    for slot in due.slots:
        day = wall_time(slot.at, zone).date()
        forecast = read_forecast(check, fields.latitude, fields.longitude, day, fields.zone, slot.at)
        more = forecast_ingredients(forecast, fields.unit, zone) | _link(fields)
        items.append(slot_item(slot, fields.zone, check.now, more))
    return Found(
        tuple(items),
        position_after(due.after),
        next_check_at=due.next_at,
        note=due.note(zone),
    )


def check_condition_changes_to(check: Check[ConditionChangesToFields]) -> Found:
    """Return the change to a condition from any other one.

    Raises
    ------
    CheckFailed
        The weather can't be read.
    """
    reading = _read(check)
    condition = condition_of(reading.code)
    return _change(check, reading, None if condition is None else condition == check.fields.condition, "condition")


def check_temperature_rises_above(check: Check[ThresholdFields]) -> Found:
    """Return the crossing from the threshold or below it to above it.

    Raises
    ------
    CheckFailed
        The weather can't be read.
    """
    reading = _read(check)
    degrees = _degrees(check, reading)
    return _change(check, reading, None if degrees is None else degrees > check.fields.threshold, "temperature")


def check_temperature_drops_below(check: Check[ThresholdFields]) -> Found:
    """Return the crossing from the threshold or above it to below it.

    Raises
    ------
    CheckFailed
        The weather can't be read.
    """
    reading = _read(check)
    degrees = _degrees(check, reading)
    return _change(check, reading, None if degrees is None else degrees < check.fields.threshold, "temperature")


def _read(check: Check[Any]) -> Reading:
    return read_current(check, check.fields.latitude, check.fields.longitude)


def _degrees(check: Check[ThresholdFields], reading: Reading) -> float | None:
    return None if reading.celsius is None else in_unit(reading.celsius, check.fields.unit)


def _change(check: Check[Any], reading: Reading, beyond: bool | None, what: str) -> Found:
    """Return the event that an observation is beyond the limit and the last ones were not.

    The position says on which side the weather is, and since which observation.
    """
    known = check.position or {}
    if beyond is None:
        return Found((), known, note=f"The weather service has no {what} for this place now.")
    # An answer out of a cache may be older than the last one.
    if known and (beyond == known["beyond"] or reading.observed_at <= known["since"]):
        return Found((), known)
    position = {"beyond": beyond, "since": reading.observed_at}
    if not known or not beyond:
        return Found((), position)
    zone = zone_info(check.fields.zone)
    ingredients = reading_ingredients(reading, zone) | _link(check.fields)
    return Found((Item(str(reading.observed_at), ingredients, reading.observed_at),), position)


def _link(fields: PlaceFields | TodaysReportAtFields) -> dict[str, str]:
    return {"ForecastUrl": forecast_url(fields.latitude, fields.longitude)}
