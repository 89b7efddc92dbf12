"""Fields of the feed service."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from whenthen.services.addresses import web_address
from whenthen.services.checking import PolledFields
from whenthen.services.feed.keywords import parse_keywords

type Identity = Literal["auto", "link", "title", "content"]

# Both forms in use: feed://example.org/x stands for http, feed:https://example.org/x names its scheme.
_FEED_SCHEME = re.compile(r"feed:(?://)?(?=([a-z][a-z0-9+.-]*://)?)", re.IGNORECASE)


def _feed_url(text: str) -> str:
    if scheme := _FEED_SCHEME.match(text):
        rest = text[scheme.end() :]
        text = rest if scheme[1] else f"http://{rest}"
    return web_address(text).partition("#")[0]


def _keyword(text: str) -> str:
    parse_keywords(text)
    return text


class FeedFields(PolledFields):
    """Which feed to read."""

    feed_url: Annotated[
        str,
        StringConstraints(min_length=1, max_length=8192, strip_whitespace=True),
        AfterValidator(_feed_url),
        Field(title="Feed URL", description="The address of an RSS, Atom or JSON feed."),
    ]
    identity: Annotated[
        Identity,
        Field(
            title="Tell items apart by",
            description="What makes an item a new one. Automatic takes its id, or else its link, or else its title "
            "and date. Content is for feeds without any of these: each edit makes a new item.",
        ),
    ] = "auto"

    def source(self) -> str:
        """See `PolledFields.source`."""
        return self.feed_url


class MatchingFields(FeedFields):
    """Which items of which feed to look for."""

    keyword: Annotated[
        str,
        StringConstraints(min_length=1, max_length=1024, strip_whitespace=True),
        AfterValidator(_keyword),
        Field(
            title="Keywords",
            description="Whole words that all occur in the title or the content, upper or lower case. "
            '"Words in double quotes" stand together. OR in capitals separates alternatives.',
        ),
    ]
