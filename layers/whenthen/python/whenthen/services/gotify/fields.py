"""Fields of the Gotify service."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from whenthen.model.encoding import Encoding
from whenthen.services.contract import Fields
from whenthen.services.texts import FilledText, Text


class SendMessageFields(Fields):
    """The message to push."""

    message: Annotated[FilledText, Field(title="Message")]
    title: Annotated[Text, Field(title="Title", description="The name of the application in Gotify when left out.")] = (
        ""
    )
    priority: Annotated[
        int,
        Field(title="Priority", description="From 0, silent, to 10; from 4 on phones make a sound.", ge=0, le=10),
    ] = 5
    markdown: Annotated[
        bool,
        Field(
            title="Markdown", description="Whether the message is written in Markdown. Ingredients are text, always."
        ),
    ] = False

    def encodings(self) -> Mapping[str, Encoding]:
        """See `Fields.encodings`."""
        return {"message": Encoding.MARKDOWN} if self.markdown else {}
