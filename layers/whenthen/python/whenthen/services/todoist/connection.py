"""Connections to Todoist: a token, or an OAuth app of the owner's."""

from typing import Annotated

from pydantic import Field, StringConstraints

from whenthen.net.messages import Answer, Request
from whenthen.services.answers import json_object
from whenthen.services.connecting import ConnectionType, OAuth, Test, Token
from whenthen.services.contract import Fields
from whenthen.services.todoist.answers import read_todoist
from whenthen.services.work import Meaning, Reading

API = "https://api.todoist.com/api/v1"


class TodoistConnectionFields(Fields):
    """How to get in."""

    token: Annotated[
        Token,
        Field(
            title="API token",
            description="From Todoist: Settings, Integrations, Developer. Leave it empty to connect with an OAuth app.",
        ),
    ] = ""
    client_id: Annotated[
        str,
        StringConstraints(max_length=256, strip_whitespace=True),
        Field(title="Client ID", description="Of your Todoist app, to connect without a token."),
    ] = ""
    client_secret: Annotated[Token, Field(title="Client secret", description="Of your Todoist app.")] = ""


def authorization(fields: TodoistConnectionFields) -> tuple[str, str]:
    """Return the header that shows who asks; for tokens of both kinds it is the same."""
    return ("Authorization", f"Bearer {fields.token}")


def _account(answer: Answer) -> str | Reading:
    reading = read_todoist(answer)
    if reading.meaning is not Meaning.SUCCEEDED:
        return reading
    user = json_object(answer)
    name = next((user[name] for name in ("email", "full_name") if isinstance(user.get(name), str)), "")
    return name or Reading(Meaning.FAILED, "Todoist's answer does not name the account.")


def _test(fields: TodoistConnectionFields) -> Test | None:
    return Test(Request("GET", f"{API}/user", (authorization(fields),)), _account) if fields.token else None


def _authorize_url(_: TodoistConnectionFields) -> str:
    return "https://app.todoist.com/oauth/authorize"


def _token_url(_: TodoistConnectionFields) -> str:
    return "https://api.todoist.com/oauth/access_token"


CONNECTION = ConnectionType(
    fields=TodoistConnectionFields,
    description="Your Todoist account.",
    test=_test,
    oauth=OAuth(authorize_url=_authorize_url, token_url=_token_url, scope="data:read_write"),
)
