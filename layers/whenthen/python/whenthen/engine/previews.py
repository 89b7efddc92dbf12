"""A look at a trigger before its applet is stored: when it will run, or what its source shows. Nothing is stored."""

import json
from dataclasses import dataclass

from whenthen.clock import Deadline
from whenthen.engine.checks import Checks
from whenthen.engine.drafts import check_trigger
from whenthen.engine.found import new_event, storable_note
from whenthen.engine.identity import canonical_json, identity_of
from whenthen.errors import FieldError
from whenthen.model.applet import TriggerRef
from whenthen.services.checking import CheckFailed, Found
from whenthen.services.registry import find_trigger
from whenthen.services.schedules.fields import ClockFields
from whenthen.services.schedules.slots import upcoming
from whenthen.store.database import Database
from whenthen.store.triggers import TriggerRow

MAX_SHOWN = 5
"""How many runs or items are shown."""

_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Seen:
    """An item of a source: when it occurred, epoch milliseconds, and its ingredients by slug."""

    occurred_at: int
    ingredients: dict[str, str]


@dataclass(frozen=True, slots=True)
class Preview:
    """What there is to see of a trigger. All of it is empty when events arrive by themselves.

    Parameters
    ----------
    next_runs:
        The next runs of a schedule, epoch milliseconds; at most `MAX_SHOWN`.
    zone:
        The IANA time zone that a schedule's times are in.
    words:
        When a schedule runs, in words, if its fields don't say it themselves.
    is_checked:
        Whether a source was asked.
    items:
        The newest that the source shows, newest first; at most `MAX_SHOWN`.
    count:
        How many it shows.
    title:
        What the source calls itself.
    note:
        Words about the source, for example that it is not well-formed.
    failure:
        Why the source can't be read, with the path of the field to blame.
    may_pass:
        Whether the failure is one of now: an applet is made all the same, and its checks begin later.
    """

    next_runs: tuple[int, ...] = ()
    zone: str = ""
    words: str = ""
    is_checked: bool = False
    items: tuple[Seen, ...] = ()
    count: int = 0
    title: str = ""
    note: str = ""
    failure: FieldError | None = None
    may_pass: bool = False


def preview(
    database: Database, checks: Checks, owner_id: str, trigger: TriggerRef, *, now: int, language: str = "en"
) -> Preview:
    """Look at a trigger of the owner's; its source is asked once, for at most ten seconds.

    Parameters
    ----------
    trigger:
        With its fields as the owner has written them.
    now:
        Epoch milliseconds.
    language:
        Of the words for a schedule, ``en`` or ``ja``.

    Raises
    ------
    FieldErrors
        The trigger can't be used, see `check_trigger`.
    StoreError
        The owner's own data can't be read now.
    """
    trigger = check_trigger(database, owner_id, trigger)
    definition = find_trigger(trigger.service, trigger.trigger)
    if definition is None or definition.check is None:
        return Preview()
    if issubclass(definition.fields, ClockFields):
        schedule = definition.fields.model_validate(trigger.fields)
        runs = tuple(upcoming(schedule, now, MAX_SHOWN))
        return Preview(next_runs=runs, zone=schedule.zone, words=schedule.words(language))
    return _ask(checks, owner_id, trigger, now)


def _ask(checks: Checks, owner_id: str, trigger: TriggerRef, now: int) -> Preview:
    identity = identity_of(owner_id, trigger)
    fields = canonical_json(trigger.fields)
    row = TriggerRow(identity, owner_id, trigger.service, trigger.trigger, fields, (), 0, trigger.connection)
    try:
        found = checks.look(row, now, Deadline(_SECONDS))
    except CheckFailed as error:
        path = f"trigger.fields.{error.field}" if error.field else "trigger.fields"
        return Preview(is_checked=True, failure=FieldError(path, storable_note(str(error))), may_pass=error.temporary)
    return _shown(found)


def _shown(found: Found) -> Preview:
    # As an event would have them.
    events = [new_event("", item) for item in reversed(found.items[-MAX_SHOWN:])]
    return Preview(
        is_checked=True,
        items=tuple(Seen(event.occurred_at, json.loads(event.ingredients)) for event in events),
        count=len(found.items),
        title=storable_note(found.title),
        note=storable_note(found.note),
    )
