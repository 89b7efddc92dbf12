"""Connections to Home Assistant: its address and a long-lived access token."""

from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from whenthen.net.messages import Answer, Request
from whenthen.services.addresses import server_address
from whenthen.services.answers import said_by
from whenthen.services.connecting import ConnectionType, Test, Token
from whenthen.services.contract import Fields
from whenthen.services.home_assistant.answers import read_home_assistant, read_other_than
from whenthen.services.work import Meaning, Reading


def _address(text: str) -> str:
    return server_address(text).removesuffix("/api").rstrip("/")


class HomeAssistantConnectionFields(Fields):
    """Where it is and how to get in."""

    url: Annotated[
        str,
        StringConstraints(min_length=1, max_length=2048, strip_whitespace=True),
        AfterValidator(_address),
        Field(
            title="Address",
            description="Such as https://home.example.org or http://192.168.1.20:8123. One in a private network must "
            "be allowed by whoever runs whenthen (WHENTHEN_ALLOWED_NETWORKS).",
        ),
    ]
    token: Annotated[
        Token, Field(title="Long-lived access token", description="From your profile in Home Assistant: Security.")
    ]


def headers(fields: HomeAssistantConnectionFields) -> tuple[tuple[str, str], ...]:
    """Return the header that shows who asks."""
    return (("Authorization", f"Bearer {fields.token}"),)


def _account(answer: Answer) -> str | Reading:
    reading = read_home_assistant(answer)
    if reading.meaning is not Meaning.SUCCEEDED:
        return reading
    # {"message": "API running."} is all that it says for itself.
    return "Home Assistant" if said_by(answer, "message") else read_other_than("its API")


def _test(fields: HomeAssistantConnectionFields) -> Test | None:
    return Test(Request("GET", f"{fields.url}/api/", headers(fields)), _account)


CONNECTION = ConnectionType(
    fields=HomeAssistantConnectionFields,
    description="Your Home Assistant.",
    test=_test,
)
