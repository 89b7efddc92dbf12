"""Orders: claimed checks on their way to whoever does them. A lost one is checked again when its claim runs out."""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass

import uuid_utils

from whenthen.errors import Unavailable
from whenthen.queues import Queue
from whenthen.store.checks import CheckRow, release
from whenthen.store.database import Database

logger = logging.getLogger(__name__)

LEASE_MS = 5 * 60_000
"""How long a claim holds, milliseconds: what was lost with a process or a message is due again after that."""


@dataclass(frozen=True, slots=True)
class Order:
    """A claimed check. `now` is the instant it stands for, epoch milliseconds."""

    check_id: str
    claim: str
    now: int

    def to_json(self) -> str:
        """Return the message's body."""
        return json.dumps({"check_id": self.check_id, "claim": self.claim, "now": self.now})

    @classmethod
    def read(cls, body: str) -> "Order":
        """Return the order that a message holds.

        Raises
        ------
        ValueError
            It holds none.
        """
        values = json.loads(body)
        if not isinstance(values, dict) or set(values) != {"check_id", "claim", "now"}:
            raise ValueError("not an order of a check")
        order = cls(**values)
        if type(order.now) is not int or not all(isinstance(text, str) for text in (order.check_id, order.claim)):
            raise ValueError("not an order of a check")
        return order


def new_claim() -> str:
    """Return a name that nobody else claims by."""
    return str(uuid_utils.uuid4())


def send_orders(database: Database, queue: Queue, rows: Mapping[str, CheckRow], now: int) -> None:
    """Pass on checks that one claim holds; a queue that can't be reached is logged, and they stay due.

    Raises
    ------
    StoreError
        They could not be given back: they are due again when the claim has run out.
    """
    try:
        queue.send([Order(row.check_id, row.claim, now).to_json() for row in rows.values()])
    except Unavailable as error:
        logger.warning("%d checks are put off: %s", len(rows), error)
        release(database, list(rows), claim=next(iter(rows.values())).claim)
