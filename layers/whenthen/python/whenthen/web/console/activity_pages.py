"""The activity: one stream of what ran, was skipped or failed, newest first, with its newest page live."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from starlette.responses import Response

from whenthen.clock import now_ms, to_datetime
from whenthen.engine import activity, applets
from whenthen.engine.days import day_slots, read_day
from whenthen.engine.items import Item
from whenthen.errors import FieldError
from whenthen.services.registry import SERVICES
from whenthen.store.applets import list_applets
from whenthen.store.executions import State
from whenthen.store.log import Filters
from whenthen.store.slots import SLOT_MINUTES, slot_end
from whenthen.web.console.language import gettext as _
from whenthen.web.console.visit import Visit

PATH = "/activity"

_PAGE = 50
_MAX_TEXT = 200


@dataclass(frozen=True, slots=True)
class _Asked:
    """The filters as they stand in the address; empty for all."""

    applet: str = ""
    service: str = ""
    state: str = ""
    day: str = ""
    text: str = ""

    def address(self, **more: str) -> str:
        """Return the address of the activity with these filters."""
        query = {name: value for name, value in (asdict(self) | more).items() if value}
        return f"{PATH}?{urlencode(query)}" if query else PATH


def show_list(visit: Visit) -> Response:
    """A page of the activity; for a page that is open already, what has changed of it."""
    asked = _Asked(**{name: visit.query.get(name, "").strip() for name in _Asked.__slots__})
    before = visit.query.get("before", "")
    try:
        filters = _filters(asked, visit.zone)
    except FieldError as error:
        return _page(visit, asked, None, {error.field: error.message})
    if visit.is_fragment and _is_unchanged(visit, filters):
        return Response(status_code=204)
    return _page(visit, asked, _read(visit, filters, before), {})


def show_applets(visit: Visit) -> Response:
    """All applets as options of the filter: the page itself names those alone that it shows."""
    names = {row.applet_id: applets.parse(row).name for row in list_applets(visit.runtime.database, visit.owner)}
    return visit.page("activity/applets.html", chosen=visit.query.get("applet", ""), applets=_by_name(names))


def _filters(asked: _Asked, zone: str) -> Filters:
    if asked.state and asked.state not in set(State):
        raise FieldError("state", _("There is no such state."))
    if len(asked.text) > _MAX_TEXT:
        raise FieldError("text", _("At most %(most)s characters.") % {"most": _MAX_TEXT})
    filters = Filters(asked.applet, asked.state, asked.service, asked.text)
    if not asked.day:
        return filters
    try:
        first, last = day_slots(read_day(asked.day), zone)
    except FieldError as error:
        raise FieldError("day", _("Give a day such as 2026-11-30.")) from error
    return replace(filters, first_slot=first, last_slot=last)


def _read(visit: Visit, filters: Filters, before: str) -> activity.Page:
    return activity.read_activity(visit.runtime.history, visit.owner, filters, limit=_PAGE, before=before or None)


def _is_unchanged(visit: Visit, filters: Filters) -> bool:
    mark = activity.read_mark(visit.runtime.history, visit.owner, filters, limit=_PAGE)
    return mark == visit.query.get("seen")


def _page(visit: Visit, asked: _Asked, page: activity.Page | None, errors: Mapping[str, str]) -> Response:
    items = page.items if page else []
    wanted = {item.applet_id for item in items} | ({asked.applet} - {""})
    names = applets.applet_names(visit.runtime.database, visit.owner, wanted)
    is_first = not visit.query.get("before")
    return visit.page(
        "activity/stream.html" if visit.is_fragment else "activity/list.html",
        status=422 if errors else 200,
        asked=asked,
        errors=errors,
        days=by_day(items, visit.zone),
        names=names,
        applets=_by_name(names),
        services=_by_name({service.slug: _(service.name) for service in SERVICES.values()}),
        states=tuple(State),
        new=_count_new(items, visit.query.get("newest", "")) if visit.is_fragment else 0,
        newest=asked.address(),
        is_first=is_first,
        live=asked.address(seen=page.mark, newest=items[0].execution_id if items else "") if page and is_first else "",
        more=asked.address(before=page.next) if page and page.next else "",
    )


def by_day(items: Iterable[Item], zone: str) -> list[tuple[str, str, list[Item]]]:
    """Return items of the activity under the days on which they came, in words and as a date, in the stream's order.

    Parameters
    ----------
    zone:
        The IANA zone whose days they are.
    """
    today = datetime.fromtimestamp(now_ms() / 1000, ZoneInfo(zone)).date()
    words = {today: _("Today"), today - timedelta(days=1): _("Yesterday")}
    days = groupby(items, lambda item: to_datetime(_came_at(item)).astimezone(ZoneInfo(zone)).date())
    return [(words.get(day, day.isoformat()), day.isoformat(), list(of_day)) for day, of_day in days]


def _came_at(item: Item) -> int:
    """Return when an item's event occurred, within its slot: a source may date it back by years."""
    end = slot_end(item.position.slot)
    return min(max(item.occurred_at, end - SLOT_MINUTES * 60_000), end - 1)


def _by_name(names: Mapping[str, str]) -> list[tuple[str, str]]:
    return sorted(names.items(), key=lambda item: (item[1].casefold(), item[0]))


def _count_new(items: Iterable[Item], newest: str) -> int:
    """Return how many items there are before the one that was the newest, all when that is not among them."""
    count = 0
    for item in items:
        if item.execution_id == newest:
            return count
        count += 1
    return count
