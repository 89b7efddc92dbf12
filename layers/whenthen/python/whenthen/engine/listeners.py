"""Who listens to a webhook: from its key, or its connection, and its event to the applets that are on.

A process remembers what it has found, with the trigger's revision. The reservation's script is refused when
the revision has changed, and then the memory is dropped: a remembered answer is never used when it is old.
"""

from collections import OrderedDict
from dataclasses import dataclass

from whenthen.clock import Deadline
from whenthen.engine.arrivals import Arrival
from whenthen.engine.identity import canonical_json, trigger_id
from whenthen.errors import Refused
from whenthen.store.connections import find_connection
from whenthen.store.database import Database
from whenthen.store.keys import find_key
from whenthen.store.triggers import TriggerRow, find_trigger

_REMEMBERED = 4096


class UnknownKey(Refused):
    """You sent an invalid key."""


@dataclass(frozen=True, slots=True)
class Listening:
    """What an arrival leads to.

    `delivery_id_header` is the header that its key names, in lower case; empty when there is none. `trigger` is None
    when no applet has ever listened to the trigger with that id.
    """

    delivery_id_header: str
    trigger_id: str
    trigger: TriggerRow | None


@dataclass(frozen=True, slots=True)
class _Sender:
    owner_id: str
    delivery_id_header: str = ""


class Listeners:
    """Finds and remembers. Thread-safe: entries are immutable and each step is one dictionary operation.

    Parameters
    ----------
    database:
        Where keys, connections and triggers are.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._found: OrderedDict[tuple[str, ...], Listening] = OrderedDict()

    def find(self, arrival: Arrival, deadline: Deadline) -> Listening:
        """Return who listens, from memory or from the database.

        Only triggers with listeners are remembered: for others no script would notice a change. The key is read
        after the trigger, because revoking it changes the key first and the trigger's revision then: a key that is
        read as valid with an older revision is found out by the reservation. A connection is not deleted before all
        applets that use it are gone, and each of them has changed the revision of its trigger when it went. Besides,
        no arrival is made before its signature is verified with what the connection is by then.

        Raises
        ------
        UnknownKey
            No such webhook key, or it is revoked; or the connection is deleted.
        StoreError
            See `store.errors`.
        """
        name = self._name(arrival)
        if (remembered := self._found.get(name)) is not None:
            return remembered
        owner_id = self._valid_sender(arrival, deadline).owner_id
        identity = trigger_id(owner_id, arrival.service, arrival.trigger, arrival.fields, arrival.connection or None)
        trigger = find_trigger(self._database, identity, timeout_seconds=deadline.left())
        listening = Listening(self._valid_sender(arrival, deadline).delivery_id_header, identity, trigger)
        if listening.trigger is not None and listening.trigger.listeners:
            self._found[name] = listening
            if len(self._found) > _REMEMBERED:
                self._found.popitem(last=False)
        return listening

    def _valid_sender(self, arrival: Arrival, deadline: Deadline) -> _Sender:
        if arrival.connection:
            row = find_connection(self._database, arrival.connection, timeout_seconds=deadline.left())
            if row is None or row.deleted_at is not None or row.service != arrival.service:
                raise UnknownKey
            return _Sender(row.owner_id)
        key = find_key(self._database, arrival.key_hash, timeout_seconds=deadline.left())
        if key is None or key.kind != "webhook" or key.revoked_at is not None:
            raise UnknownKey
        return _Sender(key.owner_id, (key.delivery_id_header or "").lower())

    def forget(self, arrival: Arrival) -> None:
        """Drop what is remembered about the arrival's trigger."""
        self._found.pop(self._name(arrival), None)

    @staticmethod
    def _name(arrival: Arrival) -> tuple[str, ...]:
        fields = canonical_json(arrival.fields)
        return arrival.key_hash, arrival.connection, arrival.service, arrival.trigger, fields
