"""Fields of the notifications service."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, StringConstraints

from whenthen.model.encoding import Encoding
from whenthen.services.contract import Fields, unless_templated


def check_link(link: str) -> str:
    """Return a link that may be shown as one.

    Raises
    ------
    ValueError
        It is not an http or https URL.
    """
    if link and not link.lower().startswith(("http://", "https://")):
        raise ValueError("must begin with http:// or https://")
    return link


class SendNotificationFields(Fields):
    """The message to leave in the inbox."""

    message: Annotated[str, StringConstraints(min_length=1, max_length=16384), Field(title="Message")]
    title: Annotated[str, StringConstraints(max_length=1024), Field(title="Title")] = ""
    link: Annotated[
        str,
        StringConstraints(max_length=8192),
        unless_templated(check_link),
        Field(title="Link", description="An http or https URL."),
    ] = ""

    def encodings(self) -> Mapping[str, Encoding]:
        """See `Fields.encodings`."""
        return {"link": Encoding.URL}
