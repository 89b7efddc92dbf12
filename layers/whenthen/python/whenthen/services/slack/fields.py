"""Fields of the Slack service."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from whenthen.model.encoding import Encoding
from whenthen.services.contract import Fields
from whenthen.services.texts import FilledText, filled


class PostToWebhookFields(Fields):
    """The message to post."""

    text: Annotated[
        FilledText,
        Field(
            title="Text",
            description="Slack's markup, such as *bold* and <https://example.org|a link>, works here and not in "
            "ingredients. What is longer than 4,000 characters is shortened.",
        ),
    ]

    def encodings(self) -> Mapping[str, Encoding]:
        """See `Fields.encodings`."""
        return {"text": Encoding.SLACK}


class PostMessageFields(PostToWebhookFields):
    """The message to post, and where."""

    channel: Annotated[
        str,
        StringConstraints(max_length=256, strip_whitespace=True),
        AfterValidator(filled),
        Field(
            title="Channel",
            description="Its ID, such as C0123456789, or its name, such as #general; for a direct message the ID of "
            "the person, such as U0123456789.",
        ),
    ]
