"""What Mastodon needs to know of an owner's account."""

from typing import Annotated, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from whenthen.net.messages import Request
from whenthen.services.addresses import server_address
from whenthen.services.connecting import ConnectionType, OAuth, Test, Token
from whenthen.services.contract import Fields
from whenthen.services.mastodon.answers import read_account
from whenthen.services.requests import bearer


class MastodonAccount(Fields):
    """An account on a server."""

    server: Annotated[
        str,
        StringConstraints(min_length=1, max_length=2048),
        AfterValidator(server_address),
        Field(title="Server", description="Address of the server, for example https://mastodon.social."),
    ]
    token: Annotated[
        Token,
        Field(
            title="Access token",
            description="Of an application with read:accounts and write:statuses: Preferences, Development.",
        ),
    ] = ""
    client_id: Annotated[
        str,
        StringConstraints(max_length=256, strip_whitespace=True),
        Field(title="Client key", description="Of such an application, to get an access token by logging in."),
    ] = ""
    client_secret: Annotated[Token, Field(title="Client secret", description="Of such an application.")] = ""
    max_characters: Annotated[
        int,
        Field(title="Longest post", description="In characters; some servers allow more than 500.", ge=100, le=100_000),
    ] = 500

    @model_validator(mode="after")
    def _has_a_way_in(self) -> Self:
        if not (self.token or self.client_id):
            raise ValueError("give a token")
        return self


def test_account(account: MastodonAccount) -> Test:
    """Ask whose token it is."""
    url = f"{account.server}/api/v1/accounts/verify_credentials"
    return Test(Request("GET", url, (bearer(account.token),)), read_account)


def _authorize_url(account: MastodonAccount) -> str:
    return f"{account.server}/oauth/authorize"


def _token_url(account: MastodonAccount) -> str:
    return f"{account.server}/oauth/token"


CONNECTION = ConnectionType(
    fields=MastodonAccount,
    description="An account on a Mastodon server, or on any that speaks its API.",
    test=test_account,
    oauth=OAuth(authorize_url=_authorize_url, token_url=_token_url, scope="read:accounts write:statuses"),
)
