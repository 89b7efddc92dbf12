"""What ntfy needs to know of an owner's account."""

import base64
from typing import Annotated, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from whenthen.net.messages import Answer, Request
from whenthen.services.addresses import server_address
from whenthen.services.answers import not_from, said_by
from whenthen.services.connecting import ConnectionType, Secret, Test, Token
from whenthen.services.contract import Fields
from whenthen.services.ntfy.answers import read_answer
from whenthen.services.requests import bearer
from whenthen.services.work import Meaning, Reading

PUBLIC_SERVER = "https://ntfy.sh"


class NtfyAccount(Fields):
    """A server, and who we are there: nobody, the holder of an access token, or a user."""

    server: Annotated[
        str,
        StringConstraints(max_length=2048),
        AfterValidator(server_address),
        Field(title="Server", description="Address of the ntfy server."),
    ] = PUBLIC_SERVER
    token: Annotated[
        Token, Field(title="Access token", description="From the account page of the ntfy server; begins with tk_.")
    ] = ""
    user: Annotated[
        str,
        StringConstraints(max_length=256, strip_whitespace=True),
        Field(title="User name", description="With a password, instead of an access token."),
    ] = ""
    password: Annotated[Secret, Field(title="Password")] = ""

    @model_validator(mode="after")
    def _one_way_in(self) -> Self:
        if bool(self.user) != bool(self.password):
            raise ValueError("user and password go together")
        if self.token and self.user:
            raise ValueError("give either a token or a user and password")
        if ":" in self.user:
            raise ValueError("user must not hold a colon")
        return self

    def credentials(self) -> tuple[tuple[str, str], ...]:
        """Return the headers that say who we are."""
        if self.token:
            return (bearer(self.token),)
        if self.user:
            # RFC 7617, 2.
            pair = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
            return (("Authorization", f"Basic {pair}"),)
        return ()


def test_account(account: NtfyAccount) -> Test:
    """Ask the server who we are."""
    return Test(Request("GET", f"{account.server}/v1/account", account.credentials()), _read_account)


def _read_account(answer: Answer) -> str | Reading:
    reading = read_answer(answer)
    if reading.meaning is not Meaning.SUCCEEDED:
        return reading
    name = said_by(answer, "username")
    # A star is how ntfy calls everybody.
    return ("anybody" if name == "*" else name) if name else not_from("ntfy")


CONNECTION = ConnectionType(
    fields=NtfyAccount,
    description="An ntfy server, and an access token or a user name and password if its topics are protected.",
    test=test_account,
)
