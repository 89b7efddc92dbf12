"""Asking a trigger's service what has happened, with every way of failing told in words."""

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from pydantic import ValidationError

from whenthen.clock import Deadline
from whenthen.engine.connections.errors import ConnectionUnusable, RefreshFailed
from whenthen.engine.masking import masked, secrets_of
from whenthen.errors import WhenthenError
from whenthen.net.messages import Answer, Request
from whenthen.services.checking import DEFAULT_INTERVAL_MINUTES, Check, CheckFailed, Found, PolledFields, Refused
from whenthen.services.contract import Fields
from whenthen.services.owned import Owned
from whenthen.services.registry import find_trigger
from whenthen.store.errors import StoreError
from whenthen.store.triggers import TriggerRow

if TYPE_CHECKING:
    from whenthen.engine.connections.accounts import Accounts

logger = logging.getLogger(__name__)

MAX_ITEMS = 10_000
"""The most items that a source may show: those of a first check go into one script."""


class Client(Protocol):
    """The way to the network: `net.GuardedClient`."""

    def send(self, request: Request, *, timeout_seconds: float | None = None) -> Answer:
        """See `GuardedClient.send`."""
        ...


class Sources:
    """All services, ready to be asked.

    Parameters
    ----------
    client:
        The way to the network.
    timeout_seconds:
        The longest that one request may take.
    service_urls:
        Base URLs from the settings, by service.
    owned:
        Returns an owner's own data.
    accounts:
        Returns what opens connections.
    """

    def __init__(
        self,
        client: Client,
        *,
        timeout_seconds: float,
        service_urls: Mapping[str, str],
        owned: Callable[[str], Owned],
        accounts: "Callable[[], Accounts]",
    ) -> None:
        self._client = client
        self._owned = owned
        self._accounts = accounts
        self._timeout_seconds = timeout_seconds
        self._service_urls = service_urls

    def ask(self, trigger: TriggerRow, position: Mapping[str, Any] | None, now: int, deadline: Deadline) -> Found:
        """Return what the trigger's service finds.

        Parameters
        ----------
        position:
            What its last check left, or None for the first.
        now:
            The instant that the check stands for, epoch milliseconds.

        Raises
        ------
        CheckFailed
            Whatever went wrong.
        StoreError
            The owner's own data, or the connection, can't be read now.
        """
        definition = find_trigger(trigger.service, trigger.trigger)
        if definition is None or definition.check is None:
            raise CheckFailed(f"There is no trigger {trigger.service}.{trigger.trigger} that can be checked.")

        def fetch(request: Request) -> Answer:
            return self._client.send(request, timeout_seconds=min(self._timeout_seconds, deadline.left()))

        check = Check(
            fields=_fields(trigger, definition.fields),
            position=position,
            now=now,
            trigger_id=trigger.trigger_id,
            fetch=fetch,
            service_url=self._service_urls.get(trigger.service, "").rstrip("/"),
            owned=self._owned(trigger.owner_id),
        )
        try:
            found = self._check(trigger, definition.check, definition.connects, check, deadline)
        except (CheckFailed, StoreError):
            raise
        except WhenthenError as error:
            raise CheckFailed(str(error)) from error
        except Exception as error:
            # One trigger's trouble must not end the others' checks.
            logger.exception("the check of %s failed", trigger.trigger_id)
            raise CheckFailed("The check failed for a reason of its own; whenthen's log has it.") from error
        if len(found.items) > MAX_ITEMS:
            raise CheckFailed(f"The source shows more than {MAX_ITEMS} items at once.")
        return found

    def _check(
        self,
        trigger: TriggerRow,
        find: Callable[[Check[Any]], Found],
        connects: str,
        check: Check[Any],
        deadline: Deadline,
    ) -> Found:
        """Do the check with the trigger's connection, and once more with new tokens if its own are refused."""
        if trigger.connection is None:
            return find(check)
        try:
            account = self._accounts().open(trigger.owner_id, trigger.connection, connects, deadline)
            try:
                found = find(replace(check, account=account.fields))
            except Refused as error:
                renewed = self._accounts().refused(account, str(error), deadline)
                if renewed is None:
                    raise
                account = renewed
                found = find(replace(check, account=account.fields))
        except ConnectionUnusable as error:
            raise CheckFailed(str(error)) from error
        except RefreshFailed as error:
            raise CheckFailed(str(error), temporary=True) from error
        self._accounts().worked(account)
        return _without_secrets(found, account.fields)

    def host(self, trigger: TriggerRow) -> str:
        """Return the host that the trigger's checks ask, empty when they ask none."""
        definition = find_trigger(trigger.service, trigger.trigger)
        if definition is None or not issubclass(definition.fields, PolledFields):
            return ""
        fields = definition.fields.model_validate_json(trigger.fields)
        return urlsplit(fields.source() or self._service_urls.get(trigger.service, "")).hostname or ""


def _without_secrets(found: Found, account: Fields) -> Found:
    """Mask what a source repeats of a connection's secrets: ingredients go everywhere."""
    secrets = secrets_of(account)
    items = tuple(replace(item, ingredients=masked(dict(item.ingredients), secrets)) for item in found.items)
    return replace(found, items=items, note=masked(found.note, secrets), title=masked(found.title, secrets))


def _fields(trigger: TriggerRow, model: type[Fields]) -> Fields:
    try:
        return model.model_validate_json(trigger.fields)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        raise CheckFailed(f"The trigger's field {name} is not valid any more: {first['msg']}", field=name) from error


def interval_minutes(trigger: TriggerRow) -> int:
    """Return the minutes from one check of the trigger to the next."""
    definition = find_trigger(trigger.service, trigger.trigger)
    if definition is not None and issubclass(definition.fields, PolledFields):
        with suppress(ValidationError):
            return definition.fields.model_validate_json(trigger.fields).interval_minutes
    return DEFAULT_INTERVAL_MINUTES
