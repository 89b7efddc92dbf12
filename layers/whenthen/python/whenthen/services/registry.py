"""The catalogue of all services."""

from typing import Any

from whenthen.services.button.manifest import SERVICE as BUTTON
from whenthen.services.calendar.manifest import SERVICE as CALENDAR
from whenthen.services.contract import Action, Query, Service, Trigger
from whenthen.services.date_time.manifest import SERVICE as DATE_TIME
from whenthen.services.discord.manifest import SERVICE as DISCORD
from whenthen.services.email.manifest import SERVICE as EMAIL
from whenthen.services.email_digest.manifest import SERVICE as EMAIL_DIGEST
from whenthen.services.feed.manifest import SERVICE as FEED
from whenthen.services.github.manifest import SERVICE as GITHUB
from whenthen.services.gotify.manifest import SERVICE as GOTIFY
from whenthen.services.home_assistant.manifest import SERVICE as HOME_ASSISTANT
from whenthen.services.location.manifest import SERVICE as LOCATION
from whenthen.services.mastodon.manifest import SERVICE as MASTODON
from whenthen.services.notifications.manifest import SERVICE as NOTIFICATIONS
from whenthen.services.ntfy.manifest import SERVICE as NTFY
from whenthen.services.partner.manifest import SERVICE as PARTNER
from whenthen.services.signed_webhooks.manifest import SERVICE as SIGNED_WEBHOOKS
from whenthen.services.slack.manifest import SERVICE as SLACK
from whenthen.services.storage.manifest import SERVICE as STORAGE
from whenthen.services.table.manifest import SERVICE as TABLE
from whenthen.services.telegram.manifest import SERVICE as TELEGRAM
from whenthen.services.todoist.manifest import SERVICE as TODOIST
from whenthen.services.weather.manifest import SERVICE as WEATHER
from whenthen.services.web.manifest import SERVICE as WEB
from whenthen.services.webhooks.manifest import SERVICE as WEBHOOKS

SERVICES: dict[str, Service] = {
    service.slug: service
    for service in (
        WEBHOOKS,
        SIGNED_WEBHOOKS,
        BUTTON,
        NOTIFICATIONS,
        EMAIL,
        EMAIL_DIGEST,
        NTFY,
        GOTIFY,
        SLACK,
        DISCORD,
        TELEGRAM,
        MASTODON,
        DATE_TIME,
        WEATHER,
        FEED,
        WEB,
        CALENDAR,
        PARTNER,
        GITHUB,
        TODOIST,
        HOME_ASSISTANT,
        STORAGE,
        TABLE,
        LOCATION,
    )
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
