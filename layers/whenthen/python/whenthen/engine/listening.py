"""Who listens to a trigger, kept in step with applets in the same script, and where checks begin for them."""

from whenthen.clock import Deadline, now_ms
from whenthen.engine.checker import Beginning
from whenthen.engine.checks import Checks
from whenthen.engine.identity import canonical_json
from whenthen.errors import FieldError
from whenthen.model.applet import Applet
from whenthen.services.checking import CheckFailed
from whenthen.services.registry import find_trigger
from whenthen.store import checks as check_store
from whenthen.store.applets import AppletRow
from whenthen.store.database import Database
from whenthen.store.errors import GuardFailed
from whenthen.store.events import remember_events
from whenthen.store.statements import Script
from whenthen.store.triggers import TriggerRow, guard, insert_trigger, set_listeners
from whenthen.store.triggers import find_trigger as find_trigger_row
from whenthen.store.units import run_unit

MAX_LISTENERS = 60
"""The most applets of one owner with the same trigger: all their executions go into one script (ALOPEX.md 3)."""

_TIMEOUT_SECONDS = 10.0
_ASK_SECONDS = 15.0
_SEEN_IN_SCRIPT = 1000


def make_trigger(database: Database, row: AppletRow, applet: Applet, checks: Checks | None) -> None:
    """Make sure that the applet's trigger has a row. One without listeners does no harm."""
    script = Script()
    add_trigger(script, row, applet, checks)
    run_unit(lambda: database.execute(script.sql), deadline=Deadline(_TIMEOUT_SECONDS), repeatable=True)


def add_trigger(script: Script, row: AppletRow, applet: Applet, checks: Checks | None) -> None:
    """Add to `script` that the applet's trigger has a row; may be done again."""
    reference = applet.trigger
    fields = canonical_json(reference.fields)
    trigger = TriggerRow(
        row.trigger_id, row.owner_id, reference.service, reference.trigger, fields, (), 0, reference.connection
    )
    insert_trigger(script, trigger)
    definition = find_trigger(reference.service, reference.trigger)
    if definition is not None and definition.check is not None:
        host = checks.host(trigger) if checks is not None else ""
        check_store.insert_check(script, row.trigger_id, offline=definition.offline, host=host)


def catch_up(database: Database, row: AppletRow, checks: Checks | None, *, must_work: bool) -> Beginning | None:
    """Bring a trigger that is checked up to date before an applet begins to listen: it gets what comes after now.

    What the source shows already goes to those who listen already. If nobody does, it goes to nobody.

    Parameters
    ----------
    row:
        The applet as it will be.
    must_work:
        Whether a source that can't be read is an error, unless it is only out of order for now. Otherwise a later
        check is the first.

    Returns
    -------
    Beginning | None
        Where checks begin if nobody listens yet; None for the next tick to find out.

    Raises
    ------
    FieldError
        The source can't be read, and must be.
    """
    trigger = _trigger_of(database, row)
    if checks is None or not _is_checked(trigger) or row.applet_id in trigger.listeners:
        return None
    if row.enabled and trigger.listeners:
        deadline = Deadline(_ASK_SECONDS)
        # Again while there is more than one check lets fire: all of it is of before.
        while (report := checks.check_now(trigger.trigger_id, deadline)) is not None and report.waiting:
            pass
        return None
    if not row.enabled and not must_work:
        return None
    try:
        return checks.begin(trigger, Deadline(_ASK_SECONDS))
    except CheckFailed as error:
        if must_work and not error.temporary:
            path = f"trigger.fields.{error.field}" if error.field else "trigger.fields"
            raise FieldError(path, str(error)) from error
        return checks.begin_later(trigger, error)


def listen(
    database: Database, script: Script, row: AppletRow, beginning: Beginning | None, checks: Checks | None
) -> None:
    """Add to `script` that the applet listens to its trigger exactly when it is on.

    Parameters
    ----------
    beginning:
        What `catch_up` returned.

    Raises
    ------
    FieldError
        `MAX_LISTENERS` listen already.
    GuardFailed
        Since `catch_up` looked the first one has begun to listen, or the last one has stopped: look again.
    """
    trigger = _trigger_of(database, row)
    if row.enabled and checks is not None and _is_checked(trigger) and row.applet_id not in trigger.listeners:
        if bool(trigger.listeners) != (beginning is None):
            raise GuardFailed("listeners")
        if beginning is not None:
            _remember(database, trigger, beginning)
    others = tuple(listener for listener in trigger.listeners if listener != row.applet_id)
    if row.enabled and len(others) >= MAX_LISTENERS:
        raise FieldError("trigger", f"{MAX_LISTENERS} applets that are on have this trigger already; that is the most")
    _set(script, trigger, (*others, row.applet_id) if row.enabled else others, beginning)


def stop_listening(database: Database, script: Script, row: AppletRow) -> None:
    """Add to `script` that the applet does not listen to its trigger any more."""
    trigger = _trigger_of(database, row)
    _set(script, trigger, tuple(listener for listener in trigger.listeners if listener != row.applet_id), None)


def _set(script: Script, trigger: TriggerRow, listeners: tuple[str, ...], beginning: Beginning | None) -> None:
    set_listeners(script, trigger, listeners)
    if not _is_checked(trigger):
        return
    if not listeners:
        check_store.stop(script, trigger.trigger_id)
    elif not trigger.listeners:
        check_store.start(
            script,
            trigger.trigger_id,
            position=beginning.position if beginning else "",
            next_check_at=beginning.next_check_at if beginning else now_ms(),
            checked_at=beginning.checked_at if beginning else None,
            failures=beginning.failures if beginning else 0,
            result=beginning.result if beginning else "",
        )


def _remember(database: Database, trigger: TriggerRow, beginning: Beginning) -> None:
    """Store what the source shows already as seen, before anybody listens; refused as soon as somebody does."""
    ids = list(beginning.seen)
    for start in range(0, len(ids), _SEEN_IN_SCRIPT):
        script = Script()
        seen = {event_id: beginning.seen[event_id] for event_id in ids[start : start + _SEEN_IN_SCRIPT]}
        remember_events(script, trigger.trigger_id, seen, now_ms())
        guard(script, trigger)
        database.execute(script.sql)


def _is_checked(trigger: TriggerRow) -> bool:
    definition = find_trigger(trigger.service, trigger.trigger)
    return definition is not None and definition.check is not None


def _trigger_of(database: Database, row: AppletRow) -> TriggerRow:
    trigger = find_trigger_row(database, row.trigger_id)
    if trigger is None:
        # Made before, and never deleted: only a lost write does this. Read again.
        raise GuardFailed("trigger_id")
    return trigger
