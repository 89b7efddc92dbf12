"""Which triggers are checked when, and by whom: each due check is claimed once and passed on."""

import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from whenthen import metrics
from whenthen.clock import Deadline, now_ms
from whenthen.engine.checker import Beginning, Checker, CheckReport, Claimed
from whenthen.engine.orders import LEASE_MS, Order, new_claim, send_orders
from whenthen.errors import WhenthenError
from whenthen.metrics import Metric
from whenthen.queues import Queue
from whenthen.services.checking import CheckFailed, Found
from whenthen.store.checks import (
    MAX_CLAIMS,
    CheckRow,
    claim_due_checks,
    list_due_checks,
    read_checks,
    read_positions,
    take_check,
)
from whenthen.store.database import Database
from whenthen.store.triggers import TriggerRow, read_triggers

logger = logging.getLogger(__name__)

OVERDUE_MS = 10 * 60_000
"""A check that was due longer ago than this when it is claimed was lost or is starved, milliseconds."""

OFFLINE_LEASE_MS = 50_000
"""How long a claim of a check that is done in the tick itself holds, milliseconds: the next tick finds it due."""

_SECONDS_FOR_A_CHUNK = 5.0


class Checks:
    """Claims due checks and does them.

    Parameters
    ----------
    database:
        Where checks are claimed.
    orders:
        The queue that takes orders to whoever does them, asked for when it is needed: not every function has one.
    checker:
        Does one.
    """

    def __init__(self, database: Database, orders: Callable[[], Queue], checker: Checker) -> None:
        self._database = database
        self._orders = orders
        self._checker = checker

    def tick(self, now: int, deadline: Deadline) -> int:
        """Do the due checks that need the clock alone, pass on the others, and return how many were claimed.

        What there is no time for stays due, and the next tick takes the oldest first. Ticks may repeat, overlap
        and come late: each check is claimed by one of them.

        Raises
        ------
        StoreError
            The database can't do it now; the next tick does.
        """
        count = 0
        orders = self._orders()
        # Passing on is quick; what is done here may take all the time there is.
        others = list_due_checks(self._database, now, offline=False)
        for rows in self._claim_in_chunks(others, now, LEASE_MS, deadline):
            count += len(rows)
            send_orders(self._database, orders, rows, now)
        offline = list_due_checks(self._database, now, offline=True)
        for rows in self._claim_in_chunks(offline, now, OFFLINE_LEASE_MS, deadline):
            count += len(rows)
            for claimed in self._read(rows):
                self._do(claimed, now, deadline)
        return count

    def _claim_in_chunks(
        self, check_ids: Sequence[str], now: int, lease_ms: int, deadline: Deadline
    ) -> Iterator[dict[str, CheckRow]]:
        for start in range(0, len(check_ids), MAX_CLAIMS):
            if deadline.left() < _SECONDS_FOR_A_CHUNK:
                metrics.count(Metric.TRIGGERS_OVERDUE, len(check_ids) - start)
                logger.warning("%d due checks wait for the next tick", len(check_ids) - start)
                return
            chunk = check_ids[start : start + MAX_CLAIMS]
            rows = claim_due_checks(self._database, chunk, claim=new_claim(), now=now, lease_until=now + lease_ms)
            late = [row for row in rows.values() if now - (row.next_check_at or now) > OVERDUE_MS]
            metrics.count(Metric.TRIGGERS_OVERDUE, len(late))
            if rows:
                yield rows

    def run(self, orders: Sequence[Order], deadline: Deadline) -> list[CheckReport]:
        """Do the checks that the orders name, side by side; those whose claim is lost are dropped.

        Raises
        ------
        StoreError
            The database can't be asked now: the checks are due again when their claims have run out.
        """
        wanted = {(order.check_id, order.claim): order.now for order in orders}
        found = read_checks(self._database, list(dict.fromkeys(order.check_id for order in orders)))
        rows = {check_id: row for check_id, row in found.items() if (check_id, row.claim) in wanted}
        if not rows:
            return []
        claimed = self._read(rows)
        with ThreadPoolExecutor(len(claimed), thread_name_prefix="check") as pool:
            return list(
                pool.map(lambda item: self._do(item, wanted[item.row.check_id, item.row.claim], deadline), claimed)
            )

    def begin(self, trigger: TriggerRow, deadline: Deadline) -> Beginning:
        """Ask a trigger's source for the first time, now. Raises as `Checker.begin`."""
        return self._checker.begin(trigger, now_ms(), deadline)

    def begin_later(self, trigger: TriggerRow, error: CheckFailed) -> Beginning:
        """Return where checks begin when `begin` has failed."""
        return self._checker.begin_later(trigger, error, now_ms())

    def look(self, trigger: TriggerRow, now: int, deadline: Deadline) -> Found:
        """Return what a trigger's source shows, as to a first check. Nothing is stored. Raises as `Sources.ask`."""
        return self._checker.sources.ask(trigger, None, now, deadline)

    def host(self, trigger: TriggerRow) -> str:
        """Return the host that the trigger's checks ask, empty when they ask none."""
        return self._checker.sources.host(trigger)

    def check_now(self, check_id: str, deadline: Deadline) -> CheckReport | None:
        """Do a check, due or not, with the same position as every other (A14); None when nobody listens.

        A check that is under way loses its claim to this one.

        Raises
        ------
        StoreError
            See `store.errors`.
        """
        now = now_ms()
        row = take_check(self._database, check_id, claim=new_claim(), lease_until=now + LEASE_MS)
        if row is None:
            return None
        (claimed,) = self._read({check_id: row})
        return self._checker.check(claimed, now, deadline)

    def _read(self, rows: dict[str, CheckRow]) -> list[Claimed]:
        # The trigger is read after the claim: an applet that listens by then was there before the check began.
        triggers = read_triggers(self._database, list(rows))
        positions = read_positions(self._database, list(rows))
        return [
            Claimed(row, triggers[check_id], positions.get(check_id, ""))
            for check_id, row in rows.items()
            if check_id in triggers
        ]

    def _do(self, claimed: Claimed, now: int, deadline: Deadline) -> CheckReport:
        try:
            return self._checker.check(claimed, now, deadline)
        except WhenthenError as error:
            metrics.count(Metric.CHECK_FAILED)
            logger.warning("the check of %s could not be recorded: %s", claimed.row.check_id, error)
            return CheckReport(failure=str(error))
        except Exception as error:  # noqa: BLE001
            # The others of its batch are not to suffer. The words may hold a field's value.
            metrics.count(Metric.CHECK_FAILED)
            logger.error("the check of %s broke off: %s", claimed.row.check_id, type(error).__name__)
            return CheckReport(failure="The check broke off for a reason of its own.")
