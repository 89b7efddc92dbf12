"""Digests: mails that collect (R5). Each entry comes in one mail, and each mail is sent by one execution.

The first entry of a mail makes it, together with the execution that will send it and that execution's event, in one
script. That execution is due when the mail is. When it is claimed the mail is closed, so that all that was collected is
sent and whatever comes later is collected for the next one.
"""

import json
from dataclasses import dataclass, replace

from whenthen.clock import Deadline, isoformat, now_ms
from whenthen.engine.identity import event_id, execution_id, idempotency_key, parse_execution_id
from whenthen.engine.runs import Run
from whenthen.model.applet import ActionRef, Applet, TriggerRef
from whenthen.services.email_digest.letters import MAX_LISTED, letter_fields
from whenthen.services.schedules.slots import Slot
from whenthen.services.work import Collect, Meaning, Reading
from whenthen.store import digests as store
from whenthen.store.database import Database
from whenthen.store.errors import Conflict, Duplicate, GuardFailed, MissingTable
from whenthen.store.events import EventRow, reserve_event
from whenthen.store.executions import ExecutionRow, State
from whenthen.store.reservations import NewExecution, reserve_executions
from whenthen.store.slots import open_slot, slot_at
from whenthen.store.statements import Script
from whenthen.store.units import run_unit

_TRIGGER = TriggerRef(service="email_digest", trigger="due")


class _Closed(Exception):
    """The mail is being sent, or was."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where an entry comes from: an action of an owner's applet. `connection` is the account that sends the mail."""

    owner_id: str
    applet_id: str
    connection: str
    key: str

    @classmethod
    def of(cls, run: Run) -> "Source":
        """Return the run's next action as a source."""
        return cls(
            owner_id=run.owner_id,
            applet_id=parse_execution_id(run.execution_id).applet_id,
            connection=run.action.connection or "",
            key=idempotency_key(run.execution_id, run.step),
        )


def collect(database: Database, source: Source, work: Collect, deadline: Deadline) -> Reading:
    """Keep an entry for the next mail that is not closed yet, once for the source's key.

    Raises
    ------
    StoreError
        The database can't do it now; it may be asked again.
    """
    after = now_ms()
    while (slot := work.schedule.next_slot(after)) is not None:
        collecting = _Collecting(database, source, work, slot, deadline)
        try:
            run_unit(collecting.unit, deadline=deadline, repeatable=True)
        except _Closed:
            after = slot.at
            continue
        return Reading(Meaning.SUCCEEDED)
    return Reading(Meaning.FAILED, "There is no time at which this could be sent.")


class _Collecting:
    def __init__(self, database: Database, source: Source, work: Collect, slot: Slot, deadline: Deadline) -> None:
        self._database = database
        self._source = source
        self._work = work
        self._slot = slot
        self._deadline = deadline
        # The account and the applet too: two applets' entries are never in one mail.
        trigger = json.dumps(["digest", source.owner_id, source.applet_id, source.connection, work.identity])
        self._digest_id = event_id(trigger, slot.key)

    def unit(self) -> None:
        """Add the entry, to a new mail if need be. May run again."""
        try:
            if not self._add(Script()):
                self._add(self._opening())
        except GuardFailed as error:
            raise _Closed from error
        except Duplicate as error:
            if error.columns == ("entry_key",):
                return
            # Another entry has made the mail meanwhile.
            raise Conflict from error

    def _add(self, script: Script) -> bool:
        now = now_ms()
        try:
            return store.add_entry(
                self._database,
                script,
                self._digest_id,
                key=self._source.key,
                entry=json.dumps(dict(self._work.entry), ensure_ascii=False),
                timeout_seconds=self._deadline.left(),
            )
        except MissingTable:
            open_slot(self._database, slot_at(now), now, timeout_seconds=self._deadline.left())
            raise Conflict from None

    def _opening(self) -> Script:
        now = now_ms()
        due_at = self._slot.at
        sending_id = execution_id(slot_at(now), self._digest_id, self._source.applet_id)
        shown = json.dumps({"Subject": self._work.subject, "DueAt": isoformat(due_at)}, ensure_ascii=False)
        contents = {"to": self._work.to, "subject": self._work.subject, "connection": self._source.connection}
        script = Script()
        store.open_digest(
            script,
            store.DigestRow(
                self._digest_id,
                self._source.owner_id,
                sending_id,
                due_at,
                contents=json.dumps(contents, ensure_ascii=False),
            ),
        )
        # It comes of no trigger's check.
        reserve_event(script, EventRow(self._digest_id, "", now, now, (sending_id,), shown))
        reserve_executions(
            script,
            [NewExecution(sending_id, self._source.applet_id, now, shown, digest=True)],
            owner_id=self._source.owner_id,
            now=due_at,
            wake_at=due_at,
        )
        return script


@dataclass(frozen=True, slots=True)
class Collected:
    """A closed digest and the entries that its mail lists, JSON texts."""

    row: store.DigestRow
    entries: list[str]


def close(database: Database, digest_id: str, *, timeout_seconds: float) -> Collected | None:
    """Let nothing into the digest any more and return it; None when it is not in the database. May be done again.

    Raises
    ------
    StoreError
        See `store.errors`.
    """
    row = store.close_digest(database, digest_id, timeout_seconds=timeout_seconds)
    if row is None:
        return None
    numbers = range(1, min(row.collected, MAX_LISTED) + 1) if row.contents else ()
    return Collected(row, store.read_entries(database, digest_id, numbers, timeout_seconds=timeout_seconds))


def begin_digest(execution: ExecutionRow, collected: Collected | None) -> Run | tuple[State, str]:
    """Return the run that sends a digest, or the final state and the reason why there is none.

    It is that of an applet with one action. What was collected is sent, whatever has become of the applet since.
    """
    if collected is None:
        return State.FAILED, "The digest is not in the database."
    if not collected.row.contents:
        return State.FAILED, "What was collected has been erased."
    contents = json.loads(collected.row.contents)
    entries = [json.loads(entry) for entry in collected.entries]
    fields, ingredients = letter_fields(contents["to"], entries, collected.row.collected)
    applet = Applet(
        name=f"Digest: {contents['subject']}"[:200],
        trigger=_TRIGGER,
        actions=(ActionRef(service="email", action="send_email", fields=fields, connection=contents["connection"]),),
    )
    progress = execution.progress
    return Run(
        execution_id=execution.execution_id,
        owner_id=execution.owner_id,
        claim=execution.claim,
        applet=applet,
        event={"Subject": contents["subject"], **ingredients},
        occurred_at=collected.row.due_at,
        step=progress.step,
        tries=progress.tries,
        attempts=list(progress.attempts),
        # There is no filter, and no cool-down.
        kept=replace(progress, passed=True),
        place=execution.place,
    )


def collecting_with(database: Database, owner_id: str, connection: str) -> list[str]:
    """Return the subjects of the owner's mails that still collect and are sent by this connection."""
    rows = [row for row in store.list_owned(database, owner_id) if row.digest_state == "collecting" and row.contents]
    contents = [json.loads(row.contents) for row in rows]
    return [str(content["subject"]) for content in contents if content["connection"] == connection]


def erase_digests(database: Database, owner_id: str) -> None:
    """Erase all that was collected for an owner; what would send it ends soon. May be done again."""
    now = now_ms()
    for row in store.list_owned(database, owner_id):
        if row.contents:
            store.blank(database, row)
        if row.due_at > now:
            store.bring_forward(database, row.sending_id, now)


def erase_sent(database: Database, event_ids: list[str]) -> None:
    """Erase what was collected in those of the events that are digests. They have been sent."""
    for row in store.find_digests(database, event_ids):
        if row.contents:
            store.blank(database, row)
