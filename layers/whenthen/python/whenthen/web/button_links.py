"""Links of buttons in the management API."""

import time
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse, Response

from whenthen.clock import Deadline, isoformat
from whenthen.engine import applets
from whenthen.engine.connections.errors import ConnectionUnusable
from whenthen.errors import FieldError
from whenthen.services.button.connection import ButtonFields
from whenthen.services.button.links import Link
from whenthen.web.call import Call
from whenthen.wiring import Runtime

_TIMEOUT_SECONDS = 10.0
_DAY_SECONDS = 86_400


class NewLink(BaseModel):
    """The body of POST /api/applets/{id}/link."""

    model_config = ConfigDict(extra="forbid")

    days: Annotated[
        int | None, Field(ge=1, le=3650, strict=True, description="For how long the link is good; null for ever.")
    ] = None


def create_link(runtime: Runtime, owner: str, call: Call) -> Response:
    """A link to the page with the applet's button."""
    wanted = NewLink.model_validate(call.json_object())
    base = (runtime.settings.public_url or call.base_url).rstrip("/")
    url, expires = make_link(runtime, owner, call.path["id"], wanted.days, base)
    return JSONResponse({"url": url, "expires_at": isoformat(expires * 1000) if expires else None}, 201)


def make_link(runtime: Runtime, owner: str, applet_id: str, days: int | None, base_url: str) -> tuple[str, int]:
    """Return the URL of a button, and until when it is good, epoch seconds or 0 for ever.

    Parameters
    ----------
    days:
        For how long it is to be good, or None for ever.
    base_url:
        Where whenthen is reached, without a slash at its end.

    Raises
    ------
    FieldError
        The applet has no button, or its connection can't be used.
    NotFound
        There is no such applet.
    """
    trigger = applets.parse(applets.get(runtime.database, owner, applet_id)).trigger
    if trigger.service != "button" or trigger.connection is None:
        raise FieldError("trigger", "is no button")
    try:
        account = runtime.accounts.open(owner, trigger.connection, "button", Deadline(_TIMEOUT_SECONDS))
    except ConnectionUnusable as error:
        raise FieldError("trigger.connection", str(error)) from error
    fields = account.fields
    assert isinstance(fields, ButtonFields)  # noqa: S101 - what the service's connections have
    expires = int(time.time()) + days * _DAY_SECONDS if days else 0
    link = Link(trigger.connection, expires, str(trigger.fields["label"]))
    return base_url + link.path(fields.signing_key), expires
