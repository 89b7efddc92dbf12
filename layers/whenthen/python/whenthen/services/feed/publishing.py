"""How often a publisher wants to be asked: what a feed says, and what follows from it."""

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from whenthen.clock import from_datetime, to_datetime
from whenthen.services.feed.feeds import Wishes

LONGEST_MINUTES = 24 * 60
"""The longest wish that is granted."""

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SKIP_HOURS = re.compile(r"<skiphours\s*>(.{0,2000}?)</skiphours\s*>", re.IGNORECASE | re.DOTALL)
_SKIP_DAYS = re.compile(r"<skipdays\s*>(.{0,2000}?)</skipdays\s*>", re.IGNORECASE | re.DOTALL)
_HOUR = re.compile(r"<hour\s*>\s*([0-9]{1,2})\s*</hour", re.IGNORECASE)
_DAY = re.compile(r"<day\s*>\s*([a-z]{6,9})\s*</day", re.IGNORECASE)


def read_wishes(head: Mapping[str, Any], text: str) -> Wishes:
    """Return what a feed wishes: RSS 2.0's ttl, skipHours and skipDays.

    What makes no sense is not there, such as to skip every hour. Cache-Control is no wish: a conditional request
    is welcome at any time. Neither is the syndication module's update period: WordPress writes an hour into every
    feed, whatever its owner wants.

    Parameters
    ----------
    head:
        feedparser's values of the channel.
    text:
        The document: feedparser keeps only the last of the hours and days.
    """
    minutes = _number(head, "ttl")
    hours_text, days_text = _SKIP_HOURS.search(text), _SKIP_DAYS.search(text)
    hours = {int(hour) % 24 for hour in _HOUR.findall(hours_text[1]) if int(hour) <= 24} if hours_text else set()
    days = (
        {_DAYS.index(day.lower()) for day in _DAY.findall(days_text[1]) if day.lower() in _DAYS} if days_text else set()
    )
    return Wishes(
        min(minutes, LONGEST_MINUTES),
        tuple(sorted(hours)) if len(hours) < 24 else (),
        tuple(sorted(days)) if len(days) < 7 else (),
    )


def not_before(wishes: Wishes, now: int, interval_minutes: int) -> int | None:
    """Return the earliest next check, epoch milliseconds, or None when the publisher doesn't care.

    Parameters
    ----------
    wishes:
        The publisher's.
    now:
        This check, epoch milliseconds.
    interval_minutes:
        The trigger's own interval: the next check may fall into hours to skip because of it.
    """
    if wishes == Wishes():
        return None
    latest = to_datetime(now) + timedelta(minutes=LONGEST_MINUTES)
    at = to_datetime(now) + timedelta(minutes=max(wishes.minutes, interval_minutes))
    while at < latest and (at.hour in wishes.skip_hours or at.weekday() in wishes.skip_days):
        at = at.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    return from_datetime(min(at, latest))


def _number(values: Mapping[str, Any], key: str) -> int:
    text = str(values[key]).strip() if key in values else ""
    return int(text) if re.fullmatch(r"[0-9]{1,6}", text) else 0
