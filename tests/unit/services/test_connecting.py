"""What the fields of connections have in common."""

from typing import Annotated

import pytest
from pydantic import Field, ValidationError

from whenthen.services.connecting import Secret, Token, secret_names
from whenthen.services.contract import Fields
from whenthen.services.registry import SERVICES


class Account(Fields):
    """Fields of each kind."""

    server: Annotated[str, Field(title="Server")] = "s"
    password: Annotated[Secret, Field(title="Password", description="Yours.")] = ""
    token: Annotated[Token, Field(title="Token")]


def test_secrets_are_known_and_never_shown() -> None:
    assert secret_names(Account) == {"password", "token"}
    assert repr(Account(password="hunter2", token="hunter3")) == "Account(server='s')"


@pytest.mark.parametrize("token", [" abc\n", "abc"])
def test_a_token_from_a_clipboard(token: str) -> None:
    assert Account(token=token).token == "abc"


@pytest.mark.parametrize("token", ["a b", "a\r\nX-Header: 1", "“abc”", "a\u200bb"])
def test_a_token_that_is_none(token: str) -> None:
    with pytest.raises(ValidationError, match="copied as it is"):
        Account(token=token)


@pytest.mark.parametrize(
    ("service", "secrets"),
    [
        ("ntfy", {"token", "password"}),
        ("gotify", {"token"}),
        ("slack", {"token", "webhook_url", "client_secret"}),
        ("discord", {"webhook_url"}),
        ("telegram", {"token"}),
        ("mastodon", {"token", "client_secret"}),
    ],
)
def test_what_a_service_keeps_secret(service: str, secrets: set[str]) -> None:
    connection = SERVICES[service].connection
    assert connection is not None
    assert secret_names(connection.fields) == secrets
