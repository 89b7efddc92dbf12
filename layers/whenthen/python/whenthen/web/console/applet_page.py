"""An applet's page: what it does in words, how its trigger is checked, what it has done."""

import hashlib
import re
from dataclasses import dataclass

from starlette.responses import Response

from whenthen.clock import Deadline, now_ms
from whenthen.engine import activity, applets
from whenthen.engine.applet_numbers import read_numbers
from whenthen.engine.connections.referring import connections_of
from whenthen.engine.items import Item
from whenthen.errors import NotFound
from whenthen.model.applet import Applet
from whenthen.store.applets import AppletRow
from whenthen.store.checks import read_checks
from whenthen.store.connections import ConnectionRow, read_connections
from whenthen.store.log import Filters
from whenthen.web.console import applet_checks
from whenthen.web.console import applet_words as words
from whenthen.web.console.language import gettext as _
from whenthen.web.console.language import ngettext
from whenthen.web.console.visit import Visit
from whenthen.web.console.webhook_urls import KEY_PLACE, addresses, make_key

_CHECK_SECONDS = 20.0
_SHOWN = 10
_DAYS = (7, 30)
_KEY_BYTES = 6
_COUNT = re.compile(r"[0-9]{1,4}")


@dataclass(frozen=True, slots=True)
class Run:
    """An execution in the list of the latest; `key` is the id of its element."""

    item: Item
    key: str


def show_applet(visit: Visit) -> Response:
    """An applet."""
    row = _row(visit)
    return show(visit, row, notice=_notice(visit, row))


def take_key(visit: Visit) -> Response:
    """Makes a webhook key, and shows the whole URL this once."""
    row = _row(visit)
    return show(visit, row, key=make_key(visit, applets.parse(row).name))


def take_check(visit: Visit) -> Response:
    """Checks the trigger now, for all applets that share it."""
    row = _row(visit)
    if _check(visit, row) is None:
        raise NotFound(_("This trigger is not checked: its events arrive by themselves."))
    report = visit.runtime.checks.check_now(row.trigger_id, Deadline(_CHECK_SECONDS)) if row.enabled else None
    # Why it failed is among what the checks have found.
    found = "" if report is None or report.failure else str(report.fired)
    if visit.is_fragment:
        return visit.page("applets/check.html", row=row, check=_check(visit, row), said=_said(found))
    return visit.redirect(f"/applets/{row.applet_id}", **({"found": found} if found else {}))


def _said(found: str) -> str:
    """Return the words for how many events a check has just found, a number, or for none."""
    if not _COUNT.fullmatch(found):
        return ""
    if (number := int(found)) == 0:
        return _("Nothing new.")
    return ngettext("%(num)d new event.", "%(num)d new events.", number) % {"num": number}


def show_recent(visit: Visit) -> Response:
    """The latest executions, or nothing when they are those that the page shows already."""
    row = _row(visit)
    filters = Filters(applet_id=row.applet_id)
    known = visit.query.get("mark", "")
    history = visit.runtime.history
    if known and activity.read_mark(history, visit.owner, filters, limit=_SHOWN) == known:
        return Response(status_code=204)
    page = activity.read_activity(history, visit.owner, filters, limit=_SHOWN)
    return visit.page(
        "applets/recent.html",
        row=row,
        runs=[Run(item, _key(item)) for item in page.items],
        mark=page.mark,
        more=page.next is not None,
        waits=row.enabled and applet_checks.arrives(applets.parse(row)),
    )


def show_numbers(visit: Visit) -> Response:
    """How the executions of the last days have ended."""
    row = _row(visit)
    numbers = read_numbers(visit.runtime.history, visit.owner, row.applet_id, days=_DAYS, now=now_ms())
    return visit.page("applets/numbers.html", numbers=numbers)


def show(
    visit: Visit,
    row: AppletRow,
    *,
    status: int = 200,
    problems: list[str] | None = None,
    key: str = "",
    notice: str = "",
) -> Response:
    """Return the page of an applet.

    Parameters
    ----------
    problems:
        Why it could not be turned on.
    key:
        A webhook key that was just made, empty for none.
    notice:
        What has just been done.
    """
    applet = applets.parse(row)
    return visit.page(
        "applets/show.html",
        status=status,
        row=row,
        applet=applet,
        sentence=words.sentence(applet),
        trigger=words.trigger_words(applet.trigger),
        queries=words.query_words(applet),
        actions=words.action_words(applet),
        settings=words.settings_words(applet),
        connections=_connections(visit, applet),
        check=_check(visit, row),
        said=_said(visit.query.get("found", "")),
        addresses=addresses(visit, applet, key or KEY_PLACE),
        key=key,
        key_place=KEY_PLACE,
        problems=problems or [],
        notice=notice,
    )


def _row(visit: Visit) -> AppletRow:
    return applets.get(visit.runtime.database, visit.owner, visit.path["id"])


def _notice(visit: Visit, row: AppletRow) -> str:
    if "made" in visit.query:
        return _("Your applet is on.") if row.enabled else _("Your applet is saved. It is off.")
    if "copied" in visit.query:
        return _("This is the copy. It is off: change what should be different, then turn it on.")
    if "restored" in visit.query:
        return _("Your applet is back.")
    return ""


def _check(visit: Visit, row: AppletRow) -> applet_checks.CheckShown | None:
    found = read_checks(visit.runtime.database, [row.trigger_id]).get(row.trigger_id)
    return applet_checks.shown(found, applets.parse(row))


def _connections(visit: Visit, applet: Applet) -> dict[str, ConnectionRow]:
    wanted = connections_of(applet)
    rows = read_connections(visit.runtime.database, wanted) if wanted else {}
    return {name: row for name, row in rows.items() if row.owner_id == visit.owner and row.deleted_at is None}


def _key(item: Item) -> str:
    return "run-" + hashlib.blake2b(item.execution_id.encode(), digest_size=_KEY_BYTES).hexdigest()
