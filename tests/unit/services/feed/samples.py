"""Samples of the feed service."""

from tests.support.samples import Sample
from tests.support.sink import Reply


def _feed(*names: str) -> dict[str, Reply]:
    items = "".join(
        f"<item><guid>{name}</guid><title>Harbour {name}</title><link>https://example.org/{name}</link></item>"
        for name in names
    )
    head = "<title>t</title><link>https://example.org/</link><description>d</description>"
    text = f"<rss version='2.0'><channel>{head}{items}</channel></rss>"
    return {"/feed": Reply(body=text.encode(), headers=(("Content-Type", "application/rss+xml"),))}


SAMPLES = {
    "new_feed_item": Sample({"feed_url": "{url}/feed"}, before=_feed("a"), after=_feed("b", "a")),
    "new_feed_item_matches": Sample(
        {"feed_url": "{url}/feed", "keyword": '"open again" OR harbour'}, before=_feed("a"), after=_feed("b", "a")
    ),
    "new_or_updated_feed_item": Sample(
        {"feed_url": "{url}/feed", "identity": "link"}, before=_feed("a"), after=_feed("b", "a")
    ),
}
