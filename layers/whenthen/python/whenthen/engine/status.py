"""How everything stands, at a glance, and what somebody has to look after."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from whenthen.clock import isoformat
from whenthen.engine.housekeeping import dangers
from whenthen.engine.sizes import Sizes, measure
from whenthen.errors import WhenthenError
from whenthen.queues.depth import Depth
from whenthen.store.database import Database
from whenthen.store.doctor import Due, count_due, count_due_checks, read_proof
from whenthen.store.errors import MissingTable, NotReady, StoreError
from whenthen.store.executions import WAITING
from whenthen.store.host import Host, HostReport
from whenthen.store.meta import Export, read_export, require_ready
from whenthen.store.migrations import schema_version
from whenthen.store.slots import list_slots

LATE_MS = 5 * 60_000
"""What should have been done so long ago is late, milliseconds: the poller looks every minute."""

MANY_DEAD_ROWS = 100_000
"""As `DeadRowsAlarm` of template.yaml."""

_TIMEOUT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Server:
    """A server: `problem` says why it can't be used, empty when it can.

    `proved_at` is the time of the single-flight proof, as text. `host` is what its host reports, or None, and then
    `no_report` says why. `export` is the last checkpoint that the poller has asked for, or None.
    """

    name: str
    problem: str
    schema_version: int | None
    proved_at: str
    host: HostReport | None
    no_report: str
    export: Export | None


@dataclass(frozen=True, slots=True)
class Work:
    """What is under way in the database."""

    sizes: Sizes
    executions: Due
    triggers: Due


@dataclass(frozen=True, slots=True)
class Status:
    """How everything stands.

    `work` is None when the database can't be asked, `intake` when its queue can't be, or none is known. `attention`
    says what somebody has to look after; nothing when all is well.
    """

    servers: tuple[Server, ...]
    work: Work | None
    intake: Depth | None
    attention: tuple[str, ...]


def read_status(
    databases: Sequence[Database], hosts: Sequence[Host], intake: Callable[[], Depth | None], *, now: int
) -> Status:
    """Return how everything stands. Nothing that can't be asked is an error here: it is said.

    Parameters
    ----------
    databases:
        The database, and that of the history if it is another one.
    hosts:
        Theirs, in the same order.
    intake:
        Looks into the intake queue; None where none is known.
    now:
        Epoch milliseconds.
    """
    attention: list[str] = []
    servers = [_look_at(host, database, databases[0]) for host, database in zip(hosts, databases, strict=True)]
    for server in servers:
        if server.problem:
            attention.append(f"{server.name}: {server.problem}")
        if server.host is None:
            attention.append(f"{server.name}: nobody knows how full its log is: {server.no_report}")
        else:
            attention += [f"{server.name}: {danger}" for danger in dangers(server.host)]
    work = None
    try:
        work = _read_work(databases[0], now)
        attention += _late_work(work)
    except StoreError as error:
        if not servers[0].problem:
            attention.append(f"{servers[0].name}: {error}")
    depth = None
    try:
        depth = intake()
        if depth is not None and depth.oldest_at is not None and depth.oldest_at + LATE_MS <= now:
            attention.append(f"webhooks wait in the intake queue since {isoformat(depth.oldest_at)}")
    except WhenthenError as error:
        attention.append(f"intake queue: {error}")
    return Status(tuple(servers), work, depth, tuple(attention))


def _look_at(host: Host, database: Database, hot: Database) -> Server:
    version, proved_at, problem = None, "", ""
    try:
        version = schema_version(database, timeout_seconds=_TIMEOUT_SECONDS)
        with suppress(MissingTable):
            proved_at = str(read_proof(database, timeout_seconds=_TIMEOUT_SECONDS).get("proved_at", ""))
        require_ready(database, timeout_seconds=_TIMEOUT_SECONDS)
    except NotReady as error:
        problem = str(error)
    except StoreError as error:
        problem = f"can't be asked: {error}"
    report, no_report = None, ""
    try:
        report = host.read_report()
    except StoreError as error:
        no_report = str(error)
    export = None
    with suppress(StoreError):
        export = read_export(hot, host.name)
    return Server(host.name, problem, version, proved_at, report, no_report, export)


def _read_work(hot: Database, now: int) -> Work:
    found = []
    open_slots = [row.slot for row in list_slots(hot) if row.settled_at is None and not row.is_batch]
    for place in (*open_slots, WAITING):
        with suppress(MissingTable):
            found.append(count_due(hot, place, now, now - LATE_MS))
    executions = Due(
        due=sum(due.due for due in found),
        late=sum(due.late for due in found),
        oldest=min((due.oldest for due in found if due.oldest is not None), default=None),
    )
    return Work(measure(hot, now), executions, count_due_checks(hot, now, now - LATE_MS))


def _late_work(work: Work) -> list[str]:
    found = []
    minutes = LATE_MS // 60_000
    if work.executions.late and work.executions.oldest is not None:
        since = isoformat(work.executions.oldest)
        found.append(
            f"executions that are due for more than {minutes} minutes: {work.executions.late}, the oldest since "
            f"{since}. See whether the poller and the worker run"
        )
    if work.triggers.late and work.triggers.oldest is not None:
        since = isoformat(work.triggers.oldest)
        found.append(
            f"triggers that should have been checked more than {minutes} minutes ago: {work.triggers.late}, the first "
            f"at {since}. See whether the poller runs"
        )
    if work.sizes.slots_stuck:
        found.append(f"slots that do not close: {work.sizes.slots_stuck}. `whenthen doctor` says why")
    if work.sizes.dead_rows >= MANY_DEAD_ROWS:
        found.append(f"dead rows: {work.sizes.dead_rows:,}. They slow down every scan: rebuild the database")
    return found
