"""The inbox: what applets notify of, and what whenthen itself has to say."""

from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.responses import Response

from whenthen.engine import applets, inbox
from whenthen.store.applets import read_applets
from whenthen.web.console.visit import Visit

_PAGE = 50
_TIMEOUT_SECONDS = 10.0


def show_inbox(visit: Visit) -> Response:
    """A page of the owner's notifications, newest first."""
    before = visit.query.get("before")
    rows, following = inbox.page(visit.runtime.database, visit.owner, before=before, limit=_PAGE)
    return visit.page(
        "inbox.html",
        messages=rows,
        links={row.message_id for row in rows if _is_web(row.link)},
        applets=_names(visit, {row.applet_id for row in rows if row.applet_id}),
        is_first=not before,
        following=following,
    )


def _names(visit: Visit, applet_ids: Collection[str]) -> dict[str, str]:
    """Return the names of those applets that are still there, by id."""
    if not applet_ids:
        return {}
    found = read_applets(visit.runtime.database, applet_ids, timeout_seconds=_TIMEOUT_SECONDS)
    own = [row for row in found.values() if row.owner_id == visit.owner and row.deleted_at is None]
    return {row.applet_id: applets.parse(row).name for row in own}


def _is_web(link: str) -> bool:
    """Whether a link that came from anywhere may be followed."""
    try:
        parts = urlsplit(link)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)
