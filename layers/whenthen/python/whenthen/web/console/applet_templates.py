"""Applets to begin with. What only their owner knows is left out of them: the editor asks for it."""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

type Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class AppletTemplate:
    """An applet to begin with.

    Parameters
    ----------
    name, description:
        What people see, one sentence; in English, for `language.gettext`.
    applet:
        The JSON of an applet without connections, and without required fields that only its owner knows.
    """

    slug: str
    name: str
    description: str
    applet: Json

    def draft(self) -> Json:
        """Return the applet's JSON, to be changed as one likes."""
        return deepcopy(self.applet)

    @property
    def services(self) -> list[str]:
        """The slugs of its services: of the trigger, the queries and the actions."""
        parts = [self.applet["trigger"], *self.applet.get("queries", []), *self.applet["actions"]]
        return [part["service"] for part in parts]


def _when(service: str, trigger: str, /, **fields: Any) -> Json:
    return {"service": service, "trigger": trigger, "fields": fields}


def _then(service: str, action: str, /, **fields: Any) -> Json:
    return {"service": service, "action": action, "fields": fields}


def _made(slug: str, name: str, description: str, when: Json, then: Json, **more: Any) -> AppletTemplate:
    return AppletTemplate(slug, name, description, {"name": name, "trigger": when, "actions": [then], **more})


_FEED_POST = "{{EntryTitle}}\n{{EntryUrl}}"
_GITHUB_PUSH = "{{(JsonPayload|fromjson).pusher.name}} pushed to {{(JsonPayload|fromjson).repository.full_name}}"

_TEMPLATES = (
    _made(
        "webhook_to_notification",
        "Web request to a notification",
        "Any program or device that can open a URL leaves a message in your inbox here.",
        _when("webhooks", "event", event="doorbell"),
        _then("notifications", "send_notification", title="{{EventName}}", message="{{Value1}} {{Value2}} {{Value3}}"),
    ),
    _made(
        "feed_to_email_digest",
        "A feed as a daily email",
        "Collects the new items of a feed and sends them in one email every morning.",
        _when("feed", "new_feed_item"),
        _then(
            "email_digest",
            "add_to_digest",
            subject="News of the day",
            title="{{EntryTitle}}",
            text="{{EntryPublished}}",
            link="{{EntryUrl}}",
        ),
    ),
    _made(
        "feed_to_slack",
        "New feed items to Slack",
        "Posts each new item of a feed to a channel in Slack.",
        _when("feed", "new_feed_item"),
        _then("slack", "post_message", text=_FEED_POST),
    ),
    _made(
        "feed_to_discord",
        "New feed items to Discord",
        "Posts each new item of a feed to a channel in Discord.",
        _when("feed", "new_feed_item"),
        _then("discord", "post_message", content=_FEED_POST),
    ),
    _made(
        "feed_to_mastodon",
        "New feed items to Mastodon",
        "Posts on Mastodon about each new item of a feed.",
        _when("feed", "new_feed_item"),
        _then("mastodon", "post_status", status=_FEED_POST),
    ),
    _made(
        "rain_today",
        "Take an umbrella",
        "Tells you in the morning when it is likely to rain today.",
        _when("weather", "todays_report_at", time="07:00"),
        _then("notifications", "send_notification", title="Take an umbrella", message="{{Report}}"),
        filter="ChanceOfRain|int >= 50 or skip('Rain is not likely')",
    ),
    _made(
        "lights_at_sunset",
        "Lights on at sunset",
        "Turns on a light in Home Assistant when the sun sets.",
        _when("date_time", "sunset"),
        _then("home_assistant", "call_service", service="light.turn_on", data='{"entity_id": "light.living_room"}'),
    ),
    _made(
        "button_to_todoist",
        "A button that adds a task",
        "A page with one button: each press puts a task on your Todoist list.",
        _when("button", "pressed", label="Buy milk"),
        _then("todoist", "create_task", content="{{Label}}", due="today"),
    ),
    _made(
        "github_push_to_phone",
        "GitHub pushes on your phone",
        "GitHub tells of a push by a signed webhook, and ntfy shows it on your phone.",
        _when("signed_webhooks", "received", event_type="push"),
        _then("ntfy", "publish", title="GitHub", message=_GITHUB_PUSH),
    ),
    _made(
        "page_change_to_email",
        "A web page has changed",
        "Watches the text of a web page and sends you an email with what is new.",
        _when("web", "page_text_changes", interval_minutes=60),
        _then("email", "send_email", subject="The page has changed", body="{{Url}}\n\n{{AddedText}}"),
    ),
    _made(
        "number_too_high",
        "A value rises too high",
        "Watches a number in a JSON document, a price or a temperature, and tells you when it passes a limit.",
        _when("web", "json_value_meets", operator="greater_than"),
        _then("notifications", "send_notification", title="Too high", message="{{Value}}", link="{{Url}}"),
    ),
    _made(
        "calendar_to_telegram",
        "Soon in your calendar",
        "Sends a message on Telegram a quarter of an hour before an event of your calendar.",
        _when("calendar", "event_starts", lead_minutes=15),
        _then("telegram", "send_message", text="{{Title}}\n{{Starts}}\n{{Where}}"),
    ),
    _made(
        "lights_when_home",
        "Lights on when you come home",
        "When your phone comes home, Home Assistant turns on a light.",
        _when("location", "entered", radius=150, place="Home"),
        _then("home_assistant", "call_service", service="light.turn_on", data='{"entity_id": "light.hall"}'),
    ),
    _made(
        "hours_at_work",
        "When you came and went",
        "Writes down in a table when your phone comes to a place and when it leaves.",
        _when("location", "entered_or_exited", radius=150, place="Work"),
        _then(
            "table",
            "add_row",
            table="Hours",
            values={"Time": "{{OccurredAt}}", "Place": "{{PlaceName}}", "What": "{{EnteredOrExited}}"},
        ),
    ),
    _made(
        "table_row_to_discord",
        "Tell of new table rows",
        "Posts to Discord whenever a row is added to a table of yours.",
        _when("table", "new_row", table="Hours"),
        _then("discord", "post_message", content="{{Table}}: {{Values}}"),
    ),
    _made(
        "weekday_reminder",
        "A reminder on workdays",
        "Reminds you of something on the days of the week and at the time you choose.",
        _when(
            "date_time",
            "every_weekday_at",
            time="09:00",
            weekdays=["monday", "tuesday", "wednesday", "thursday", "friday"],
        ),
        _then("notifications", "send_notification", title="{{DayOfWeek}}", message="Water the plants"),
    ),
    _made(
        "hourly_web_check",
        "Write down a value every hour",
        "Asks a web address every hour and keeps its answers in a table.",
        _when("date_time", "every_hour_at", minute=0),
        _then(
            "table",
            "add_row",
            table="Measurements",
            values={"Time": "{{CheckTime}}", "Answer": "{{query1[0].Body}}"},
        ),
        queries=[{"service": "webhooks", "query": "web_request", "fields": {}}],
    ),
)

APPLET_TEMPLATES: dict[str, AppletTemplate] = {template.slug: template for template in _TEMPLATES}
"""By slug, in the order in which they are shown."""
