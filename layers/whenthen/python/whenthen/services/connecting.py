"""Connections: what a service needs to know of an owner's account, and how it is tried out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints

from whenthen.net.messages import Answer, Mail, MailAnswer, Request
from whenthen.services.contract import Fields
from whenthen.services.work import Reading

SECRET = {"format": "password", "writeOnly": True}
"""What the JSON schema says of a secret field."""

# No `type` alias: pydantic would put it behind a reference, where `secret_names` does not see it.
Secret = Annotated[str, StringConstraints(max_length=8192), Field(json_schema_extra=SECRET, repr=False)]
"""A field that is stored encrypted and never returned."""


def _token(text: str) -> str:
    # It goes into a header or a path, and comes from a clipboard.
    token = text.strip()
    if not all("!" <= character <= "~" for character in token):
        raise ValueError("must be copied as it is, without spaces, line breaks or other additions")
    return token


Token = Annotated[Secret, AfterValidator(_token)]
"""A secret that a service has made up: one line of ASCII without spaces."""


def secret_names(fields: type[Fields]) -> frozenset[str]:
    """Return the names of the secret fields."""
    return _secret_names(fields)


@cache
def _secret_names(fields: type[Fields]) -> frozenset[str]:
    # Making a schema takes a while.
    properties: Mapping[str, Any] = fields.model_json_schema()["properties"]
    return frozenset(name for name, schema in properties.items() if schema.get("writeOnly"))


@dataclass(frozen=True, slots=True)
class Test:
    """A request that changes nothing and shows whether a connection works.

    `read` returns the account's name (``@ada``, ``ada@example.org``), or a `Reading` that says what is wrong.
    """

    request: Request
    read: Callable[[Answer], str | Reading]


@dataclass(frozen=True, slots=True)
class MailTest:
    """A log-in at a mail server that shows whether a connection works: `mail` has no recipients, so none is sent.

    `read` is as of `Test`.
    """

    mail: Mail
    read: Callable[[MailAnswer], str | Reading]


@dataclass(frozen=True, slots=True)
class OAuth[F: Fields]:
    """How a service hands out tokens (RFC 6749 authorization code with PKCE, RFC 7636).

    The owner brings an app of their own: the fields `client_id` and `client_secret` of the connection. The token is
    kept in its field `token`.

    Parameters
    ----------
    authorize_url, token_url:
        Where to send the person, and where to get tokens; of the connection's fields, since some services are
        hosted by everybody.
    scope:
        What to ask for.
    extra:
        Further parameters of the authorization request.
    """

    authorize_url: Callable[[F], str]
    token_url: Callable[[F], str]
    scope: str
    extra: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ConnectionType[F: Fields]:
    """The connections of a service.

    Parameters
    ----------
    fields:
        What the owner gives; fields of type `Secret` are kept secret. Templates are not rendered in them.
    test:
        How to see whether a connection works, or None when there is nobody to ask.
    oauth:
        How to get a token for the owner, or None when tokens are given by hand.
    """

    fields: type[F]
    description: str
    test: Callable[[F], Test | MailTest | None]
    oauth: OAuth[F] | None = None
