"""How the operators' commands print what they have found: plain lines for people, JSON for machines."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from whenthen.clock import isoformat, now_ms
from whenthen.engine.items import Item
from whenthen.queues.depth import Depth
from whenthen.store.doctor import Due

if TYPE_CHECKING:
    # No other command should wait for the worker and the services to be imported.
    from whenthen.engine.doctor import Finding
    from whenthen.engine.status import Server, Status
    from whenthen.store.host import HostReport

_MIB = 1024 * 1024
_GIB = 1024 * _MIB
_SHOWN_ITEMS = 20
_WIDTH = 13


def plain(text: str) -> str:
    """Return the text in one line, without what a terminal would obey: much of it comes from strangers."""
    return "".join(character if character.isprintable() else " " for character in text)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table; its last column is as wide as it wants."""
    lines = [tuple(head), *(tuple(plain(cell) for cell in row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    for line in lines:
        cells = [cell.ljust(width) for cell, width in zip(line[:-1], widths[:-1], strict=True)]
        yield "  ".join([*cells, line[-1]]).rstrip()


def activity(items: Sequence[Item], names: dict[str, str]) -> Iterator[str]:
    """Yield the lines of a page of the stream. `names` are those of applets, by id."""
    return table(
        ("OCCURRED AT", "STATE", "SERVICE", "TRIES", "APPLET", "EXECUTION", "WHY"),
        [
            (
                isoformat(item.occurred_at),
                item.state,
                item.service or "-",
                str(item.attempts),
                names.get(item.applet_id) or item.applet_id,
                item.execution_id,
                "; ".join(filter(None, (item.reason, item.note))),
            )
            for item in items
        ],
    )


def finding(found: "Finding") -> Iterator[str]:
    """Yield the lines about what the doctor has found."""
    yield f"{found.kind}: {len(found.items)}"
    for item in found.items[:_SHOWN_ITEMS]:
        yield f"  {plain(item.identifier)}: {plain(item.words)}"
    if len(found.items) > _SHOWN_ITEMS:
        yield f"  and {len(found.items) - _SHOWN_ITEMS} more"
    yield f"  Why it matters: {found.why}"
    yield f"  With --fix: {found.remedy}" if found.repair else f"  {found.remedy}"


def status(found: "Status") -> Iterator[str]:
    """Yield the lines of the status page."""
    for server in found.servers:
        yield from _server(server)
    if len(found.servers) == 1:
        yield _line("history", "on the same server")
    if (work := found.work) is not None:
        yield _line("slots", f"{work.sizes.slots_open} open, {work.sizes.slots_stuck} stuck")
        yield _line("executions", _due(work.executions))
        late = work.triggers
        since = f", the first since {isoformat(late.oldest)}" if late.oldest is not None else ""
        yield _line("triggers", f"{late.late} late{since}")
        yield _line("dead rows", f"{work.sizes.dead_rows:,}")
    yield _line("intake queue", _intake(found.intake))
    yield ""
    if not found.attention:
        yield "All is well."
        return
    yield "Needs attention:"
    for words in found.attention:
        yield f"  - {plain(words)}"


def _line(name: str, words: str) -> str:
    return f"{name.ljust(_WIDTH)} {plain(words)}"


def _server(server: "Server") -> Iterator[str]:
    version = f"schema {server.schema_version}" if server.schema_version is not None else "can't be asked"
    proved = f"single flight proved at {server.proved_at}" if server.proved_at else "no single-flight proof"
    yield _line(server.name, f"{version}, {proved}" if server.schema_version is not None else version)
    yield _line("", _host(server.host) if server.host is not None else f"no report of its host: {server.no_report}")
    export = server.export
    if export is None:
        yield _line("", "no checkpoint by the poller so far")
    elif export.finished_at is None:
        yield _line("", f"a checkpoint that began at {isoformat(export.started_at)} has not been ended")
    else:
        yield _line("", f"last checkpoint by the poller at {isoformat(export.finished_at)}")


def _host(report: "HostReport") -> str:
    return (
        f"log {report.wal_bytes / report.wal_limit:.0%} of {report.wal_limit / _MIB:.0f} MiB, "
        f"{report.sst_files} table files of {report.sst_bytes / _MIB:.0f} MiB, {report.exports} exports kept, "
        f"{report.disk_free_bytes / _GIB:.1f} GiB of disk free, measured {report.age_seconds:.0f} s ago"
    )


def _due(due: Due) -> str:
    if due.oldest is None:
        return "none due"
    return f"{due.due} due, {due.late} of them late, the oldest since {isoformat(due.oldest)}"


def _intake(depth: Depth | None) -> str:
    if depth is None:
        return "not known; WHENTHEN_INTAKE_QUEUE_URL names it"
    if depth.oldest_at is not None:
        return f"{depth.messages} messages, the oldest since {isoformat(depth.oldest_at)}"
    if not depth.messages:
        return "empty"
    return f"about {depth.messages} messages; since when, ApproximateAgeOfOldestMessage in CloudWatch tells"


def status_json(found: "Status") -> dict[str, Any]:
    """Return the status as plain JSON values; what is not known is null."""
    work = found.work
    return {
        "at": isoformat(now_ms()),
        "servers": [
            {
                "server": server.name,
                "problem": server.problem or None,
                "schema_version": server.schema_version,
                "single_flight_proved_at": server.proved_at or None,
                "host": server.host.model_dump() if server.host is not None else None,
                "no_report": server.no_report or None,
                "checkpoint_began_at": _time(server.export.started_at if server.export else None),
                "checkpoint_ended_at": _time(server.export.finished_at if server.export else None),
            }
            for server in found.servers
        ],
        "slots": {"open": work.sizes.slots_open, "stuck": work.sizes.slots_stuck} if work else None,
        "executions": {"due": work.executions.due, **_late_json(work.executions)} if work else None,
        "triggers": _late_json(work.triggers) if work else None,
        "dead_rows": work.sizes.dead_rows if work else None,
        "intake_queue": (
            {"messages": found.intake.messages, "oldest_at": _time(found.intake.oldest_at)} if found.intake else None
        ),
        "attention": list(found.attention),
    }


def _late_json(due: Due) -> dict[str, Any]:
    return {"late": due.late, "oldest_at": _time(due.oldest)}


def _time(ms: int | None) -> str | None:
    return isoformat(ms) if ms is not None else None
