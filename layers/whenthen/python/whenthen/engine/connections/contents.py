"""What a connection's row holds: what may be shown, and what is sealed."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from whenthen.engine.connections.errors import ConnectionUnusable, KeyMissing, SecretsShut
from whenthen.errors import FieldError
from whenthen.services.connecting import ConnectionType, secret_names
from whenthen.services.contract import Fields
from whenthen.services.registry import SERVICES
from whenthen.store.connections import ConnectionRow
from whenthen.vault import Keyring, KeysUnavailable, Place, SealBroken

TOKEN = "token"  # noqa: S105 - the name of a field
"""The field that holds what OAuth gives."""


@dataclass(frozen=True, slots=True)
class Pending:
    """An authorization that has been started (RFC 6749 4.1, RFC 7636)."""

    nonce: str = field(repr=False)
    verifier: str = field(repr=False)
    redirect_uri: str
    expires_at: int
    """Epoch milliseconds."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What OAuth has given besides the token itself. Times are epoch milliseconds, 0 when they are not known."""

    refresh_token: str = field(default="", repr=False)
    renew_at: int = 0
    """When to get a new token, ahead of its end (F09)."""
    expires_at: int = 0
    pending: Pending | None = None


@dataclass(frozen=True, slots=True)
class Contents:
    """A connection's fields, secrets included, and what OAuth has given, None where tokens are given by hand."""

    fields: Mapping[str, Any] = field(repr=False)
    grant: Grant | None = None

    def is_same_login(self, other: "Contents") -> bool:
        """Say if both would log in alike: nobody has changed or renewed anything in between."""
        return self.fields == other.fields and _refresh_token(self) == _refresh_token(other)

    def has_same_tokens(self, other: "Contents") -> bool:
        """Say if nobody has renewed the tokens in between, or given others; other fields may have changed."""
        return self.fields.get(TOKEN) == other.fields.get(TOKEN) and _refresh_token(self) == _refresh_token(other)

    def with_pending(self, pending: Pending | None) -> "Contents":
        """Return the same with this authorization started, or none."""
        return replace(self, grant=replace(self.grant or Grant(), pending=pending))


def _refresh_token(contents: Contents) -> str:
    return contents.grant.refresh_token if contents.grant else ""


@dataclass(frozen=True, slots=True)
class Shown:
    """What may be shown of a connection: fields that are no secrets, and the names of the secrets that are set."""

    fields: dict[str, Any]
    secrets: tuple[str, ...] = ()
    oauth: bool = False


def read_shown(row: ConnectionRow) -> Shown:
    """Return what may be shown of the row's fields."""
    document = json.loads(row.shown)
    return Shown(document.get("fields", {}), tuple(document.get("secrets", ())), document.get("oauth", False))


def connection_type(service: str) -> ConnectionType[Any] | None:
    """Return what connections of the service are like, or None when it has none."""
    found = SERVICES.get(service)
    return found.connection if found is not None else None


def place_of(row: ConnectionRow) -> Place:
    """Return where the row's secrets stand."""
    return Place(row.connection_id, row.owner_id, row.service)


def pack(row: ConnectionRow, contents: Contents, keyring: Keyring) -> ConnectionRow:
    """Return the row with these contents, its secrets sealed. Raises as `Keyring.seal`, and `KeyMissing`."""
    kind = connection_type(row.service)
    names = secret_names(kind.fields) if kind is not None else frozenset(contents.fields)
    secrets = {name: value for name, value in contents.fields.items() if name in names}
    shown = Shown(
        {name: value for name, value in contents.fields.items() if name not in names},
        tuple(sorted(name for name, value in secrets.items() if value)),
        contents.grant is not None,
    )
    sealed = {"secrets": secrets, "grant": asdict(contents.grant) if contents.grant else None}
    try:
        text = keyring.seal(json.dumps(sealed), place_of(row))
    except KeysUnavailable as error:
        raise KeyMissing(str(error)) from error
    return replace(row, shown=json.dumps(asdict(shown)), sealed=text)


def unpack(row: ConnectionRow, keyring: Keyring) -> Contents:
    """Return what the row holds.

    Raises
    ------
    SecretsShut
        They can't be opened with the key that whenthen has.
    KeyMissing
        The key can't be had now.
    """
    try:
        document = json.loads(keyring.open(row.sealed, place_of(row)))
    except SealBroken as error:
        raise SecretsShut(f"The connection's secrets can't be opened. {error}") from error
    except KeysUnavailable as error:
        raise KeyMissing(str(error)) from error
    grant = document["grant"]
    if grant is not None:
        pending = grant.pop("pending")
        grant = Grant(**grant, pending=Pending(**pending) if pending else None)
    return Contents({**read_shown(row).fields, **document["secrets"]}, grant)


def unpack_for_owner(row: ConnectionRow, keyring: Keyring) -> Contents:
    """Return what the row holds, as `unpack`.

    Raises
    ------
    FieldError
        It can't be opened: its owner has to make it anew.
    """
    try:
        return unpack(row, keyring)
    except ConnectionUnusable as error:
        raise FieldError("fields", str(error)) from error


def read_fields(row: ConnectionRow, contents: Contents) -> Fields:
    """Return the fields as their service understands them.

    Raises
    ------
    ConnectionUnusable
        The service is gone, or its fields are others now.
    """
    kind = connection_type(row.service)
    if kind is None:
        raise ConnectionUnusable(f"There are no connections of {row.service} any more.")
    try:
        fields: Fields = kind.fields.model_validate(dict(contents.fields))
    except ValidationError as error:
        name = ".".join(map(str, error.errors()[0]["loc"]))
        raise ConnectionUnusable(f"The connection's field {name} is not valid any more: change it.") from error
    return fields
