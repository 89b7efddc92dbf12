"""The addresses at which a trigger's events arrive, for people to copy."""

import shlex
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

from whenthen.clock import Deadline
from whenthen.engine import keys
from whenthen.engine.connections.errors import ConnectionUnusable
from whenthen.model.applet import Applet, TriggerRef
from whenthen.services.button.connection import ButtonFields
from whenthen.services.button.links import Link
from whenthen.web.console.visit import Visit

type Kind = Literal["webhook", "signed", "button", "phone"]

KEY_PLACE = "YOUR-WEBHOOK-KEY"
"""What stands in a URL for the key, which is known only when it is made."""

_MAX_KEY_NAME = 64
_TIMEOUT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Address:
    """Where events of a trigger arrive.

    Parameters
    ----------
    kind:
        `webhook` and `phone` have a webhook key in their URL, any of the owner's; `signed` is verified by its
        signature, `button` is the link of a page.
    url:
        With `KEY_PLACE` for the key while that is not known.
    example:
        A command that makes a call; empty where none can be made by hand.
    """

    kind: Kind
    url: str
    example: str = ""

    @property
    def needs_key(self) -> bool:
        """Whether a key has to be put into the URL."""
        return KEY_PLACE in self.url


def addresses(visit: Visit, applet: Applet, key: str = KEY_PLACE) -> list[Address]:
    """Return the addresses of an applet's trigger, see `trigger_addresses`."""
    return trigger_addresses(visit, applet.trigger, key)


def trigger_addresses(visit: Visit, trigger: TriggerRef, key: str = KEY_PLACE) -> list[Address]:
    """Return the addresses of a trigger; none when its events don't arrive, or fields that its address needs are empty.

    Parameters
    ----------
    trigger:
        Also of an applet that is still being written.
    key:
        A webhook key that was just made.

    Raises
    ------
    StoreError
        The connection that signs a button's link can't be read now.
    """
    base = visit.base_url
    match trigger.service:
        case "webhooks":
            event = str(trigger.fields.get("event", ""))
            return [_webhook(base, trigger.trigger, event, key)] if event else []
        case "location":
            return [Address("phone", f"{base}/location/{key}")]
        case "signed_webhooks" if trigger.connection is not None:
            return [Address("signed", f"{base}/hooks/{trigger.connection}")]
        case "button" if trigger.connection is not None:
            link = _button_link(visit, trigger.connection, str(trigger.fields.get("label", "")))
            return [Address("button", base + link)] if link else []
    return []


def make_key(visit: Visit, name: str) -> str:
    """Store a new webhook key of the visitor's and return it; it can't be had again. Raises as `engine.keys.create`."""
    return keys.create(visit.runtime.database, visit.owner, "webhook", name[:_MAX_KEY_NAME].strip() or "webhook")[1]


def _webhook(base: str, trigger: str, event: str, key: str) -> Address:
    is_json = trigger == "json_event"
    url = f"{base}/trigger/{quote(event, safe='')}{'/json' if is_json else ''}/with/key/{key}"
    values = '{"temperature": 21.5}' if is_json else '{"value1": "hello", "value2": "", "value3": ""}'
    return Address("webhook", url, f"curl --json {shlex.quote(values)} {shlex.quote(url)}")


def _button_link(visit: Visit, connection_id: str, label: str) -> str:
    """Return the path of a link that is good for ever; empty when the connection can't be used."""
    try:
        account = visit.runtime.accounts.peek(visit.owner, connection_id, "button", Deadline(_TIMEOUT_SECONDS))
    except ConnectionUnusable:
        return ""
    fields = account.fields
    return Link(connection_id, 0, label).path(fields.signing_key) if isinstance(fields, ButtonFields) and label else ""
