"""The inbox: what notifications say is text, and leads where the web is."""

import pytest

from tests.support.embedded import House, notification
from tests.support.hostile_texts import assert_is_text, with_hostile_texts
from tests.support.pages import Pages, other_user
from whenthen.store.inbox import Message, insert_message
from whenthen.store.statements import Script


def notify(house: House, message: str = "Hello", **fields: str) -> None:
    house.make_applet(name="Says it", actions=[notification(message, **fields)])
    house.fire()
    house.work()


def test_a_message_says_where_it_came_from(pages: Pages, house: House) -> None:
    assert "Nothing here yet." in pages.get("/inbox").text
    notify(house, "First line\nsecond", title="Door", link="https://example.org/?a=1&b=2")
    page = pages.get("/inbox")
    assert page.find("li.card .value").get_text() == "First line\nsecond"
    link = page.find('a[href^="https:"]')
    assert (link["href"], link["rel"]) == ("https://example.org/?a=1&b=2", ["noreferrer", "noopener"])
    applet = house.call("GET", "/applets").json()["items"][0]["id"]
    assert page.link("Says it") == f"/applets/{applet}"
    why = page.find('a[href^="/activity/"]')
    assert pages.get(str(why["href"])).status == 200
    house.call("DELETE", f"/applets/{applet}")
    assert page.link("Says it") not in pages.get("/inbox").html


@pytest.mark.parametrize(
    "link", ["javascript:alert(1)", "data:text/html,x", "//evil.example", "/settings", "http://", "https://[x"]
)
def test_only_links_of_the_web_can_be_followed(pages: Pages, house: House, link: str) -> None:
    put(house, 1, link=link)
    page = pages.get("/inbox")
    assert link in page.text
    assert link not in [a["href"] for a in page.soup.select("main a")]


def put(house: House, number: int, **changes: str) -> None:
    script = Script()
    values = {"applet_id": "", "execution_id": "", "title": "", "body": f"message {number}", "link": "", **changes}
    insert_message(script, Message(f"m{number:04}", "owner", created_at=1_790_000_000_000 + number, **values))
    house.database.execute(script.sql)


def test_older_messages_are_on_further_pages(pages: Pages, house: House) -> None:
    for number in range(230):
        put(house, number)
    seen: list[str] = []
    path = "/inbox"
    while path:
        page = pages.get(path)
        seen += page.texts("li.card .value")
        following = page.soup.select("a[rel=next]")
        path = str(following[0]["href"]) if following else ""
    assert seen == [f"message {number}" for number in reversed(range(230))]
    assert page.link("← Newest") == "/inbox"


@with_hostile_texts
def test_hostile_messages_are_text(pages: Pages, house: House, hostile: str) -> None:
    house.make_applet(name=hostile, actions=[notification("{{Value1}}", title="{{Value1}}")])
    house.fire(query={"value1": hostile})
    house.work()
    assert_is_text(pages.get("/inbox"), hostile)


def test_everybody_has_an_inbox_of_their_own(pages: Pages, house: House) -> None:
    notify(house, "For Ada alone")
    eve = other_user(pages)
    assert "For Ada alone" in pages.get("/inbox").text
    assert "For Ada alone" not in eve.get("/inbox").text
    assert eve.get("/inbox?before=nonsense").status == 422
