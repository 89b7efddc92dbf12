"""Fields of the Discord service."""

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import Field, model_validator

from whenthen.model.encoding import Encoding
from whenthen.services.addresses import web_address
from whenthen.services.contract import Fields, unless_templated
from whenthen.services.texts import Text


def check_link(link: str) -> str:
    """Return a link as it came.

    Raises
    ------
    ValueError
        It is no web address, or longer than Discord takes.
    """
    if len(link) > 2048:
        raise ValueError("must have at most 2048 characters")
    return web_address(link) if link else link


class PostMessageFields(Fields):
    """The message to post: a text, a box with a title, a description and a link (an embed), or both."""

    content: Annotated[
        Text,
        Field(
            title="Text",
            description="Discord's Markdown works here and not in ingredients. What is longer than 2,000 characters is "
            "shortened. Nobody is notified by a mention.",
        ),
    ] = ""
    username: Annotated[
        Text, Field(title="Name", description="Who the message seems to come from; the webhook's name when left out.")
    ] = ""
    embed_title: Annotated[Text, Field(title="Title of the box")] = ""
    embed_description: Annotated[Text, Field(title="Text of the box")] = ""
    embed_url: Annotated[
        Text, unless_templated(check_link), Field(title="Link of the box", description="What its title links to.")
    ] = ""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not (self.content.strip() or self.embed_title.strip() or self.embed_description.strip()):
            raise ValueError("content must not be empty, unless there is an embed_title or embed_description")
        return self

    def encodings(self) -> Mapping[str, Encoding]:
        """See `Fields.encodings`."""
        return {
            "content": Encoding.MARKDOWN,
            "embed_title": Encoding.MARKDOWN,
            "embed_description": Encoding.MARKDOWN,
            "embed_url": Encoding.URL,
        }
