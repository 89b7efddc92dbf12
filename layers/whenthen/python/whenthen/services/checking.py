"""What a check of a trigger gets and gives: how a service finds by itself that something has happened."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from whenthen.errors import WhenthenError
from whenthen.net.messages import Answer, Request
from whenthen.services.contract import Fields
from whenthen.services.owned import NOTHING, Owned

DEFAULT_INTERVAL_MINUTES = 5

type Fetch = Callable[[Request], Answer]
"""Sends a request through the guarded client. Raises `net.NetError`."""

type Position = Mapping[str, Any]
"""What a trigger's check leaves for the next one: plain JSON values, small."""


class PolledFields(Fields):
    """Fields of a trigger whose source is asked again and again."""

    interval_minutes: Annotated[
        int,
        Field(title="Check every", description="Minutes from one check to the next, at least 1.", ge=1, le=1440),
    ] = DEFAULT_INTERVAL_MINUTES

    def source(self) -> str:
        """Return the URL that is asked, so that a host that wants to be left alone is; empty when it is not known."""
        return ""


@dataclass(frozen=True, slots=True)
class Item:
    """Something that has happened.

    Parameters
    ----------
    unique:
        What makes it this event and no other of its trigger, of any length (R1). The engine lets each fire once.
    ingredients:
        Values by slug, all that the trigger declares.
    occurred_at:
        Epoch milliseconds.
    note:
        Words for the activity, for example that it comes late; empty when there is nothing to say.
    """

    unique: str
    ingredients: Mapping[str, str]
    occurred_at: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """What a check found.

    Parameters
    ----------
    items:
        All that the source shows now, known or not, oldest first. The engine tells which are new.
    position:
        For the next check. Equal to the check's own when nothing has changed: then nothing is written.
    next_check_at:
        When to check next, epoch milliseconds; None for the trigger's interval.
    not_before:
        The publisher's wish: no check before, epoch milliseconds; None without one.
    note:
        Words for the owner about the source, for example that it is not well-formed.
    title:
        What the source calls itself, for the owner who looks at it; empty when that is not known.
    """

    items: tuple[Item, ...]
    position: Position
    next_check_at: int | None = None
    not_before: int | None = None
    note: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Check[F: Fields]:
    """One check of a trigger.

    Parameters
    ----------
    fields:
        The trigger's.
    position:
        What the last check left, or None for the first check since somebody listens: what it finds is
        remembered and does not fire (R3).
    now:
        The instant that the check stands for, epoch milliseconds.
    trigger_id:
        The trigger's identity.
    fetch:
        The way to the network.
    service_url:
        Base URL of the service from the settings, without a slash at its end; empty when it has none.
    account:
        The fields of the trigger's connection, secrets included; None without a connection.
    owned:
        The owner's own data.
    """

    fields: F
    position: Position | None
    now: int
    trigger_id: str
    fetch: Fetch
    service_url: str = ""
    account: Any = None
    owned: Owned = NOTHING


class CheckFailed(WhenthenError):
    """The source could not be read.

    Parameters
    ----------
    message:
        Why, in words the owner understands.
    field:
        The field that is to blame, for the error when an applet is made; empty when none is.
    retry_at:
        When the source wants to be asked again (Retry-After), epoch milliseconds, or None.
    host:
        The host that said so, which is left alone until then.
    temporary:
        Whether the source may well be right and only out of order now: no reason to refuse an applet.
    """

    def __init__(
        self,
        message: str,
        *,
        field: str = "",
        retry_at: int | None = None,
        host: str = "",
        temporary: bool = False,
    ) -> None:
        self.field = field
        self.retry_at = retry_at
        self.host = host
        self.temporary = temporary
        super().__init__(message)


class Refused(CheckFailed):
    """The source did not accept the credentials of the trigger's connection."""
