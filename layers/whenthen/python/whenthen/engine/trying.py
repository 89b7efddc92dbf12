"""A dry run: what an applet would do with some ingredients. Nothing is sent, asked or stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from whenthen.clock import Deadline, now_ms
from whenthen.engine.actions import action_of, prepare, prepare_query, query_of
from whenthen.engine.attempts import describe_request
from whenthen.engine.connections.errors import ConnectionUnusable
from whenthen.engine.delays import ends_at
from whenthen.engine.gates import filtered
from whenthen.engine.masking import secrets_of
from whenthen.engine.runs import Run
from whenthen.errors import FieldError
from whenthen.model.applet import ActionRef, Applet, QueryRef, query_name
from whenthen.services.contract import Action, Fields, Query
from whenthen.services.registry import find_trigger
from whenthen.services.work import AddRow, Ask, Collect, FindRows, Notify, Send, Steps, Work
from whenthen.store.progress import Progress

if TYPE_CHECKING:
    from whenthen.engine.connections.accounts import Accounts

_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Tried:
    """What a query or an action would do.

    `sends` is plain JSON: a request as an attempt shows it, secrets masked, or what would be stored. It is None when
    it can't be done, and then `error` says why, naming the field. `due_at` is when its delay would end, epoch
    milliseconds.
    """

    service: str
    name: str
    sends: dict[str, Any] | None = None
    error: str = ""
    notes: tuple[str, ...] = ()
    due_at: int | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """What an applet would do. `ends` is why its actions would not run at all, empty when they would."""

    ingredients: dict[str, Any]
    queries: tuple[Tried, ...]
    ends: str
    notes: tuple[str, ...]
    actions: tuple[Tried, ...]


def try_applet(accounts: "Accounts", owner_id: str, applet: Applet, given: Mapping[str, Any], zone: str) -> Trial:
    """Return what the applet would do.

    Parameters
    ----------
    given:
        Ingredients; those that are left out have the samples of the applet's trigger. The rows of a query go by its
        name; without them it is as if it had answered one row of samples.
    zone:
        The owner's IANA time zone.

    Raises
    ------
    StoreError
        The database can't be asked for a connection.
    """
    run = Run(
        execution_id="try",
        owner_id=owner_id,
        claim="",
        applet=applet,
        event={},
        occurred_at=now_ms(),
        step=0,
        tries=1,
        attempts=[],
        kept=Progress(),
        zone=zone,
    )
    trigger = find_trigger(applet.trigger.service, applet.trigger.trigger)
    run.event = {ingredient.slug: ingredient.sample for ingredient in trigger.ingredients} if trigger else {}
    run.event.update(given)
    queries = []
    for reference in applet.queries:
        queries.append(_try_query(accounts, run, reference))
        rows = given.get(query_name(applet, len(run.kept.answers)))
        run.answered(rows if isinstance(rows, list) else _sample_rows(reference))
    ended = filtered(run)
    run.pass_on()
    actions = []
    for action in applet.actions:
        actions.append(_try_action(accounts, run, action))
        run.next_action()
    return Trial(run.ingredients, tuple(queries), ended[1] if ended else "", tuple(run.notes), tuple(actions))


def _try_query(accounts: "Accounts", run: Run, reference: QueryRef) -> Tried:
    try:
        account = _account(accounts, run, query_of(reference), reference.connection)
        prepared = prepare_query(run, reference, account)
    except (FieldError, ConnectionUnusable) as error:
        return Tried(reference.service, reference.query, error=str(error))
    sends = _shown(prepared.work, secrets_of(account))
    return Tried(reference.service, reference.query, sends, notes=prepared.notes)


def _try_action(accounts: "Accounts", run: Run, reference: ActionRef) -> Tried:
    try:
        due_at = ends_at(reference.delay, run.ingredients, run.zone, now_ms()) if reference.delay else None
        account = _account(accounts, run, action_of(reference), reference.connection)
        prepared = prepare(run, account)
    except (FieldError, ConnectionUnusable) as error:
        return Tried(reference.service, reference.action, error=str(error))
    sends = _shown(prepared.work, secrets_of(account))
    return Tried(reference.service, reference.action, sends, notes=prepared.notes, due_at=due_at)


def _account(accounts: "Accounts", run: Run, part: Action[Any] | Query[Any], connection: str | None) -> Fields | None:
    if connection is None:
        if part.connects and not part.may_connect:
            raise FieldError("connection", "is missing")
        return None
    return accounts.peek(run.owner_id, connection, part.connects, Deadline(_SECONDS)).fields


def _sample_rows(reference: QueryRef) -> list[dict[str, str]]:
    try:
        return [{ingredient.slug: ingredient.sample for ingredient in query_of(reference).ingredients}]
    except FieldError:
        return []


def _shown(work: Work | Ask | FindRows, secrets: Sequence[str]) -> dict[str, Any]:
    match work:
        case Send() | Steps() | Ask():
            return describe_request(work.request, secrets)
        case Notify():
            return {"title": work.title, "message": work.body, "link": work.link}
        case AddRow():
            return {"table": work.table, "values": dict(work.values)}
        case Collect():
            return {"to": work.to, "subject": work.subject, "entry": dict(work.entry)}
        case FindRows():
            return {"table": work.table, "column": work.column, "value": work.value, "limit": work.limit}
