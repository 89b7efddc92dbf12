"""Connections: the owner's accounts at services, how they stand, and how they are repaired."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from starlette.responses import RedirectResponse, Response

from whenthen.engine.connections.checking import kind_of
from whenthen.engine.connections.contents import read_shown
from whenthen.engine.connections.keeping import ConnectionChange, NewConnection
from whenthen.engine.connections.using import applets_using
from whenthen.errors import FieldError, InUse, NotFound, Stale
from whenthen.services.connecting import ConnectionType
from whenthen.services.contract import Service
from whenthen.services.registry import SERVICES
from whenthen.store.connections import ConnectionRow
from whenthen.web.button_links import make_link
from whenthen.web.connection_routes import CALLBACK_PATH
from whenthen.web.console import reasons
from whenthen.web.console.connection_forms import PREFIX, changes, kept_fields, new_fields, removable, split
from whenthen.web.console.field_forms import read_fields
from whenthen.web.console.language import gettext as _
from whenthen.web.console.mistakes import MISTAKES, by_path, summary
from whenthen.web.console.rendering import HEADERS
from whenthen.web.console.sender_steps import steps
from whenthen.web.console.visit import Visit

_ASKS_NOBODY = ("button", "signed_webhooks")
"""Services whose connections can't be tried out: they ask nobody."""

_DAYS = {"7": 7, "30": 30, "365": 365, "": None}
"""For how long the link of a button can be made."""

_MAX_DIGITS = 18


def show_list(visit: Visit) -> Response:
    """The owner's connections."""
    rows = visit.runtime.connections.list_all(visit.owner)
    return visit.page(
        "connections/list.html",
        connections=rows,
        by_sign_in={row.connection_id: read_shown(row).oauth for row in rows},
        services=SERVICES,
        deleted="deleted" in visit.query,
    )


def show_new(visit: Visit) -> Response:
    """The form for a new connection; without a service, the services to choose from."""
    if "service" in visit.query:
        service, kind = _service(visit.query["service"])
        return _new(visit, service, kind, {}, {})
    return visit.page("connections/choose.html", services=[item for item in SERVICES.values() if item.connection])


def take_new(visit: Visit) -> Response:
    """Makes a connection; one that gets its token by signing in goes on to the service."""
    service, kind = _service(visit.text("service"))
    fields = read_fields(kind.fields, visit.form, PREFIX)
    wants_oauth = visit.text("op") == "sign-in"
    try:
        wanted = NewConnection(service=service.slug, name=visit.text("name"), fields=fields, oauth=wants_oauth)
        row = visit.runtime.connections.create(visit.owner, wanted)
    except MISTAKES as error:
        return _new(visit, service, kind, fields, by_path(error), status=422)
    if wants_oauth:
        # 307: the browser sends the form on, with its token.
        return RedirectResponse(f"/connections/{row.connection_id}/authorize", 307, HEADERS)
    return visit.redirect(f"/connections/{row.connection_id}", made="1")


def _new(
    visit: Visit,
    service: Service,
    kind: ConnectionType[Any],
    values: Mapping[str, Any],
    errors: Mapping[str, str],
    *,
    status: int = 200,
) -> Response:
    fields = new_fields(kind, values, errors)
    usual, apart = split(service.slug, fields)
    return visit.page(
        "connections/new.html",
        status=status,
        service=service,
        kind=kind,
        fields=usual,
        apart=apart,
        name=visit.text("name") if visit.form else _(service.name),
        errors=errors,
        mistakes=summary(errors, {"name": _("Name")}, fields),
        callback_url=visit.base_url + CALLBACK_PATH,
    )


def _service(slug: str) -> tuple[Service, ConnectionType[Any]]:
    service = SERVICES.get(slug)
    if service is None or service.connection is None:
        raise NotFound(_("There is no such service, or it needs no connection."))
    return service, service.connection


def show_connection(visit: Visit) -> Response:
    """One connection."""
    return _connection(visit, _row(visit), {}, {})


def take_connection(visit: Visit) -> Response:
    """Changes a connection's name and fields; those that change are tried out."""
    row = _row(visit)
    kind = kind_of(row.service)
    changed = changes(kind, read_shown(row), visit.form)
    try:
        change = ConnectionChange(name=visit.text("name"), fields=changed or None)
        visit.runtime.connections.change(visit.owner, row.connection_id, change, seen_version=_seen_version(visit))
    except MISTAKES as error:
        return _connection(visit, row, changed, by_path(error), status=422)
    except Stale:
        words = _("It has changed since you opened this page. Look at it again, then save.")
        return _connection(visit, _row(visit), changed, {"": words}, status=422)
    return visit.redirect(f"/connections/{row.connection_id}", saved="1")


def take_test(visit: Visit) -> Response:
    """Tries a connection out."""
    row = _row(visit)
    try:
        visit.runtime.connections.test(visit.owner, row.connection_id)
    except FieldError as error:
        return _connection(visit, row, {}, by_path(error), status=422)
    return visit.redirect(f"/connections/{row.connection_id}", tested="1")


def take_authorize(visit: Visit) -> Response:
    """Shows the link to the service at which its owner signs in: a form must not lead there (`form-action`)."""
    row = _row(visit)
    try:
        row, url = visit.runtime.authorizations.start(visit.owner, row.connection_id, visit.base_url + CALLBACK_PATH)
    except FieldError as error:
        return _connection(visit, row, {}, by_path(error), status=422)
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https"):
        return _connection(visit, row, {}, {"": _("The service's address is none of the web.")}, status=422)
    return visit.page(
        "connections/authorize.html", row=row, service_name=_service_name(row), url=url, host=parts.hostname
    )


def take_deletion(visit: Visit) -> Response:
    """Deletes a connection that no applet uses."""
    row = _row(visit)
    try:
        visit.runtime.connections.delete(visit.owner, row.connection_id)
    except InUse as error:
        return _connection(visit, row, {}, {"": reasons.translated(str(error))}, status=422)
    return visit.redirect("/connections", deleted="1")


def take_link(visit: Visit) -> Response:
    """Makes a link to a button of an applet that uses the connection."""
    row = _row(visit)
    days = _DAYS.get(visit.text("days"), 7)
    try:
        url, _expires = make_link(visit.runtime, visit.owner, visit.text("applet"), days, visit.base_url)
    except FieldError as error:
        return _connection(visit, row, {}, by_path(error), status=422)
    return _connection(visit, row, {}, {}, link=url)


def _connection(
    visit: Visit,
    row: ConnectionRow,
    values: Mapping[str, Any],
    errors: Mapping[str, str],
    *,
    link: str = "",
    status: int = 200,
) -> Response:
    kind = kind_of(row.service)
    shown = read_shown(row)
    fields = kept_fields(kind, shown, values, errors)
    usual, apart = split(row.service, fields)
    using = applets_using(visit.runtime.database, visit.owner, row.connection_id)
    is_signed = row.service == "signed_webhooks"
    return visit.page(
        "connections/connection.html",
        status=status,
        row=row,
        service_name=_service_name(row),
        shown=shown,
        fields=usual,
        apart=apart,
        removable=removable(kind, shown),
        name=visit.text("name") if "name" in visit.form else row.connection_name,
        errors=errors,
        mistakes=summary(errors, {"name": _("Name")}, fields),
        said=next((word for word in ("made", "saved", "tested") if word in visit.query), ""),
        can_test=row.service not in _ASKS_NOBODY,
        using=using,
        buttons=[(identifier, applet) for identifier, applet in using if applet.trigger.service == "button"],
        link=link,
        hook_url=f"{visit.base_url}/hooks/{row.connection_id}" if is_signed else "",
        steps=steps(str(shown.fields.get("scheme", ""))) if is_signed else (),
    )


def _row(visit: Visit) -> ConnectionRow:
    return visit.runtime.connections.get(visit.owner, visit.path["id"])


def _service_name(row: ConnectionRow) -> str:
    service = SERVICES.get(row.service)
    return service.name if service is not None else row.service


def _seen_version(visit: Visit) -> int | None:
    text = visit.text("version")
    return int(text[:_MAX_DIGITS]) if text.isascii() and text.isdigit() else None
