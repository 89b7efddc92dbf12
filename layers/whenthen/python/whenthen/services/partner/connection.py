"""Connections to a partner: its service key, or a person's token (PROTOCOLS.md 3, B.1, B.2 and B.6)."""

from functools import partial
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, StringConstraints, ValidationInfo

from whenthen.net.messages import Answer, Request
from whenthen.services.addresses import web_address
from whenthen.services.answers import json_object
from whenthen.services.connecting import ConnectionType, OAuth, Secret, Test, Token
from whenthen.services.contract import Fields
from whenthen.services.partner.access import Access
from whenthen.services.partner.fields import api_prefix, readable_key
from whenthen.services.partner.readings import read_partner
from whenthen.services.work import Meaning, Reading


def _page(url: str, info: ValidationInfo) -> str:
    if url:
        return web_address(url)
    if info.data.get("client_id"):
        raise ValueError("is needed for OAuth")
    return url


_OAuthPage = Annotated[
    str,
    StringConstraints(max_length=2048, strip_whitespace=True),
    AfterValidator(_page),
    Field(validate_default=True),
]


class PartnerAccount(Fields):
    """How to get in. Partners without accounts of persons know us by the service key alone."""

    url: Annotated[
        str,
        StringConstraints(min_length=1, max_length=2048, strip_whitespace=True),
        AfterValidator(api_prefix),
        Field(
            title="API URL prefix", description="Where the partner's API begins, for example https://api.example.com."
        ),
    ]
    service_key: Annotated[
        Secret,
        StringConstraints(max_length=512, strip_whitespace=True),
        AfterValidator(readable_key),
        Field(title="Service key", description="The key by which the partner knows us."),
    ] = ""
    token: Annotated[Token, Field(title="Token", description="Of your account there, if the partner has accounts.")] = (
        ""
    )
    client_id: Annotated[
        str,
        StringConstraints(max_length=256, strip_whitespace=True),
        Field(title="Client ID", description="To get the token by OAuth."),
    ] = ""
    client_secret: Annotated[Token, Field(title="Client secret")] = ""
    authorize_url: Annotated[_OAuthPage, Field(title="Authorization URL", description="Where people consent.")] = ""
    token_url: Annotated[_OAuthPage, Field(title="Token URL", description="Where tokens are given.")] = ""

    def access(self) -> Access:
        """Return the way in."""
        return Access(self.url, self.service_key, self.token, is_connected=True)


def _test(account: PartnerAccount) -> Test:
    access = account.access()
    path = "user/info" if account.token else "status"
    return Test(Request("GET", access.endpoint(path), access.headers()), partial(_account, access))


def _account(access: Access, answer: Answer) -> str | Reading:
    reading = read_partner(access, answer)
    if reading.meaning is not Meaning.SUCCEEDED:
        return reading
    data = json_object(answer).get("data")
    name = data.get("name") if isinstance(data, dict) else None
    # The status of a service has no content that one can rely on.
    return name if isinstance(name, str) and name else urlsplit(answer.url).hostname or ""


def _authorize_url(account: PartnerAccount) -> str:
    return account.authorize_url


def _token_url(account: PartnerAccount) -> str:
    return account.token_url


CONNECTION = ConnectionType(
    fields=PartnerAccount,
    description="A service that speaks the IFTTT service protocol.",
    test=_test,
    oauth=OAuth(authorize_url=_authorize_url, token_url=_token_url, scope="ifttt"),
)
