"""Fields of the ntfy service."""

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, StringConstraints

from whenthen.model.encoding import Encoding
from whenthen.services.addresses import web_address
from whenthen.services.contract import Fields, unless_templated
from whenthen.services.texts import FilledText, Text, utf8_bytes

MAX_LINK_BYTES = 2048
_TOPIC = re.compile(r"[-_A-Za-z0-9]{1,64}")


def check_topic(topic: str) -> str:
    """Return a topic as it came.

    Raises
    ------
    ValueError
        A server would not take it (ntfy's server.go: 1 to 64 of ``-_A-Za-z0-9``).
    """
    if not _TOPIC.fullmatch(topic):
        raise ValueError("must be 1 to 64 letters, digits, hyphens and underscores")
    return topic


def check_link(link: str) -> str:
    """Return a link as it came.

    Raises
    ------
    ValueError
        It is no web address, or longer than a request has room for.
    """
    if utf8_bytes(link) > MAX_LINK_BYTES:
        raise ValueError(f"must have at most {MAX_LINK_BYTES} characters")
    return web_address(link) if link else link


class PublishFields(Fields):
    """The message to push."""

    topic: Annotated[
        str,
        StringConstraints(max_length=8192, strip_whitespace=True),
        unless_templated(check_topic),
        Field(title="Topic", description="Whoever knows its name can read it, so take one that nobody can guess."),
    ]
    message: Annotated[FilledText, Field(title="Message", description="What is longer than 4,096 bytes is shortened.")]
    title: Annotated[Text, Field(title="Title")] = ""
    priority: Annotated[
        int, Field(title="Priority", description="From 1, least, to 5, most urgent; 3 is normal.", ge=1, le=5)
    ] = 3
    tags: Annotated[
        str,
        StringConstraints(max_length=512),
        Field(title="Tags", description="Separated by commas; names of emojis, such as warning, become emojis."),
    ] = ""
    click: Annotated[
        Text,
        unless_templated(check_link),
        Field(title="Link", description="The web address to open when the message is tapped."),
    ] = ""

    def encodings(self) -> Mapping[str, Encoding]:
        """See `Fields.encodings`."""
        return {"click": Encoding.URL}
