"""Fields of the Mastodon service."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from whenthen.model.encoding import Encoding
from whenthen.services.contract import Fields
from whenthen.services.texts import FilledText, Text


class PostStatusFields(Fields):
    """The post to make."""

    status: Annotated[
        FilledText,
        Field(
            title="Text",
            description="A mention that you write here notifies the person; one in an ingredient does not. What is "
            "longer than the server allows is shortened.",
        ),
    ]
    visibility: Annotated[
        Literal["default", "public", "unlisted", "private", "direct"],
        Field(
            title="Visibility",
            description="default: as the account is set up. unlisted: public, but not in timelines. private: followers "
            "only. direct: who is mentioned only.",
        ),
    ] = "default"
    spoiler_text: Annotated[
        Text, Field(title="Content warning", description="Shown instead of the text, until somebody opens it.")
    ] = ""
    sensitive: Annotated[bool, Field(title="Sensitive", description="Hides the post's media at first.")] = False
    language: Annotated[
        str,
        StringConstraints(pattern=r"^([a-z]{2,3})?$"),
        Field(title="Language", description="Two or three letters, such as en; the account's when left out."),
    ] = ""

    def encodings(self) -> Mapping[str, Encoding]:
        """See `Fields.encodings`.

        Whoever writes into a feed or a form must not be able to notify others in the owner's name.
        """
        return {"status": Encoding.NO_MENTIONS, "spoiler_text": Encoding.NO_MENTIONS}
