"""Fields of the webhooks service."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from whenthen.model.encoding import Encoding
from whenthen.services.addresses import web_address
from whenthen.services.contract import Fields, unless_templated

type Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]
type ContentType = Literal[
    "application/json",
    "application/x-www-form-urlencoded",
    "text/plain",
    "text/html",
    "application/xml",
    "text/xml",
]

BODY_ENCODINGS: Mapping[str, Encoding] = {
    "application/json": Encoding.JSON,
    "application/x-www-form-urlencoded": Encoding.FORM,
    "text/plain": Encoding.PLAIN,
    "text/html": Encoding.HTML,
    "application/xml": Encoding.HTML,
    "text/xml": Encoding.HTML,
}
"""How ingredients are encoded in a body. XML takes the same five entities as HTML."""

_FORBIDDEN_HEADERS = {
    "connection", "content-length", "content-type", "host", "idempotency-key", "keep-alive", "proxy-connection",
    "te", "trailer", "transfer-encoding", "upgrade",
}  # fmt: skip


def _event_name(name: str) -> str:
    if any(not character.isprintable() for character in name):
        raise ValueError("must not hold control characters")
    if "/" in name:
        raise ValueError("must not hold a slash: it is a part of the webhook's path")
    return name


def parse_headers(text: str) -> tuple[tuple[str, str], ...]:
    """Return the headers of `text`, one ``Name: value`` a line; empty lines are ignored.

    Raises
    ------
    ValueError
        A line is not a header, or names one that whenthen or HTTP itself sets.
    """
    headers = []
    for line in filter(None, map(str.strip, text.splitlines())):
        name, colon, value = line.partition(":")
        name = name.strip()
        if not colon or not name or not all(c.isascii() and (c.isalnum() or c in "!#$%&'*+-.^_`|~") for c in name):
            raise ValueError(f"is not a header, expected 'Name: value': {line[:60]!r}")
        if name.lower() in _FORBIDDEN_HEADERS:
            raise ValueError(f"{name} is set by whenthen and can't be given")
        headers.append((name, value.strip()))
    return tuple(headers)


def _headers(text: str) -> str:
    parse_headers(text)
    return text


class EventFields(Fields):
    """Which event to listen for."""

    event: Annotated[
        str,
        StringConstraints(min_length=1, max_length=128),
        AfterValidator(_event_name),
        Field(title="Event name", description="The name in the webhook's path, for example front_door."),
    ]


class WebRequestFields(Fields):
    """A request."""

    url: Annotated[
        str,
        StringConstraints(min_length=1, max_length=8192, strip_whitespace=True),
        unless_templated(web_address),
        Field(title="URL"),
    ]
    method: Annotated[Method, Field(title="Method")] = "GET"
    content_type: Annotated[ContentType, Field(title="Content type", description="Of the body, if there is one.")] = (
        "application/json"
    )
    additional_headers: Annotated[
        str,
        StringConstraints(max_length=16384),
        unless_templated(_headers),
        Field(title="Additional headers", description="One 'Name: value' a line."),
    ] = ""
    body: Annotated[str, StringConstraints(max_length=262144), Field(title="Body")] = ""

    def encodings(self) -> Mapping[str, Encoding]:
        """See `Fields.encodings`."""
        return {
            "url": Encoding.URL,
            "additional_headers": Encoding.HEADER,
            "body": BODY_ENCODINGS[self.content_type],
        }


class MakeWebRequestFields(WebRequestFields):
    """The request to make."""

    repeatable: Annotated[
        bool,
        Field(
            title="May be repeated",
            description="The target ignores a second request with the same Idempotency-Key. "
            "Then a request without an answer is sent again instead of being shown as unknown.",
        ),
    ] = False
