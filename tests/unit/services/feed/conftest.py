"""Feeds on a local server, and the engine's memory of what was seen."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.checking import NOW, Checks
from tests.support.sink import Reply, Sink
from whenthen.services.checking import Found, Item
from whenthen.services.feed.feeds import Feed
from whenthen.services.feed.reading import read_feed

FIXTURES = Path(__file__).parent / "fixtures"
BASE = "https://base.example/dir/feed"


class Listener:
    """Checks a feed and fires each identity once, as the engine does.

    Args:
        sink: the server.
        trigger: slug.
        fields: all but the URL.
    """

    def __init__(self, sink: Sink, trigger: str = "new_feed_item", **fields: str | int) -> None:
        self.sink = sink
        self.checks = Checks("feed", trigger, {"feed_url": f"{sink.url}/feed", **fields})
        self.seen: set[str] | None = None
        self.found: Found = Found((), {})

    def serve(self, body: bytes | str, *, path: str = "/feed", status: int = 200, **headers: str) -> None:
        """Answer with this from now on."""
        names = tuple((name.replace("_", "-"), value) for name, value in headers.items())
        self.sink.reply(path, [Reply(status, names, body.encode() if isinstance(body, str) else body)])

    def check(self, now: int = NOW) -> list[Item]:
        """Check and return what fires, oldest first; the first check only remembers (R3)."""
        self.found = self.checks.check(now)
        fresh = [] if self.seen is None else [item for item in self.found.items if item.unique not in self.seen]
        self.seen = (self.seen or set()) | {item.unique for item in self.found.items}
        return fresh

    def titles(self, now: int = NOW) -> list[str]:
        """Check and return the titles of what fires."""
        return [item.ingredients["EntryTitle"] for item in self.check(now)]


@pytest.fixture
def sink() -> Iterator[Sink]:
    with Sink() as sink:
        yield sink


@pytest.fixture
def listen(sink: Sink) -> Callable[..., Listener]:
    """Make a listener: `listen(trigger, **fields)`."""

    def make(trigger: str = "new_feed_item", **fields: str | int) -> Listener:
        return Listener(sink, trigger, **fields)

    return make


@pytest.fixture
def fixture() -> Callable[[str], bytes]:
    """Read a fixture."""
    return lambda name: (FIXTURES / name).read_bytes()


@pytest.fixture
def read() -> Callable[..., Feed]:
    """Read a fixture, or bytes, as a feed without a process of its own."""

    def make(source: str | bytes, content_type: str = "application/xml") -> Feed:
        body = (FIXTURES / source).read_bytes() if isinstance(source, str) else source
        return read_feed(body, content_type, BASE)

    return make
