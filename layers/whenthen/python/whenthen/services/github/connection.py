"""Connections to GitHub: a token, or an OAuth app of the owner's."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, StringConstraints

from whenthen.net.messages import Answer
from whenthen.services.addresses import server_address
from whenthen.services.answers import json_object
from whenthen.services.connecting import ConnectionType, OAuth, Test, Token
from whenthen.services.contract import Fields
from whenthen.services.github.answers import read_github, read_other_than
from whenthen.services.github.requests import asking
from whenthen.services.work import Meaning, Reading

PUBLIC_API = "https://api.github.com"


class GitHubConnectionFields(Fields):
    """How to get in."""

    token: Annotated[
        Token,
        Field(
            title="Token",
            description="A fine-grained personal access token with the permission Issues: read and write. "
            "Leave it empty to connect with an OAuth app.",
        ),
    ] = ""
    api_url: Annotated[
        str,
        StringConstraints(max_length=2048, strip_whitespace=True),
        AfterValidator(server_address),
        Field(
            title="API address",
            description="For GitHub Enterprise: the address of its API, such as https://github.example.com/api/v3.",
        ),
    ] = PUBLIC_API
    client_id: Annotated[
        str,
        StringConstraints(max_length=256, strip_whitespace=True),
        Field(title="Client ID", description="Of your OAuth app, to connect without a token."),
    ] = ""
    client_secret: Annotated[Token, Field(title="Client secret", description="Of your OAuth app.")] = ""

    def site(self) -> str:
        """Return where people sign in: the API is at api. of the site, or in ``/api/v3`` of an Enterprise server."""
        parts = urlsplit(self.api_url)
        return f"{parts.scheme}://{parts.netloc.removeprefix('api.')}"


def _authorize_url(fields: GitHubConnectionFields) -> str:
    return f"{fields.site()}/login/oauth/authorize"


def _token_url(fields: GitHubConnectionFields) -> str:
    return f"{fields.site()}/login/oauth/access_token"


def _account(answer: Answer) -> str | Reading:
    reading = read_github(answer)
    if reading.meaning is not Meaning.SUCCEEDED:
        return reading
    login = json_object(answer).get("login")
    return f"@{login}" if isinstance(login, str) else read_other_than("an account")


def _test(fields: GitHubConnectionFields) -> Test | None:
    return Test(asking(fields, "/user"), _account) if fields.token else None


CONNECTION = ConnectionType(
    fields=GitHubConnectionFields,
    description="Your GitHub account, on github.com or an Enterprise server.",
    test=_test,
    oauth=OAuth(authorize_url=_authorize_url, token_url=_token_url, scope="repo"),
)
