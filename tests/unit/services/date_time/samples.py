"""Samples of the date & time service: each has a run within `later`."""

from tests.support.samples import Sample

_DAY = 24 * 3_600_000
_PARIS = {"latitude": 48.85, "longitude": 2.35}

SAMPLES = {
    "every_hour_at": Sample({"minute": 15, "zone": "Europe/Paris"}, later=3_600_000),
    "every_minutes": Sample({"minutes": 15}, later=15 * 60_000),
    "every_day_at": Sample({"time": "07:30", "catch_up": "all", "grace_minutes": 1440}, later=_DAY),
    "every_weekday_at": Sample(
        {"time": "07:30", "weekdays": ["monday", "sunday"], "grace_minutes": 10080}, later=7 * _DAY
    ),
    "every_month_on_the": Sample({"time": "07:30", "month_day": "last", "grace_minutes": 10080}, later=10 * _DAY),
    "every_year_on": Sample({"time": "07:30", "month": 9, "day": 29, "grace_minutes": 10080}, later=10 * _DAY),
    "cron": Sample({"expression": "30 2 * * mon", "grace_minutes": 10080}, later=7 * _DAY),
    "once_at": Sample({"at": "2026-09-24T18:00", "grace_minutes": 10080}, later=4 * _DAY),
    "sunrise": Sample({**_PARIS, "offset_minutes": -15, "grace_minutes": 1440}, later=_DAY),
    "sunset": Sample({**_PARIS, "grace_minutes": 1440}, later=_DAY),
}
