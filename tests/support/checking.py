"""Checks of a trigger as the engine makes them, over the real guarded client, for tests of services."""

from collections.abc import Mapping
from ipaddress import ip_network
from typing import Any

from tests.support.owned import Kept
from whenthen.net import GuardedClient
from whenthen.services.checking import Check, Found
from whenthen.services.contract import Fields
from whenthen.services.documents import MAX_DOCUMENT_BYTES
from whenthen.services.registry import find_trigger

NOW = 1_790_000_000_000
"""2026-09-21T14:13:20Z."""


class Checks:
    """Checks of one trigger: the position goes from one to the next.

    Args:
        service, trigger: slugs.
        fields: as an owner writes them.
        zone: the owner's.
        service_url: base URL of a stand-in.
        owned: the owner's own data; a check sees what there is at its time.
        account: fields of the trigger's connection.
    """

    def __init__(
        self,
        service: str,
        trigger: str,
        fields: Mapping[str, Any],
        *,
        zone: str = "UTC",
        service_url: str = "",
        owned: Kept | None = None,
        account: Any = None,
    ) -> None:
        found = find_trigger(service, trigger)
        assert found is not None
        assert found.check is not None
        self._check = found.check
        self.fields: Fields = found.fields.model_validate(fields, context={"zone": zone})
        self.position: Mapping[str, Any] | None = None
        self._service_url = service_url
        self._owned = owned or Kept()
        self._account = account
        self._client = GuardedClient(
            allowed_networks=[ip_network("127.0.0.0/8")], timeout_seconds=5, max_response_bytes=MAX_DOCUMENT_BYTES
        )

    def check(self, now: int = NOW) -> Found:
        """One check; what it raises leaves the position as it was."""
        found = self._check(
            Check(
                fields=self.fields,
                position=self.position,
                now=now,
                trigger_id="trigger",
                fetch=self._client.send,
                service_url=self._service_url,
                owned=self._owned.at(now),
                account=self._account,
            )
        )
        self.position = found.position
        return found
