"""The applets: the list, and turning them on and off, copying, deleting and restoring them."""

import re

from starlette.responses import Response

from whenthen.clock import now_ms
from whenthen.engine import applets
from whenthen.engine.summaries import summarize
from whenthen.errors import NotFound, Stale
from whenthen.store.applets import AppletRow, find_applet, list_applets
from whenthen.web.console import applet_page
from whenthen.web.console.applet_list import Looked, find, listed, states
from whenthen.web.console.applet_templates import APPLET_TEMPLATES
from whenthen.web.console.applet_words import problems
from whenthen.web.console.language import gettext as _
from whenthen.web.console.mistakes import MISTAKES
from whenthen.web.console.visit import Visit

_SUGGESTIONS = ("webhook_to_notification", "weekday_reminder", "feed_to_email_digest")
_ID = re.compile(r"[0-9a-f]{1,64}")


def show_list(visit: Visit) -> Response:
    """The owner's applets."""
    looked = Looked.of(visit)
    rows = list_applets(visit.runtime.database, visit.owner)
    return visit.page(
        "applets/found.html" if visit.is_fragment else "applets/list.html",
        looked=looked,
        found=find(visit, rows, looked),
        states=states(),
        has_any=bool(rows),
        deleted=_deleted(visit),
        restored_on=visit.query.get("on") == "1",
        suggestions=[APPLET_TEMPLATES[slug] for slug in _SUGGESTIONS],
    )


def _deleted(visit: Visit) -> AppletRow | None:
    """Return the applet that was just deleted, to offer that this is undone."""
    applet_id = visit.query.get("deleted", "")
    row = find_applet(visit.runtime.database, applet_id) if _ID.fullmatch(applet_id) else None
    return row if row is not None and row.owner_id == visit.owner and row.deleted_at is not None else None


def take_switch(visit: Visit) -> Response:
    """Turns an applet on or off, as the form says."""
    row = applets.get(visit.runtime.database, visit.owner, visit.path["id"])
    applet = applets.parse(row)
    wanted = visit.text("on") == "true"
    said: list[str] = []
    if wanted != row.enabled:
        try:
            row = applets.update(
                visit.runtime.database,
                visit.owner,
                row.applet_id,
                applet.model_copy(update={"enabled": wanted}),
                seen_version=row.version,
                checks=visit.runtime.checks,
            )
        except MISTAKES as error:
            said = problems(applet, error)
        except Stale:
            said = [_("The applet was changed elsewhere at the same moment. Try again.")]
    if visit.is_fragment:
        summary = summarize(visit.runtime.history, visit.owner, [row], now=now_ms())[row.applet_id]
        status = 422 if said else 200
        return visit.page("applets/row.html", status=status, applet=listed(row, summary), problems=said)
    if said:
        return applet_page.show(visit, row, status=422, problems=said)
    return visit.redirect(f"/applets/{row.applet_id}")


def take_duplicate(visit: Visit) -> Response:
    """Makes a copy."""
    row = applets.duplicate(visit.runtime.database, visit.owner, visit.path["id"])
    return visit.redirect(f"/applets/{row.applet_id}", copied="1")


def take_delete(visit: Visit) -> Response:
    """Deletes an applet, which can be undone."""
    database, applet_id = visit.runtime.database, visit.path["id"]
    try:
        was_on = applets.get(database, visit.owner, applet_id).enabled
        applets.delete(database, visit.owner, applet_id)
    except NotFound:
        row = find_applet(database, applet_id)
        if row is None or row.owner_id != visit.owner:
            raise
        # A second click: the first one has deleted it, and the way back is still to be offered.
        was_on = visit.text("on") == "1"
    return visit.redirect("/applets", deleted=applet_id, **({"on": "1"} if was_on else {}))


def take_restore(visit: Visit) -> Response:
    """Undoes that an applet was deleted."""
    database, applet_id = visit.runtime.database, visit.path["id"]
    was_on = visit.text("on") == "1"
    try:
        applets.restore(database, visit.owner, applet_id, enabled=was_on, checks=visit.runtime.checks)
    except MISTAKES:
        # It can't be on any more: its page says why when that is tried.
        applets.restore(database, visit.owner, applet_id, enabled=False, checks=visit.runtime.checks)
    except Stale as error:
        row = find_applet(database, applet_id)
        if row is None or row.deleted_at is not None:
            raise NotFound(str(error)) from error
        # A second click: it is back already.
    return visit.redirect(f"/applets/{applet_id}", restored="1")


def show_templates(visit: Visit) -> Response:
    """Applets to begin with."""
    return visit.page("applets/templates.html", templates=list(APPLET_TEMPLATES.values()))
