"""A service for tests of the engine: a JSON list of names at a URL, each name an event."""

import json
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from pydantic import Field

from tests.support.embedded import House, Json, notification
from tests.support.sink import Reply, Sink
from whenthen.services import registry
from whenthen.services.checking import Check, CheckFailed, Found, Item, PolledFields
from whenthen.services.contract import Ingredient, Service, Trigger
from whenthen.services.documents import known_source, read_document


class ListingFields(PolledFields):
    """Where the list is."""

    url: Annotated[str, Field(title="URL")]

    def source(self) -> str:
        return self.url


def check_listing(check: Check[ListingFields]) -> Found:
    """The names of the list, the last one first."""
    document = read_document(check, known_source(check.position, check.fields.url), field="url")
    if document is None:
        return Found((), check.position or {})
    try:
        names = json.loads(document.body)
    except ValueError as error:
        raise CheckFailed("This is no list.", field="url") from error
    if names == "bug":
        raise RuntimeError("a bug of the service")
    items = tuple(
        Item(name, {"Name": name}, check.now + number, note=f"about {name}")
        for number, name in enumerate(reversed(names))
    )
    return Found(items, {"source": document.source.as_dict()}, note=f"{len(items)} names")


SERVICE = Service(
    slug="listing",
    name="Listing",
    triggers=(
        Trigger(
            slug="new_name",
            name="A new name",
            description="Fires for each name that is new in the list.",
            fields=ListingFields,
            ingredients=(Ingredient("Name", "The name", "ann"),),
            check=check_listing,
        ),
    ),
)


class Listing:
    """A house that knows the service, and the list that its applets check.

    Args:
        house: where applets are made.
        sink: serves the list.
        path: where in the sink.
    """

    def __init__(self, house: House, sink: Sink, path: str = "/list") -> None:
        self.house = house
        self.sink = sink
        self.path = path
        self.url = sink.url + path
        self.show()

    def show(self, *names: str) -> None:
        """Let the list have these names, the newest first."""
        self.reply(Reply(body=json.dumps(names).encode()))

    def reply(self, *replies: Reply) -> None:
        """Answer with these, one after the other; the last one stays."""
        self.sink.reply(self.path, replies)

    @property
    def fetches(self) -> int:
        """How often the list was asked for."""
        return sum(request.path == self.path for request in self.sink.requests)

    def trigger(self, **fields: Any) -> Json:
        """The trigger of the list, with these fields besides its URL."""
        return {"service": "listing", "trigger": "new_name", "fields": {"url": self.url, **fields}}

    def make(self, *, name: str = "List", fields: Json | None = None, **changes: Any) -> Json:
        """Make an applet that notifies of each new name."""
        return self.house.make_applet(
            name=name,
            trigger=self.trigger(**(fields or {})),
            **{"actions": [notification(f"{name}: {{{{Name}}}}")], **changes},
        )

    def checked(self, applet: Json) -> Json:
        """How the applet's checks stand."""
        found: Json = self.house.call("GET", f"/applets/{applet['id']}").json()["check"]
        return found


def register(set_item: Callable[[dict[str, Service], str, Service], None]) -> None:
    """Let the registry know the service, as `monkeypatch.setitem` does."""
    set_item(registry.SERVICES, "listing", SERVICE)


def names(count: int, first: int = 0) -> Sequence[str]:
    """So many names, the newest first."""
    return [f"n{number:04}" for number in range(first + count - 1, first - 1, -1)]
