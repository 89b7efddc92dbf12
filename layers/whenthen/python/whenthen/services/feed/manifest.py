"""What the feed service offers."""

from whenthen.services.contract import Ingredient, Service, Trigger
from whenthen.services.feed.checks import new_feed_item, new_feed_item_matches, new_or_updated_feed_item
from whenthen.services.feed.fields import FeedFields, MatchingFields

_INGREDIENTS = (
    Ingredient("EntryTitle", "Title of the item, as plain text", "The harbour is open again"),
    Ingredient("EntryUrl", "Link of the item", "https://example.org/news/harbour"),
    Ingredient("EntryAuthor", "Author of the item, or else of the feed", "Ann Example"),
    Ingredient("EntryContent", "Content of the item, as HTML without scripts", "<p>Ships may enter since noon.</p>"),
    Ingredient(
        "EntryImageUrl",
        "First image of the item, or else the feed's own; empty without either",
        "https://example.org/news/harbour.jpg",
    ),
    Ingredient(
        "EntryPublished", "When the item was published, in UTC; empty when unknown", "August 23, 2010 at 11:01PM"
    ),
    Ingredient("FeedTitle", "Title of the feed", "Example News"),
    Ingredient("FeedUrl", "Address of the feed", "https://example.org/news.xml"),
)

SERVICE = Service(
    slug="feed",
    name="RSS Feed",
    triggers=(
        Trigger(
            slug="new_feed_item",
            name="New feed item",
            description="Fires every time a new item is in an RSS, Atom or JSON feed. An item that is edited later "
            "does not fire again.",
            fields=FeedFields,
            ingredients=_INGREDIENTS,
            check=new_feed_item,
        ),
        Trigger(
            slug="new_feed_item_matches",
            name="New feed item matches",
            description="Fires every time an item of a feed holds the keywords for the first time, in its title or "
            "content.",
            fields=MatchingFields,
            ingredients=_INGREDIENTS,
            check=new_feed_item_matches,
        ),
        Trigger(
            slug="new_or_updated_feed_item",
            name="New or updated feed item",
            description="Fires every time an item is new in a feed, or its date of update has changed; of items "
            "without one the date of publishing counts.",
            fields=FeedFields,
            ingredients=_INGREDIENTS,
            check=new_or_updated_feed_item,
        ),
    ),
)
