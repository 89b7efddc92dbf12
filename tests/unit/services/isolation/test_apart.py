"""The process that reads documents: its limits, and what it knows. Feeds are the example."""

import json
import os
import subprocess
import sys

import pytest

from tests.unit.services.feed.conftest import FIXTURES
from whenthen.services.feed.feeds import Feed
from whenthen.services.feed.reading import read_feed
from whenthen.services.isolation import apart
from whenthen.services.isolation.errors import TOO_BUSY, TOO_HARD, NotRead

URL = "https://base.example/dir/feed"


@pytest.fixture(autouse=True)
def _nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "_memory", apart._Memory())


def read_feed_apart(body: bytes, content_type: str, url: str) -> Feed:
    return Feed.read(apart.read_apart("whenthen.services.feed.reading", body, content_type=content_type, url=url))


def rss(item: bytes) -> bytes:
    return b"<rss><channel><title>t</title><item>" + item + b"</item></channel></rss>"


def test_it_gives_what_is_read_without_it() -> None:
    for name in ("rss-2.0.xml", "atom-1.0.xml", "json-1.1.json", "skip-hours-and-days.rss", "gb2312.rss"):
        body = (FIXTURES / name).read_bytes()
        assert read_feed_apart(body, "application/xml", URL) == read_feed(body, "application/xml", URL)


def test_it_says_why_it_is_no_feed() -> None:
    with pytest.raises(NotRead, match="it is XML whose first element is <urlset>"):
        read_feed_apart(b"<urlset/>", "", URL)


@pytest.mark.parametrize(
    "item",
    [
        pytest.param(b'<description>&lt;p style="' + b"a" * 1_000_000 + b'"&gt;</description>', id="one-long-style"),
        pytest.param(b'<a xml:base="b/">' * 100_000 + b"</a>" * 100_000, id="addresses-that-grow"),
    ],
)
def test_quadratic_time_ends_at_the_limit(monkeypatch: pytest.MonkeyPatch, item: bytes) -> None:
    monkeypatch.setattr(apart, "CPU_SECONDS", 1)
    with pytest.raises(NotRead) as raised:
        read_feed_apart(rss(item), "", URL)
    assert str(raised.value) == TOO_HARD


def test_waiting_ends_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "WALL_SECONDS", 0.001)
    with pytest.raises(NotRead) as raised:
        read_feed_apart(rss(b"<title>x</title>"), "", URL)
    assert str(raised.value) == TOO_HARD


def test_memory_ends_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "MEMORY_BYTES", 80 * 1024 * 1024)
    with pytest.raises(NotRead) as raised:
        read_feed_apart(b'{"items": [' + b"[]," * 1_000_000 + b"[]]}", "", URL)
    assert str(raised.value) == TOO_HARD


def test_a_feed_that_becomes_many_times_its_size_is_refused() -> None:
    base = "https://base.example/" + "d" * 8000 + "/"
    items = b"<item><description>" + b"&lt;a href=x&gt;" * 8 + b"</description></item>"
    with pytest.raises(NotRead) as raised:
        read_feed_apart(b"<rss><channel>" + items * 600 + b"</channel></rss>", "", base)
    assert str(raised.value) == TOO_HARD


def test_deep_nesting_is_read_or_refused() -> None:
    deep = b"<a>" * 5_000
    assert len(read_feed_apart(rss(b"<title>x</title>" + deep + b"</a>" * 5_000), "", URL).entries) == 1
    assert read_feed_apart(rss(deep), "", URL).notes[0].startswith("It is not well-formed XML: mismatched tag")


def test_a_fault_of_our_own_is_logged_and_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(apart, "CPU_SECONDS", "x")
    with pytest.raises(NotRead, match="whenthen's log says why"):
        read_feed_apart(rss(b""), "", URL)
    assert "TypeError" in caplog.text


def test_it_knows_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = {}

    def run(*_: object, env: dict[str, str], **__: object) -> subprocess.CompletedProcess[bytes]:
        seen.update(env)
        return subprocess.CompletedProcess([], 0, b'{"failure": "x"}', b"")

    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(NotRead):
        read_feed_apart(b"", "", URL)
    assert set(seen) <= {"PYTHONPATH", "LD_LIBRARY_PATH", "PYTHONHOME"}


def test_it_starts_light() -> None:
    code = "import json, sys, whenthen.services.isolation.child; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}, capture_output=True
    )
    assert {"pydantic", "httpx2", "whenthen.services.checking"} & set(json.loads(done.stdout)) == set()


def test_a_document_of_several_triggers_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[bytes] = []
    run = apart._run

    def counting(program: str, body: bytes, order: dict[str, str]) -> object:
        calls.append(body)
        return run(program, body, order)

    monkeypatch.setattr(apart, "_run", counting)
    first = read_feed_apart(rss(b"<guid>once</guid>"), "", URL)
    assert read_feed_apart(rss(b"<guid>once</guid>"), "", URL) == first
    assert len(calls) == 1
    # Another address, kind or text is another document.
    read_feed_apart(rss(b"<guid>once</guid>"), "", f"{URL}2")
    read_feed_apart(rss(b"<guid>once</guid>"), "text/xml", URL)
    assert len(calls) == 3
    # What can't be read is not tried again either.
    for _ in range(2):
        with pytest.raises(NotRead):
            read_feed_apart(b"<urlset/>", "", URL)
    assert len(calls) == 4


def test_what_is_too_hard_once_is_so_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "WALL_SECONDS", 0.001)
    body = rss(b"<guid>hard</guid>")
    with pytest.raises(NotRead):
        read_feed_apart(body, "", URL)
    monkeypatch.setattr(apart, "WALL_SECONDS", 12)
    with pytest.raises(NotRead) as raised:
        read_feed_apart(body, "", URL)
    assert str(raised.value) == TOO_HARD


def test_waiting_for_a_turn_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "WAIT_SECONDS", 0.01)
    with apart._AT_ONCE, apart._AT_ONCE, pytest.raises(NotRead) as raised:
        read_feed_apart(rss(b"<guid>turn</guid>"), "", URL)
    assert str(raised.value) == TOO_BUSY


def test_what_is_remembered_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "REMEMBERED_BYTES", 100)
    memory = apart._Memory()
    feed = {"read": "something"}
    for name in ("a", "b", "a"):
        memory.keep((name,), feed, 40)
    assert memory.find(("a",)) == feed
    memory.keep(("c",), feed, 40)
    assert [name for name in "abc" if memory.find((name,))] == ["a", "c"]
    memory.keep(("large",), feed, 101)
    assert not [name for name in ("a", "b", "c", "large") if memory.find((name,))]
