"""Fields of the Telegram service."""

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from whenthen.model.encoding import Encoding
from whenthen.services.addresses import web_address
from whenthen.services.contract import Fields, unless_templated
from whenthen.services.texts import FilledText, Text

type Formatting = Literal["html", "plain"]

_CHAT = re.compile(r"-?[0-9]{1,20}|@\w{4,64}", re.ASCII)


def check_chat(chat_id: str) -> str:
    """Return a chat's ID as it came: it has up to 52 bits and is never made a number (case D09).

    Raises
    ------
    ValueError
        It is neither a number nor a name with an @.
    """
    if not _CHAT.fullmatch(chat_id):
        raise ValueError("must be a chat's number, such as -1001234567890, or a channel's name, such as @news")
    return chat_id


class _ChatFields(Fields):
    chat_id: Annotated[
        str,
        StringConstraints(max_length=8192, strip_whitespace=True),
        unless_templated(check_chat),
        Field(
            title="Chat",
            description="The chat's number, such as -1001234567890, or a public channel's name, such as @news.",
        ),
    ]
    formatting: Annotated[
        Formatting,
        Field(
            title="Formatting",
            description="html: <b>bold</b>, <i>, <a href> and so on work in the text, and not in ingredients. plain: "
            "nothing does.",
        ),
    ] = "html"

    def _text_encoding(self) -> Encoding:
        return Encoding.HTML if self.formatting == "html" else Encoding.PLAIN


class SendMessageFields(_ChatFields):
    """The message to send."""

    text: Annotated[FilledText, Field(title="Text", description="What is longer than 4,096 characters is shortened.")]
    link_preview: Annotated[
        bool, Field(title="Link preview", description="Whether Telegram shows a preview of the first link.")
    ] = True

    def encodings(self) -> Mapping[str, Encoding]:
        """See `Fields.encodings`."""
        return {"text": self._text_encoding()}


class SendPhotoFields(_ChatFields):
    """The photo to send."""

    photo: Annotated[
        str,
        StringConstraints(min_length=1, max_length=8192, strip_whitespace=True),
        unless_templated(web_address),
        Field(title="Photo", description="Its web address. Telegram gets it from there: at most 5 MB."),
    ]
    caption: Annotated[
        Text, Field(title="Caption", description="What is longer than 1,024 characters is shortened.")
    ] = ""

    def encodings(self) -> Mapping[str, Encoding]:
        """See `Fields.encodings`."""
        return {"photo": Encoding.URL, "caption": self._text_encoding()}
