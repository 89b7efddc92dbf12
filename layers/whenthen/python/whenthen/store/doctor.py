"""What an operator's questions read: whole tables, in pages where they grow. And what puts back that is lost."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from whenthen.store.checks import CheckRow
from whenthen.store.database import DEFAULT_TIMEOUT_SECONDS, Database
from whenthen.store.errors import MissingTable
from whenthen.store.executions import WAITING
from whenthen.store.progress import Progress
from whenthen.store.slots import SlotRow, keep_open
from whenthen.store.statements import Script, load
from whenthen.store.triggers import TriggerRow
from whenthen.store.triggers import from_row as trigger_from_row

_S = load("doctor")
_META = load("meta")
_LOG = load("log")
_ERASING = load("erasing")
_TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Due:
    """How many are due and how many of them are late; `oldest` is since when, epoch milliseconds, or None."""

    due: int
    late: int
    oldest: int | None


@dataclass(frozen=True, slots=True)
class AppletHead:
    """An applet without what it does."""

    applet_id: str
    owner_id: str
    trigger_id: str
    enabled: bool
    deleted_at: int | None

    @property
    def is_on(self) -> bool:
        """Whether it listens to its trigger."""
        return self.enabled and self.deleted_at is None


@dataclass(frozen=True, slots=True)
class ExecutionHead:
    """An execution without what it carries. Fields as in `store.executions.ExecutionRow`."""

    execution_id: str
    applet_id: str
    owner_id: str
    occurred_at: int
    state: str
    wake_at: int | None
    has_ingredients: bool
    place: str


@dataclass(frozen=True, slots=True)
class EventHead:
    """An event without its ingredients; `execution_ids` are empty of one that is older than was asked for."""

    event_id: str
    trigger_id: str
    occurred_at: int
    execution_ids: tuple[str, ...]


def read_proof(database: Database, *, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS) -> dict[str, Any]:
    """Return the single-flight proof as `store.meta` has written it, empty when there is none."""
    script = Script().add(_META["read_meta"], name="single_flight")
    rows = database.execute(script.sql, timeout_seconds=timeout_seconds)
    return dict(json.loads(rows[0]["value"] or "{}")) if rows else {}


def count_due(database: Database, place: str, now: int, late: int) -> Due:
    """Return how many executions of a slot, or of `WAITING`, are due at `now`, and since `late` or longer.

    Raises
    ------
    MissingTable
        The slot is closed.
    """
    row = _ask(database, Script().add(_S["count_due"], place=place, now=now, late=late))[0]
    return Due(row["due"], row["late"] or 0, row["oldest"])


def count_due_checks(database: Database, now: int, late: int) -> Due:
    """Return how many triggers that nobody is checking have been due since `late` or longer."""
    row = _ask(database, Script().add(_S["count_due_checks"], now=now, late=late))[0]
    return Due(row["late"], row["late"], row["oldest"])


def list_applets(database: Database) -> dict[str, AppletHead]:
    """Return all applets, deleted ones too, by id."""
    return {row["applet_id"]: AppletHead(**row) for row in _ask(database, Script().add(_S["list_all_applets"]))}


def list_triggers(database: Database) -> dict[str, TriggerRow]:
    """Return all triggers, by id."""
    return {row["trigger_id"]: trigger_from_row(row) for row in _ask(database, Script().add(_S["list_all_triggers"]))}


def list_checks(database: Database) -> dict[str, CheckRow]:
    """Return how the checking of all triggers stands, by their ids."""
    return {row["check_id"]: CheckRow(**row) for row in _ask(database, Script().add(_S["list_all_checks"]))}


def list_executions(database: Database, place: str) -> Iterator[ExecutionHead]:
    """Yield the executions of a slot, a batch or `WAITING`; none when its table is gone."""
    after = ""
    while True:
        try:
            rows = _ask(database, Script().add(_S["page_executions"], place=place, after=after))
        except MissingTable:
            return
        if not rows:
            return
        yield from (ExecutionHead(**row, place=place) for row in rows)
        after = rows[-1]["execution_id"]


def page_events(database: Database, since: int) -> Iterator[list[EventHead]]:
    """Yield pages of all events, in the order of their ids. A page takes some tenths of a second.

    Parameters
    ----------
    since:
        What was received before has no `execution_ids`, epoch milliseconds.
    """
    after = ""
    while rows := _ask(database, Script().add(_S["page_events"], since=since, after=after)):
        yield [EventHead(**{**row, "execution_ids": tuple(json.loads(row["execution_ids"]))}) for row in rows]
        after = rows[-1]["event_id"]


def list_logged(log: Database, slot: str) -> set[str]:
    """Return the ids of the executions of a slot that are in the log."""
    try:
        rows = _ask(log, Script().add(_S["list_logged"], month=slot[:6], slot=int(slot)))
    except MissingTable:
        return set()
    return {row["execution_id"] for row in rows}


def count_loaded(log: Database, slot: SlotRow) -> tuple[int, str] | None:
    """Return how many rows of a slot's table are loaded, up to which id, or None before its closing."""
    rows = _ask(log, Script().add(_LOG["read_load"], load_id=f"{slot.slot}.{slot.opened_at}"))
    return (int(rows[0]["loaded_rows"]), rows[0]["upto"]) if rows else None


def list_erased(database: Database) -> set[str]:
    """Return the owners whose data is erased, or is to be."""
    return {row["erased_owner_id"] for row in _ask(database, Script().add(_ERASING["list_erasures"]))}


def restore_event(database: Database, event: EventHead, *, received_at: int, ingredients: str) -> None:
    """Store an event that is lost, so that it is known when it arrives again; one that is there stays as it is."""
    script = Script().add(
        _S["restore_event"],
        event_id=event.event_id,
        trigger_id=event.trigger_id,
        occurred_at=event.occurred_at,
        received_at=received_at,
        execution_ids=json.dumps(event.execution_ids),
        ingredients=ingredients,
    )
    database.execute(script.sql)


def restore_unknown(database: Database, execution: ExecutionHead, progress: Progress) -> None:
    """Store a lost execution as `unknown`, in its slot or in `WAITING`; one that is there stays as it is.

    Raises
    ------
    GuardFailed
        Its slot is being closed.
    """
    script = Script().add(
        _S["restore_execution"],
        place=execution.place,
        execution_id=execution.execution_id,
        applet_id=execution.applet_id,
        owner_id=execution.owner_id,
        occurred_at=execution.occurred_at,
        progress=progress.to_json(),
    )
    if execution.place != WAITING:
        keep_open(script, execution.place)
    database.execute(script.sql)


def resume_check(script: Script, check_id: str, now: int) -> None:
    """Add to `script` that a trigger that nobody has checked is due at `now`, and goes on from where it was."""
    script.add(_S["resume_check"], check_id=check_id, now=now)


def _ask(database: Database, script: Script) -> Sequence[Any]:
    return database.execute(script.sql, timeout_seconds=_TIMEOUT_SECONDS)
