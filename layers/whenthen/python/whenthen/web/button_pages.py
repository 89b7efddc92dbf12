"""The page of a button: looking at it fires nothing, pressing its button does."""

import re
import time
from datetime import UTC, datetime
from html import escape
from urllib.parse import parse_qsl

import uuid_utils
from starlette.requests import Request
from starlette.responses import Response

from whenthen.clock import Deadline, from_datetime
from whenthen.engine.arrivals import Arrival
from whenthen.engine.connections.errors import ConnectionUnusable
from whenthen.engine.listeners import UnknownKey
from whenthen.errors import FieldError
from whenthen.services.button.connection import ButtonFields
from whenthen.services.button.links import BadLink, Link, check_link, read_link
from whenthen.services.button.triggers import pressed_ingredients
from whenthen.web.pages import page
from whenthen.web.receiving import check_ingredients, event_header, open_connection, store
from whenthen.wiring import Runtime

_PRESS = re.compile(r"[A-Za-z0-9-]{1,64}")


def answer(runtime: Runtime, request: Request, body: bytes) -> Response:
    """Return the answer to a GET or POST.

    Raises
    ------
    BadLink
        The link is not one of ours, or has expired.
    FieldError
        The id of the press is none.
    StoreError, Unavailable
        See `receiving.open_connection` and `receiving.store`.
    """
    return _show(runtime, request) if request.method == "GET" else _press(runtime, request, body)


def _show(runtime: Runtime, request: Request) -> Response:
    """The page. Its form has a name for the press, so that a second click or a reload is not another one."""
    link = _checked(runtime, request, Deadline(runtime.settings.intake_timeout_seconds))
    form = (
        f'<form method="post"><input type="hidden" name="press" value="{uuid_utils.uuid4()}">'
        f"<button>{escape(link.label)}</button></form>"
    )
    return page(link.label, form=form)


def _press(runtime: Runtime, request: Request, body: bytes) -> Response:
    when = datetime.now(UTC)
    deadline = Deadline(runtime.settings.intake_timeout_seconds)
    link = _checked(runtime, request, deadline)
    press = dict(parse_qsl(body.decode("latin-1"))).get("press") or str(uuid_utils.uuid4())
    if not _PRESS.fullmatch(press):
        raise FieldError("press", "must be the id of a press")
    arrival = Arrival(
        key_hash="",
        service="button",
        trigger="pressed",
        fields={"label": link.label},
        unique=f"press:{press}",
        ingredients=pressed_ingredients(link.label, press, when),
        occurred_at=from_datetime(when),
        headers={},
        connection=link.connection_id,
    )
    check_ingredients(arrival.ingredients)
    try:
        reservation = store(runtime, arrival, deadline)
    except UnknownKey as error:
        raise BadLink from error
    if reservation is not None and reservation.event_id is None:
        return page(link.label, "Nothing happens: no applet that is on has this button.")
    return page(link.label, "Done.", headers=event_header(reservation))


def _checked(runtime: Runtime, request: Request, deadline: Deadline) -> Link:
    path = request.path_params
    link = read_link(path["connection"], path["expires"], request.query_params.get("label", ""))
    try:
        account = open_connection(runtime, link.connection_id, "button", deadline)
    except ConnectionUnusable as error:
        raise BadLink from error
    fields = account.fields
    assert isinstance(fields, ButtonFields)  # noqa: S101 - what the service's connections have
    check_link(link, path["signature"], fields.signing_key, time.time())
    return link
