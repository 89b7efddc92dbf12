"""What makes an item itself, and the order of items (R1)."""

from dataclasses import replace

import pytest

from whenthen.services.feed.feeds import Entry
from whenthen.services.feed.fields import Identity
from whenthen.services.feed.identity import identify
from whenthen.services.feed.items import date_text, oldest_first

FULL = Entry("guid-1", "https://e.example/1", "One", "Ann", "Text", "", 1000, 2000)
BARE = Entry("", "", "", "", "Text", "", None, None)


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({"link": "https://e.example/moved"}, True),
        ({"title": "One (23 comments)"}, True),
        ({"content": "Edited", "author": "Bob", "image": "x"}, True),
        ({"published": 9000, "updated": None}, True),
        ({"guid": "guid-2"}, False),
    ],
)
def test_the_guid_is_the_identity(changes: dict[str, str], same: bool) -> None:
    assert (identify([replace(FULL, **changes)], "auto") == identify([FULL], "auto")) is same


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({"title": "One (23 comments)"}, True),
        ({"content": "Edited", "published": 9000}, True),
        ({"link": "http://e.example/1"}, True),
        ({"link": "https://e.example/2"}, False),
    ],
)
def test_without_a_guid_it_is_the_link(changes: dict[str, str], same: bool) -> None:
    entry = replace(FULL, guid="")
    assert (identify([replace(entry, **changes)], "auto") == identify([entry], "auto")) is same


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({"content": "Edited", "author": "Bob"}, True),
        ({"title": "Two"}, False),
        ({"published": 9000}, False),
    ],
)
def test_without_guid_and_link_it_is_title_and_date(changes: dict[str, str], same: bool) -> None:
    entry = replace(FULL, guid="", link="")
    assert (identify([replace(entry, **changes)], "auto") == identify([entry], "auto")) is same


def test_a_text_or_a_date_alone_is_no_identity() -> None:
    entries = [BARE, replace(BARE, published=1000)]
    assert identify(entries, "auto") == ["", ""]
    assert len(set(identify([replace(BARE, title="a"), replace(BARE, title="b")], "auto"))) == 2


@pytest.mark.parametrize(
    ("by", "key"), [("link", {"link": "https://x.example/"}), ("title", {"title": "X"}), ("content", {"content": "X"})]
)
def test_a04_the_owner_may_name_the_key(by: Identity, key: dict[str, str]) -> None:
    other = replace(FULL, guid="other", link="https://e.example/other", title="Other", content="Other text")
    assert identify([replace(FULL, **key)], by) == identify([replace(other, **key)], by)
    assert identify([FULL], by) != identify([replace(FULL, **key)], by)
    lacking = replace(FULL, **dict.fromkeys(key, ""))
    assert identify([lacking], by) == identify([lacking], "auto"), "an item that lacks the key"


def test_different_kinds_of_identity_never_meet() -> None:
    link = "https://e.example/1"
    entries = [replace(BARE, guid="//e.example/1"), replace(BARE, link=link), replace(BARE, title="//e.example/1")]
    assert len(set(identify(entries, "auto"))) == 3


@pytest.mark.parametrize("entry", [FULL, replace(FULL, guid="")])
def test_a30_one_guid_or_link_for_different_items(entry: Entry) -> None:
    (alone,) = identify([entry], "auto")
    second = replace(entry, title="Two")
    third = replace(entry, title="Three", link="https://e.example/3") if entry.guid else replace(entry, title="Three")
    assert len(set(identify([third, second, entry], "auto"))) == 3
    # The one that was there alone has not become another.
    assert identify([second, entry], "auto")[-1] == alone
    # One item that is there twice is one item.
    assert set(identify([replace(entry, content="x"), entry], "auto")) == {alone}


def test_order_is_by_date_then_from_the_end_of_the_document() -> None:
    def entry(guid: str, date: int | None) -> Entry:
        return replace(BARE, guid=guid, updated=date)

    def order(*entries: Entry) -> str:
        return "".join(item.guid for item in oldest_first(entries))

    assert order(entry("a", 3), entry("b", 1), entry("c", 2)) == "bca"
    assert order(entry("a", None), entry("b", None), entry("c", None)) == "cba"
    assert order(entry("a", 5), entry("b", 5), entry("c", 5)) == "cba"
    assert order(entry("a", None), entry("b", 5), entry("c", None), entry("d", 3), entry("e", None)) == "edcba"
    assert order(entry("a", 1), entry("b", 5), entry("c", None)) == "cab"


def test_dates_for_people() -> None:
    assert date_text(1_282_604_460_000) == "August 23, 2010 at 11:01PM"
    assert date_text(None) == ""
