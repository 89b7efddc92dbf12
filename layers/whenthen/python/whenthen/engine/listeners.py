"""Who listens to a webhook: from its key and event to the applets that are on.

A process remembers what it has found, with the trigger's revision. The reservation's script is refused when
the revision has changed, and then the memory is dropped: a remembered answer is never used when it is old.
"""

from collections import OrderedDict
from dataclasses import dataclass

from whenthen.clock import Deadline
from whenthen.engine.arrivals import Arrival
from whenthen.engine.identity import canonical_json, trigger_id
from whenthen.errors import WhenthenError
from whenthen.store.database import Database
from whenthen.store.keys import Key, find_key
from whenthen.store.triggers import TriggerRow, find_trigger

_REMEMBERED = 4096


class UnknownKey(WhenthenError):
    """You sent an invalid key."""


@dataclass(frozen=True, slots=True)
class Listening:
    """What a key and an event lead to. `trigger` is None when no applet has ever listened."""

    key: Key
    trigger: TriggerRow | None


class Listeners:
    """Finds and remembers. Thread-safe: entries are immutable and each step is one dictionary operation.

    Parameters
    ----------
    database:
        Where keys and triggers are.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._found: OrderedDict[tuple[str, str, str, str], Listening] = OrderedDict()

    def find(self, arrival: Arrival, deadline: Deadline) -> Listening:
        """Return who listens, from memory or from the database.

        Only triggers with listeners are remembered: for others no script would notice a change. The key is read
        after the trigger, because revoking it changes the key first and the trigger's revision then: a key that is
        read as valid with an older revision is found out by the reservation.

        Raises
        ------
        UnknownKey
            No such webhook key, or it is revoked.
        StoreError
            See `store.errors`.
        """
        name = self._name(arrival)
        if (remembered := self._found.get(name)) is not None:
            return remembered
        owner_id = self._valid_key(arrival, deadline).owner_id
        identity = trigger_id(owner_id, arrival.service, arrival.trigger, arrival.fields)
        trigger = find_trigger(self._database, identity, timeout_seconds=deadline.left())
        listening = Listening(self._valid_key(arrival, deadline), trigger)
        if listening.trigger is not None and listening.trigger.listeners:
            self._found[name] = listening
            if len(self._found) > _REMEMBERED:
                self._found.popitem(last=False)
        return listening

    def _valid_key(self, arrival: Arrival, deadline: Deadline) -> Key:
        key = find_key(self._database, arrival.key_hash, timeout_seconds=deadline.left())
        if key is None or key.kind != "webhook" or key.revoked_at is not None:
            raise UnknownKey
        return key

    def forget(self, arrival: Arrival) -> None:
        """Drop what is remembered about the arrival's trigger."""
        self._found.pop(self._name(arrival), None)

    @staticmethod
    def _name(arrival: Arrival) -> tuple[str, str, str, str]:
        return arrival.key_hash, arrival.service, arrival.trigger, canonical_json(arrival.fields)
