"""What Gotify needs to know of an owner's account."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, StringConstraints

from whenthen.net.messages import Answer
from whenthen.services.addresses import server_address
from whenthen.services.answers import json_object, not_from
from whenthen.services.connecting import ConnectionType, Test, Token
from whenthen.services.contract import Fields
from whenthen.services.gotify.answers import read_answer
from whenthen.services.requests import post_json
from whenthen.services.work import Meaning, Reading


class GotifyAccount(Fields):
    """An application on a Gotify server."""

    server: Annotated[
        str,
        StringConstraints(min_length=1, max_length=2048),
        AfterValidator(server_address),
        Field(title="Server", description="Address of the Gotify server."),
    ]
    token: Annotated[
        Token, StringConstraints(min_length=1), Field(title="Token", description="Of an application; begins with A.")
    ]

    def key(self) -> tuple[str, str]:
        """Return the header that says who we are."""
        return ("X-Gotify-Key", self.token)


def test_account(account: GotifyAccount) -> Test:
    """Send a message without a text.

    An application may only send messages (Gotify's router.go), so nothing can be read with its token. The token is
    looked at first, and a message needs a text: 400 says that the token is good.
    """
    return Test(post_json(f"{account.server}/message", {}, account.key()), _read_test)


def _read_test(answer: Answer) -> str | Reading:
    reading = read_answer(answer)
    if reading.meaning is Meaning.FAILED and json_object(answer).get("errorCode") == 400:
        return urlsplit(answer.url).hostname or ""
    return not_from("Gotify") if reading.meaning is Meaning.SUCCEEDED else reading


CONNECTION = ConnectionType(
    fields=GotifyAccount,
    description="A Gotify server and the token of an application, from its Apps page.",
    test=test_account,
)
