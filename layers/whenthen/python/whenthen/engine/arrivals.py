"""An arrival: something that happened, on its way to become an event. It can wait in the intake queue."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

MAX_INGREDIENTS_BYTES = 768 * 1024
"""The most JSON text of ingredients that fits a script beside its executions (ALOPEX.md 3), bytes."""

_NOT_FOR_QUEUES = re.compile("[\ud800-\udfff\ufffe\uffff]")
"""What SQS refuses in a message besides control characters, which JSON escapes (SendMessage, MessageBody)."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """What came in through a webhook.

    Parameters
    ----------
    key_hash:
        Hash of the webhook key that it came with; empty when it came through a connection.
    service, trigger, fields:
        The trigger that it sets off, without the owner.
    unique:
        What makes this event unique: a delivery id, or a fresh id (R8).
    ingredients:
        Values by ingredient slug.
    occurred_at:
        Epoch milliseconds.
    headers:
        The request's headers, lower-case, without credentials: the key may name one as the delivery id.
    connection:
        Id of the connection whose signature it bore, verified; empty when it came with a key. The trigger is one of
        this connection.
    """

    key_hash: str
    service: str
    trigger: str
    fields: Mapping[str, Any]
    unique: str
    ingredients: Mapping[str, str]
    occurred_at: int
    headers: Mapping[str, str]
    # With a default: what waited in a queue while whenthen was updated is read, too.
    connection: str = ""

    def to_json(self) -> str:
        """Return the arrival as JSON text for the intake queue."""
        text = json.dumps(asdict(self), ensure_ascii=False, separators=(",", ":"))
        return _NOT_FOR_QUEUES.sub(lambda found: f"\\u{ord(found[0]):04x}", text)

    @classmethod
    def from_json(cls, text: str) -> "Arrival":
        """Return the arrival that `to_json` wrote.

        Raises
        ------
        ValueError
            The text is not an arrival.
        """
        try:
            arrival = cls(**json.loads(text))
        except TypeError as error:
            raise ValueError(f"not an arrival: {error}") from error
        if not all(isinstance(text, str) for text in (arrival.key_hash, arrival.unique, arrival.connection)):
            raise ValueError("not an arrival: key_hash, unique and connection must be text")
        return arrival
