"""What the poller should have done long ago: claims whose worker has died, slots that do not close, rows set aside."""

from collections.abc import Iterator, Mapping
from functools import partial

from whenthen.clock import Deadline, isoformat
from whenthen.engine.closer import close_slots
from whenthen.engine.doctor.findings import LATE_MS, Finding, Item, Practice
from whenthen.engine.sweep import sweep
from whenthen.store.closing import count_rows
from whenthen.store.doctor import ExecutionHead, count_loaded
from whenthen.store.erasing import DETAILS, FACTS, finish_erasing
from whenthen.store.errors import MissingTable
from whenthen.store.executions import State
from whenthen.store.history import History
from whenthen.store.loads import COMPLETE
from whenthen.store.slots import CLOSE_AFTER_MS, SlotRow, list_slots, slot_end
from whenthen.store.tables import list_tables

_CLOSING_SECONDS = 60.0
_NO_POLLER = "The poller does it every minute: either it does not run or its ticks fail, and its log says why."


def stuck_claims(practice: Practice, executions: Mapping[str, ExecutionHead]) -> Iterator[Finding]:
    """Find executions whose worker's lease has run out and that no sweep has taken."""
    items = tuple(
        Item(row.execution_id, f"its worker's lease ran out at {isoformat(row.wake_at)}")
        for row in executions.values()
        if row.state == State.RUNNING and row.wake_at is not None and row.wake_at + LATE_MS <= practice.now
    )
    if items:
        yield Finding(
            "claims of workers that are gone",
            items,
            f"These executions have stopped on their way, and their slots can't be closed. {_NO_POLLER}",
            "Sweeps once, as the poller does: what has sent nothing is queued again, what may have is `unknown`.",
            partial(_sweep, practice),
        )


def _sweep(practice: Practice) -> list[str]:
    count = sweep(practice.history.hot, practice.wakeups, practice.now)
    return [f"swept: {count} executions were overdue"]


def stuck_slots(practice: Practice, executions: Mapping[str, ExecutionHead]) -> Iterator[Finding]:
    """Find slots that should have been closed, and say what keeps each."""
    items = []
    for row in list_slots(practice.history.hot):
        end = row.opened_at if row.is_batch else slot_end(row.slot) + CLOSE_AFTER_MS
        if end + LATE_MS <= practice.now:
            items.append(Item(row.slot, _what_keeps(practice.history, row, executions)))
    if items:
        yield Finding(
            "slots that should be closed",
            tuple(items),
            f"The database grows, each sweep reads them, and the history lacks what they hold. {_NO_POLLER}",
            "Closes what can be closed, as the poller does; what then is left says what keeps it.",
            partial(_close, practice),
        )


def _close(practice: Practice) -> list[str]:
    count = close_slots(practice.history, practice.now, Deadline(_CLOSING_SECONDS))
    return [f"closed: {count} slots"]


def _what_keeps(history: History, row: SlotRow, executions: Mapping[str, ExecutionHead]) -> str:
    try:
        rows = count_rows(history.hot, row.slot)
    except MissingTable:
        return "its table is gone, and its row was left behind"
    running = sum(
        head.place == row.slot and head.state == State.RUNNING and head.wake_at is not None
        for head in executions.values()
    )
    if running:
        return f"{running} of its {rows} executions are held by workers"
    if not row.is_closing:
        return f"nobody has begun to close it; it has {rows} executions"
    loaded, upto = count_loaded(history.log, row) or (0, "")
    if upto == COMPLETE:
        return f"all its {rows} executions are in the log, and its table has not been dropped"
    if loaded > rows:
        return (
            f"{loaded} executions were loaded into the log and its table has {rows} by now: the database has lost some "
            "of them. By hand: compare the two"
        )
    return f"{loaded} of its {rows} executions are in the log"


def rows_aside(practice: Practice) -> Iterator[Finding]:
    """Find rows of the history that an erasing has set aside and not put back."""
    names = set_aside(practice.history)
    if names:
        yield Finding(
            "rows that are set aside",
            tuple(Item(name, "holds rows of a day or a month that nobody sees meanwhile") for name in names),
            "An erasing has broken off, or is under way right now. Until it is ended the history lacks these rows.",
            "Puts them back. The poller does so at the thirteenth minute of each hour.",
            partial(_put_back, practice.history, len(names)),
        )


def _put_back(history: History, count: int) -> list[str]:
    finish_erasing(history)
    return [f"put back: {count} tables"]


def set_aside(history: History) -> list[str]:
    """Return the names of the tables in which rows stand aside."""
    names = list_tables(history.log)
    return [name for name in names if any(kind.pattern.fullmatch(name) for kind in (DETAILS, FACTS))]
