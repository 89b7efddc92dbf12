"""Fields of the email service."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, StringConstraints

from whenthen.model.encoding import Encoding
from whenthen.services.addresses import web_address
from whenthen.services.contract import Fields, unless_templated
from whenthen.services.email.addresses import MAX_ADDRESSES, read_addresses

MAX_SUBJECT = 250
"""Characters of a subject; a longer one is shortened. Mail programs show far fewer."""


def _addresses(text: str) -> str:
    if len(read_addresses(text)) > MAX_ADDRESSES:
        raise ValueError(f"must not hold more than {MAX_ADDRESSES} addresses")
    return text


def _recipients(text: str) -> str:
    if not read_addresses(_addresses(text)):
        raise ValueError("must hold an address")
    return text


def _attachment(text: str) -> str:
    return web_address(text) if text else text


Recipients = Annotated[
    str,
    StringConstraints(min_length=1, max_length=8192, strip_whitespace=True),
    unless_templated(_recipients),
    Field(
        title="To",
        description="Addresses, separated by commas: ada@example.org, Grace <grace@example.org>. "
        "An ingredient can be one address, or a part of one.",
    ),
]

type _More = Annotated[str, StringConstraints(max_length=8192, strip_whitespace=True), unless_templated(_addresses)]


class SendEmailFields(Fields):
    """The mail to send."""

    to: Recipients
    cc: Annotated[_More, Field(title="Copy to")] = ""
    bcc: Annotated[_More, Field(title="Hidden copy to", description="Nobody else sees these addresses.")] = ""
    reply_to: Annotated[_More, Field(title="Answers to")] = ""
    subject: Annotated[
        str,
        StringConstraints(max_length=16384),
        Field(title="Subject", description=f"One line; shortened at {MAX_SUBJECT} characters."),
    ] = ""
    body: Annotated[str, StringConstraints(max_length=262144), Field(title="Text")] = ""
    html: Annotated[
        str,
        StringConstraints(max_length=262144),
        Field(
            title="HTML",
            description="The text as a page. When the text above is left out, it is made of this.",
        ),
    ] = ""
    attachment_url: Annotated[
        str,
        StringConstraints(max_length=8192, strip_whitespace=True),
        unless_templated(_attachment),
        Field(title="URL of an attachment", description="A file of at most 5 MB that anybody can download."),
    ] = ""

    def encodings(self) -> Mapping[str, Encoding]:
        """See `Fields.encodings`."""
        return {
            **dict.fromkeys(("to", "cc", "bcc", "reply_to"), Encoding.ADDRESS),
            "subject": Encoding.HEADER,
            "html": Encoding.HTML,
            "attachment_url": Encoding.URL,
        }
