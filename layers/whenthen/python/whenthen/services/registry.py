"""The catalogue of all services."""

from typing import Any

from whenthen.services.calendar.manifest import SERVICE as CALENDAR
from whenthen.services.contract import Action, Query, Service, Trigger
from whenthen.services.date_time.manifest import SERVICE as DATE_TIME
from whenthen.services.feed.manifest import SERVICE as FEED
from whenthen.services.notifications.manifest import SERVICE as NOTIFICATIONS
from whenthen.services.partner.manifest import SERVICE as PARTNER
from whenthen.services.weather.manifest import SERVICE as WEATHER
from whenthen.services.web.manifest import SERVICE as WEB
from whenthen.services.webhooks.manifest import SERVICE as WEBHOOKS

SERVICES: dict[str, Service] = {
    service.slug: service for service in (WEBHOOKS, NOTIFICATIONS, DATE_TIME, WEATHER, FEED, WEB, CALENDAR, PARTNER)
}


def find_trigger(service: str, trigger: str) -> Trigger | None:
    """Return the trigger with these slugs or None."""
    found = SERVICES.get(service)
    return next((item for item in found.triggers if item.slug == trigger), None) if found else None


def find_action(service: str, action: str) -> Action[Any] | None:
    """Return the action with these slugs or None."""
    found = SERVICES.get(service)
    return next((item for item in found.actions if item.slug == action), None) if found else None


def find_query(service: str, query: str) -> Query[Any] | None:
    """Return the query with these slugs or None."""
    found = SERVICES.get(service)
    return next((item for item in found.queries if item.slug == query), None) if found else None
