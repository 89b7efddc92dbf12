"""Keeping the hosts of the database's servers: an export before a log is full, and words for what becomes dangerous.

A server checkpoints at nothing but an export, while everybody waits; after 512 MiB of writes without one it refuses
every write (ALOPEX.md 9). Each export adds table files that nothing ever merges, so bytes written decide when one is
due, never the clock.
"""

import logging
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from whenthen.clock import Deadline, now_ms
from whenthen.store.database import Database
from whenthen.store.errors import GuardFailed, LogFull, OutcomeUnknown, StoreError
from whenthen.store.host import Host, HostReport
from whenthen.store.meta import Export, read_export, write_export

logger = logging.getLogger(__name__)

MIB = 1024 * 1024
GIB = 1024 * MIB

EXPORT_AT_BYTES = 256 * MIB
"""How much is written before an export: half a log, and the other half may fill before the next tick looks."""

EXPORT_LEASE_MS = 3 * 60_000
"""How long an export that nobody has ended counts as under way, milliseconds."""

STALE_SECONDS = 60.0
"""A host measures itself every ten seconds."""

REBUILD_AT_BYTES = GIB
DANGEROUS_FILES = 200
DANGEROUS_LOG_SHARE = 0.6
DANGEROUS_EXPORTS = 5
DANGEROUS_DISK_EXPORTS = 2
"""For how many exports there should be room on the disk."""

_EXPORT_SECONDS = 45.0
_LEAST_EXPORT_SECONDS = 10.0
_SECONDS_FOR_THE_REST = 5.0
_APART_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class HostState:
    """How the host of a server is: its report, or None when it gave none, and whether it has just been exported.

    `looked_at` is when that was, epoch milliseconds, by the host's clock or, without a report, by ours.
    """

    server: str
    report: HostReport | None
    looked_at: int
    exported: bool = False


@dataclass(frozen=True, slots=True)
class Gauges:
    """The greatest of each number over all hosts, None where it is not known.

    The age is known when every host has given a report.
    """

    wal_bytes: int | None = None
    sst_bytes: int | None = None
    sst_files: int | None = None
    report_age_seconds: float | None = None


class Housekeeping:
    """Keeps hosts.

    Parameters
    ----------
    database:
        Where it is written down who exports.
    hosts:
        None for the embedded engine, which has no such log.

    Attributes
    ----------
    states:
        How the hosts were when they were last looked at.
    """

    def __init__(self, database: Database, hosts: Sequence[Host]) -> None:
        self._database = database
        self._hosts = {host.name: host for host in hosts}
        self.states: tuple[HostState, ...] = ()

    def run(self, deadline: Deadline) -> None:
        """Look at every host, say what is dangerous, and export what has a log that is half full.

        Two at once make one export. One that dies in the middle holds up the others for `EXPORT_LEASE_MS`. What fails
        is logged: the next tick tries again.

        Parameters
        ----------
        deadline:
            When to stop waiting for an export.
        """
        self.states = tuple(look(host) for host in self._hosts.values())
        self.states = tuple(
            self._kept(state, state.report.measured_at, deadline)
            if state.report is not None and state.report.wal_bytes >= EXPORT_AT_BYTES
            else state
            for state in self.states
        )

    def free_logs(self, deadline: Deadline) -> None:
        """Export since a write was refused for a full log, where no fresh report says that it is another server's.

        Parameters
        ----------
        deadline:
            When to stop waiting for an export.
        """
        self.states = tuple(
            self._kept(state, state.looked_at, deadline)
            if state.report is None or state.report.age_seconds > STALE_SECONDS
            else state
            for state in self.states
        )

    @property
    def gauges(self) -> Gauges:
        """The numbers of `states`."""
        reports = [state.report for state in self.states if state.report is not None]
        if not reports:
            return Gauges()
        everywhere = len(reports) == len(self.states)
        return Gauges(
            wal_bytes=max(report.wal_bytes for report in reports),
            sst_bytes=max(report.sst_bytes for report in reports),
            sst_files=max(report.sst_files for report in reports),
            report_age_seconds=max(report.age_seconds for report in reports) if everywhere else None,
        )

    def _kept(self, state: HostState, full_at: int, deadline: Deadline) -> HostState:
        """Export the server of `state`, whose log was full or half full at `full_at`, and return how it is then."""
        seconds = min(deadline.left() - _SECONDS_FOR_THE_REST, _EXPORT_SECONDS)
        if seconds < _LEAST_EXPORT_SECONDS:
            logger.warning("the export of the %s server is left to the next tick", state.server)
            return state
        try:
            exported = self._export(self._hosts[state.server], state.looked_at, full_at, seconds)
        except StoreError as error:
            logger.error("the export of the %s server failed: %s", state.server, error)
            return state
        return replace(state, exported=exported)

    def _export(self, host: Host, now: int, full_at: int, seconds: float) -> bool:
        """Export unless another does or has since `full_at`, and return whether it was done here."""
        last = read_export(self._database, host.name)
        if last is not None and not _is_due(last, now, full_at):
            return False
        seen: Export | None = Export(now)
        try:
            write_export(self._database, host.name, Export(now), seen=last)
        except GuardFailed:
            return False
        except LogFull:
            if self._has_room(host, now, last):
                return False
            seen = last
        began = time.monotonic()
        try:
            host.export(timeout_seconds=seconds)
        except OutcomeUnknown:
            # It may be under way, so the claim stays until its lease has run out.
            raise
        except StoreError:
            self._end(host, now, began, seen)
            raise
        self._end(host, now, began, seen)
        logger.info("the %s server was exported in %.1f s", host.name, time.monotonic() - began)
        return True

    def _has_room(self, host: Host, now: int, last: Export | None) -> bool:
        """Whether there is room in the log after all, a moment after it was too full for the claim of an export.

        Pollers that come at once come apart here: this waits behind the export of whoever is first.
        """
        time.sleep(random.uniform(0, _APART_SECONDS))  # noqa: S311
        try:
            write_export(self._database, host.name, Export(now, now), seen=last)
        except LogFull:
            return False
        except GuardFailed:
            # Another has claimed it since.
            pass
        return True

    def _end(self, host: Host, now: int, began: float, seen: Export | None) -> None:
        """Write down that the export has ended, well or not: a report from before it is not to be believed."""
        elapsed_ms = round((time.monotonic() - began) * 1000)
        try:
            write_export(self._database, host.name, Export(now, now + elapsed_ms), seen=seen)
        except StoreError as error:
            logger.warning("the end of an export of the %s server was not written down: %s", host.name, error)


def look(host: Host) -> HostState:
    """Return how a host is, and log what is dangerous as errors."""
    try:
        report = host.read_report()
    except StoreError as error:
        logger.error("nobody knows how full the log of the %s server is: %s", host.name, error)
        return HostState(host.name, None, now_ms())
    for danger in dangers(report):
        logger.error("%s server: %s", host.name, danger)
    return HostState(host.name, report, report.asked_at)


def dangers(report: HostReport) -> list[str]:
    """Return what somebody has to look after, in words."""
    found = []
    if report.age_seconds > STALE_SECONDS:
        found.append(f"the host's report is {report.age_seconds:.0f} s old: host-report does not run")
    if report.wal_bytes > DANGEROUS_LOG_SHARE * report.wal_limit:
        share = report.wal_bytes / report.wal_limit
        found.append(
            f"the write-ahead log is {share:.0%} full, and a full one refuses every write: exports fail or lag"
        )
    if report.sst_bytes > REBUILD_AT_BYTES:
        found.append(f"the table files hold {report.sst_bytes / GIB:.1f} GiB, which slows every scan: rebuild it")
    if report.sst_files > DANGEROUS_FILES:
        found.append(f"there are {report.sst_files} table files, and near 256 the server collapses: rebuild it")
    if report.exports >= DANGEROUS_EXPORTS:
        size = report.export_bytes / GIB
        found.append(f"{report.exports} exports pile up, {size:.1f} GiB: prune-exports does not run or can't copy them")
    # Its copies of the table files, of those that its checkpoint adds, and of the log.
    export_bytes = report.sst_bytes + EXPORT_AT_BYTES + report.wal_limit
    if report.disk_free_bytes < DANGEROUS_DISK_EXPORTS * export_bytes:
        free = report.disk_free_bytes / GIB
        found.append(f"the disk is nearly full: {free:.1f} GiB are free, and an export takes {export_bytes / GIB:.1f}")
    return found


def _is_due(last: Export, now: int, full_at: int) -> bool:
    if last.finished_at is None:
        return not last.started_at <= now < last.started_at + EXPORT_LEASE_MS
    # An end that is far ahead was told by a clock that is wrong.
    return full_at > last.finished_at or last.finished_at > now + EXPORT_LEASE_MS
