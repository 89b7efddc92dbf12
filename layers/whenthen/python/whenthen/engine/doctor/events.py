"""Events and executions that do not lead to each other, and executions without an applet."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import batched

from whenthen.clock import Deadline
from whenthen.engine.doctor.findings import Finding, Item, Practice
from whenthen.engine.doctor.slots import set_aside
from whenthen.engine.identity import ExecutionIdParts, parse_execution_id
from whenthen.engine.runs import trigger_service
from whenthen.engine.worker import BATCH
from whenthen.store.applets import find_applet, read_applets
from whenthen.store.digests import find_digests
from whenthen.store.doctor import (
    EventHead,
    ExecutionHead,
    list_erased,
    list_executions,
    list_logged,
    page_events,
    restore_event,
    restore_unknown,
)
from whenthen.store.errors import GuardFailed, MissingTable
from whenthen.store.events import read_events
from whenthen.store.executions import WAITING, State, find_execution
from whenthen.store.log import find_logged
from whenthen.store.progress import Progress
from whenthen.store.slots import list_slots
from whenthen.store.statements import MAX_SELECTS
from whenthen.store.triggers import find_trigger

READ_SECONDS = 60.0
"""How long events are read: some two million of them."""

_WORK_SECONDS = 60.0
_TIMEOUT_SECONDS = 10.0
_LOST = "The database has lost this execution. Whether its actions were done is not known."


@dataclass(slots=True)
class Named:
    """The executions that recent events name, by id, with their events; and how far the events were read, 0 to 1."""

    executions: dict[str, EventHead] = field(default_factory=dict)
    share: float = 1.0


def read_named(practice: Practice, since: int) -> Named:
    """Return what the events name that were received since an instant, epoch milliseconds.

    All events have to be read for that. Their ids are hashes, so the last one that was read tells how many are left.
    """
    named = Named()
    deadline = Deadline(READ_SECONDS)
    for page in page_events(practice.history.hot, since):
        for event in page:
            named.executions |= dict.fromkeys(event.execution_ids, event)
        if deadline.left() == 0:
            named.share = int(page[-1].event_id[:8], 16) / 16**8
            break
    return named


def read_executions(practice: Practice) -> dict[str, ExecutionHead]:
    """Return all executions that are not in the log, by id."""
    hot = practice.history.hot
    found: dict[str, ExecutionHead] = {}
    # In the order in which an execution moves, so that none is missed while it does.
    for slot in (row.slot for row in list_slots(hot) if not row.is_batch):
        found |= {row.execution_id: row for row in list_executions(hot, slot)}
    found |= {row.execution_id: row for row in list_executions(hot, WAITING)}
    for batch in (row.slot for row in list_slots(hot) if row.is_batch):
        found |= {row.execution_id: row for row in list_executions(hot, batch)}
    return found


def lost_executions(practice: Practice, named: Named, executions: Mapping[str, ExecutionHead]) -> Iterator[Finding]:
    """Find events that name executions that are nowhere. Not while rows of the log are set aside."""
    erased = list_erased(practice.history.hot)
    by_slot: dict[str, list[str]] = defaultdict(list)
    for execution_id in named.executions.keys() - executions.keys():
        if (parts := _parts(execution_id)) is not None:
            by_slot[parts.slot].append(execution_id)
    suspects = []
    for slot, ids in sorted(by_slot.items()):
        logged = list_logged(practice.history.log, slot)
        suspects += [execution_id for execution_id in sorted(ids) if execution_id not in logged]
    # What an erasing sets aside is hidden meanwhile. One that hides the same rows at both looks is under way between
    # them too.
    if set_aside(practice.history):
        return
    lost: list[ExecutionHead] = []
    helpless: list[str] = []
    for execution_id in suspects:
        event = named.executions[execution_id]
        owner = _owner(practice, event, execution_id)
        # What is erased is in the log no more.
        if owner in erased or not _is_nowhere(practice, execution_id):
            continue
        if owner is None:
            helpless.append(execution_id)
            continue
        applet_id = parse_execution_id(execution_id).applet_id
        lost.append(
            ExecutionHead(
                execution_id, applet_id, owner, event.occurred_at, State.UNKNOWN, None, has_ingredients=False, place=""
            )
        )
    if set_aside(practice.history):
        return
    if lost:
        yield Finding(
            "events whose executions are lost",
            tuple(Item(row.execution_id, f"of applet {row.applet_id}") for row in lost),
            "The event was accepted, and nobody can say whether its actions were done. A backup of the history that is "
            "older than the database does this, and so does a server with max_concurrency over 1: `whenthen db check`.",
            "Stores each as `unknown`: its owner sees it, looks at the target, and may run it again.",
            partial(_restore, practice, lost),
        )
    if helpless:
        yield Finding(
            "events whose executions and owners are lost",
            tuple(
                Item(execution_id, "neither its trigger nor its applet is in the database") for execution_id in helpless
            ),
            "The event was accepted, and nobody can say for whom, nor whether its actions were done.",
            "By hand: look whether a backup has the trigger.",
        )


def _parts(execution_id: str) -> ExecutionIdParts | None:
    try:
        return parse_execution_id(execution_id)
    except ValueError:
        return None


def _owner(practice: Practice, event: EventHead, execution_id: str) -> str | None:
    if (trigger := find_trigger(practice.history.hot, event.trigger_id)) is not None:
        return trigger.owner_id
    applet = find_applet(practice.history.hot, parse_execution_id(execution_id).applet_id)
    return applet.owner_id if applet is not None else None


def _is_nowhere(practice: Practice, execution_id: str) -> bool:
    """Look once more, by key, in the order in which an execution moves."""
    hot = practice.history.hot
    batches = [row.slot for row in list_slots(hot) if row.is_batch]
    for place in ("", WAITING, *batches):
        try:
            if find_execution(hot, execution_id, place) is not None:
                return False
        except MissingTable:
            continue
    return not find_logged(practice.history.log, execution_id)


def _restore(practice: Practice, lost: Sequence[ExecutionHead]) -> list[str]:
    hot = practice.history.hot
    done = []
    open_slots = {row.slot for row in list_slots(hot) if not row.is_closing}
    for row in lost:
        if not _is_nowhere(practice, row.execution_id):
            continue
        parts = parse_execution_id(row.execution_id)
        applet = find_applet(hot, row.applet_id)
        service = trigger_service(applet) if applet is not None else ""
        progress = Progress(
            reason=_LOST,
            finished_at=practice.now,
            trigger_service=service,
            digest=bool(find_digests(hot, [parts.event_id])),
        )
        try:
            restore_unknown(hot, replace(row, place=parts.slot if parts.slot in open_slots else WAITING), progress)
        except (GuardFailed, MissingTable):
            done.append(f"left: {row.execution_id}, whose slot is being closed; do it again")
            continue
        done.append(f"stored as unknown: {row.execution_id}")
    return done


def lost_events(practice: Practice, named: Named, executions: Mapping[str, ExecutionHead]) -> Iterator[Finding]:
    """Find executions whose event is not in the database."""
    seen = {event.event_id for event in named.executions.values()}
    by_event: dict[str, list[ExecutionHead]] = defaultdict(list)
    for row in executions.values():
        parts = _parts(row.execution_id)
        if parts is not None and parts.event_id not in seen:
            by_event[parts.event_id].append(row)
    known: set[str] = set()
    for ids in batched(sorted(by_event), MAX_SELECTS, strict=False):
        known |= read_events(practice.history.hot, ids, timeout_seconds=_TIMEOUT_SECONDS).keys()
    lost = {event_id: rows for event_id, rows in by_event.items() if event_id not in known}
    whole = {event_id: rows for event_id, rows in lost.items() if any(row.has_ingredients for row in rows)}
    why = "Where it arrives once more, nobody knows that it has been there, and its actions are done twice."
    if whole:
        yield Finding(
            "executions whose event is lost",
            tuple(_execution_items(whole.values())),
            why,
            "Stores the event again, with what its executions know of it.",
            partial(_restore_events, practice, whole),
        )
    if len(whole) < len(lost):
        yield Finding(
            "executions whose event is lost with what it carried",
            tuple(_execution_items(rows for event_id, rows in lost.items() if event_id not in whole)),
            f"{why} Those that have not run yet can't, and will say so.",
            "By hand: look whether a backup has it; what it carried can't be made up.",
        )


def _execution_items(groups: Iterable[Sequence[ExecutionHead]]) -> Iterator[Item]:
    return (Item(row.execution_id, f"{row.state}, of applet {row.applet_id}") for rows in groups for row in rows)


def _restore_events(practice: Practice, lost: Mapping[str, Sequence[ExecutionHead]]) -> list[str]:
    done = []
    for event_id, heads in lost.items():
        keeper = next(row for row in heads if row.has_ingredients)
        try:
            row = find_execution(practice.history.hot, keeper.execution_id, keeper.place)
        except MissingTable:
            row = None
        if row is None:
            done.append(f"left: the event {event_id}, whose executions have moved; do it again")
            continue
        applet = find_applet(practice.history.hot, row.applet_id)
        event = EventHead(
            event_id,
            applet.trigger_id if applet is not None else "",
            row.occurred_at,
            tuple(sorted(head.execution_id for head in heads)),
        )
        restore_event(practice.history.hot, event, received_at=practice.now, ingredients=row.ingredients)
        done.append(f"stored again: the event {event_id}")
    return done


def lost_applets(practice: Practice, executions: Mapping[str, ExecutionHead]) -> Iterator[Finding]:
    """Find executions that have still to run and whose applet is not in the database."""
    open_rows = [row for row in executions.values() if row.wake_at is not None]
    applet_ids = sorted({row.applet_id for row in open_rows})
    known: set[str] = set()
    for ids in batched(applet_ids, MAX_SELECTS, strict=False):
        known |= read_applets(practice.history.hot, ids, timeout_seconds=_TIMEOUT_SECONDS).keys()
    lost = [row for row in open_rows if row.applet_id not in known]
    if lost:
        yield Finding(
            "executions without an applet",
            tuple(_execution_items([lost])),
            "Nobody can say any more what they should do. An applet that is deleted stays in the database; these are "
            "lost.",
            "Lets the worker end those that are due as skipped; the others are ended when they are due. The applet "
            "itself comes back from a backup alone.",
            partial(_end, practice, [row.execution_id for row in lost]),
        )


def _end(practice: Practice, execution_ids: Sequence[str]) -> list[str]:
    for ids in batched(execution_ids, BATCH, strict=False):
        practice.worker.run(ids, Deadline(_WORK_SECONDS))
    return [f"given to the worker: {execution_id}" for execution_id in execution_ids]
