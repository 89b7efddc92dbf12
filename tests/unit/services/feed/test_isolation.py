"""The process that reads feeds: its limits, and what it knows."""

import json
import os
import subprocess
import sys

import pytest

from whenthen.services.feed import isolation
from whenthen.services.feed.feeds import TOO_HARD, NotAFeed
from whenthen.services.feed.isolation import read_feed_apart
from whenthen.services.feed.reading import read_feed

URL = "https://base.example/dir/feed"


def rss(item: bytes) -> bytes:
    return b"<rss><channel><title>t</title><item>" + item + b"</item></channel></rss>"


def test_it_gives_what_is_read_without_it(fixture) -> None:
    for name in ("rss-2.0.xml", "atom-1.0.xml", "json-1.1.json", "skip-hours-and-days.rss", "gb2312.rss"):
        assert read_feed_apart(fixture(name), "application/xml", URL) == read_feed(
            fixture(name), "application/xml", URL
        )


def test_it_says_why_it_is_no_feed() -> None:
    with pytest.raises(NotAFeed, match="it is XML whose first element is <urlset>"):
        read_feed_apart(b"<urlset/>", "", URL)


@pytest.mark.parametrize(
    "item",
    [
        pytest.param(b'<description>&lt;p style="' + b"a" * 1_000_000 + b'"&gt;</description>', id="one-long-style"),
        pytest.param(b'<a xml:base="b/">' * 100_000 + b"</a>" * 100_000, id="addresses-that-grow"),
    ],
)
def test_quadratic_time_ends_at_the_limit(monkeypatch: pytest.MonkeyPatch, item: bytes) -> None:
    monkeypatch.setattr(isolation, "CPU_SECONDS", 1)
    with pytest.raises(NotAFeed) as raised:
        read_feed_apart(rss(item), "", URL)
    assert str(raised.value) == TOO_HARD


def test_waiting_ends_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "WALL_SECONDS", 0.001)
    with pytest.raises(NotAFeed) as raised:
        read_feed_apart(rss(b"<title>x</title>"), "", URL)
    assert str(raised.value) == TOO_HARD


def test_memory_ends_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "MEMORY_BYTES", 80 * 1024 * 1024)
    with pytest.raises(NotAFeed) as raised:
        read_feed_apart(b'{"items": [' + b"[]," * 1_000_000 + b"[]]}", "", URL)
    assert str(raised.value) == TOO_HARD


def test_a_feed_that_becomes_many_times_its_size_is_refused() -> None:
    base = "https://base.example/" + "d" * 8000 + "/"
    items = b"<item><description>" + b"&lt;a href=x&gt;" * 8 + b"</description></item>"
    with pytest.raises(NotAFeed) as raised:
        read_feed_apart(b"<rss><channel>" + items * 600 + b"</channel></rss>", "", base)
    assert str(raised.value) == TOO_HARD


def test_deep_nesting_is_read_or_refused() -> None:
    deep = b"<a>" * 5_000
    assert len(read_feed_apart(rss(b"<title>x</title>" + deep + b"</a>" * 5_000), "", URL).entries) == 1
    assert read_feed_apart(rss(deep), "", URL).notes[0].startswith("It is not well-formed XML: mismatched tag")


def test_a_fault_of_our_own_is_logged_and_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(isolation, "CPU_SECONDS", "x")
    with pytest.raises(NotAFeed, match="whenthen's log says why"):
        read_feed_apart(rss(b""), "", URL)
    assert "TypeError" in caplog.text


def test_it_knows_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = {}

    def run(*_: object, env: dict[str, str], **__: object) -> subprocess.CompletedProcess[bytes]:
        seen.update(env)
        return subprocess.CompletedProcess([], 0, b'{"failure": "x"}', b"")

    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(NotAFeed):
        read_feed_apart(b"", "", URL)
    assert set(seen) <= {"PYTHONPATH", "LD_LIBRARY_PATH", "PYTHONHOME"}


def test_it_starts_light() -> None:
    code = "import json, sys, whenthen.services.feed.child; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}, capture_output=True
    )
    assert {"pydantic", "httpx2", "whenthen.services.checking"} & set(json.loads(done.stdout)) == set()


def test_a_document_of_several_triggers_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[bytes] = []
    read = isolation._read_apart

    def counting(body: bytes, content_type: str, url: str) -> object:
        calls.append(body)
        return read(body, content_type, url)

    monkeypatch.setattr(isolation, "_read_apart", counting)
    monkeypatch.setattr(isolation, "_memory", isolation._Memory())
    first = read_feed_apart(rss(b"<guid>once</guid>"), "", URL)
    assert read_feed_apart(rss(b"<guid>once</guid>"), "", URL) == first
    assert len(calls) == 1
    # Another address, kind or text is another document.
    read_feed_apart(rss(b"<guid>once</guid>"), "", f"{URL}2")
    read_feed_apart(rss(b"<guid>once</guid>"), "text/xml", URL)
    assert len(calls) == 3
    # What can't be read is tried again.
    for _ in range(2):
        with pytest.raises(NotAFeed):
            read_feed_apart(b"<urlset/>", "", URL)
    assert len(calls) == 5


def test_what_is_remembered_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "REMEMBERED_BYTES", 100)
    memory = isolation._Memory()
    feed = read_feed(rss(b"<guid>a</guid>"), "", URL)
    for name in ("a", "b", "a"):
        memory.keep((name,), feed, 40)
    assert memory.find(("a",)) == feed
    memory.keep(("c",), feed, 40)
    assert [name for name in "abc" if memory.find((name,))] == ["a", "c"]
    memory.keep(("large",), feed, 101)
    assert not [name for name in ("a", "b", "c", "large") if memory.find((name,))]
