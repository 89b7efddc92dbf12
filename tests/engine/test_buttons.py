"""Buttons: links that are made in the API, pages that fire nothing, and presses that do."""

import re
from html import unescape
from typing import Any
from urllib.parse import urlsplit

import pytest
import time_machine
from starlette.testclient import TestClient

from tests.support.embedded import House, notification
from whenthen.store.errors import Unreachable
from whenthen.web import hooks
from whenthen.wiring import Runtime

LABEL = 'Open "the" <garage> & go'
DAY = 86_400


def connect(house: House, **fields: str) -> str:
    answer = house.call("POST", "/connections", {"service": "button", "name": "Buttons", "fields": fields})
    assert answer.status_code == 201, answer.text
    made: str = answer.json()["id"]
    return made


def make_button(house: House, label: str = LABEL, connection: str = "") -> Any:
    trigger = {
        "service": "button",
        "trigger": "pressed",
        "fields": {"label": label},
        "connection": connection or connect(house),
    }
    return house.make_applet(trigger=trigger, actions=[notification("{{Label}} at {{OccurredAt}}")])


def link(house: House, applet_id: str, days: int | None = None) -> str:
    """Path and query of a new link."""
    answer = house.call("POST", f"/applets/{applet_id}/link", {"days": days})
    assert answer.status_code == 201, answer.text
    assert (answer.json()["expires_at"] is None) == (days is None)
    url = urlsplit(answer.json()["url"])
    assert url.netloc == "testserver"
    return f"{url.path}?{url.query}"


def press_id(page: str) -> str:
    found = re.search(r'name="press" value="([^"]+)"', page)
    assert found is not None
    return found[1]


@pytest.fixture
def path(house: House) -> str:
    return link(house, make_button(house)["id"])


def test_looking_at_the_page_fires_nothing(house: House, path: str) -> None:
    for method in ("GET", "HEAD", "OPTIONS", "PUT"):
        answer = house.hooks.request(method, path)
        assert answer.status_code == (200 if method == "GET" else 405)
    assert house.activity() == []


def test_the_page(house: House, path: str) -> None:
    answer = house.hooks.get(path)
    assert LABEL in unescape(answer.text)
    assert "<garage>" not in answer.text
    assert "Door" not in answer.text, "the applet's name is the owner's"
    assert "<script" not in answer.text
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-store"


def test_a_press_is_one_event_however_often_it_comes(house: House, path: str) -> None:
    """A double click, and a reload of what a press has answered."""
    press = {"press": press_id(house.hooks.get(path).text)}
    answers = [house.hooks.post(path, data=press) for _ in range(3)]
    assert {answer.status_code for answer in answers} == {200}
    assert all("Done" in answer.text for answer in answers)
    assert len({answer.headers["x-event-id"] for answer in answers}) == 1
    assert len(house.activity()) == 1
    assert house.execution()["ingredients"]["PressId"] == press["press"]
    assert house.messages()[0].startswith(f"{LABEL} at ")
    # The page that is opened anew has another one.
    house.hooks.post(path, data={"press": press_id(house.hooks.get(path).text)})
    assert len(house.activity()) == 2


def test_a_press_without_an_id_is_an_event_of_its_own(house: House, path: str) -> None:
    for _ in range(2):
        assert house.hooks.post(path).status_code == 200
    assert len(house.activity()) == 2


@pytest.mark.parametrize("press", ["a b", "x" * 65, "é", "../", "'"])
def test_an_id_that_is_none(house: House, path: str, press: str) -> None:
    answer = house.hooks.post(path, data={"press": press})
    assert answer.status_code == 400
    assert "press" in answer.text
    assert house.activity() == []


def test_forged_links(house: House, path: str) -> None:
    other = link(house, make_button(house, "Close")["id"])
    _, _, connection, expires, signature = path.partition("?")[0].split("/")
    query = path.partition("?")[2]
    for forged in (
        f"/button/{connection}/{expires}/{signature}",
        f"/button/{connection}/{expires}/{signature}?label=Close",
        f"/button/{connection}/9999999999/{signature}?{query}",
        f"/button/{connection}/x/{signature}?{query}",
        f"/button/{connection}/{expires}/{'A' * 43}?{query}",
        f"/button/{connection}/{expires}/%C3%A9?{query}",
        f"/button/{'0' * 32}/{expires}/{signature}?{query}",
        f"/button/{other.split('/')[2]}/{expires}/{signature}?{query}",
        f"/button/x/{expires}/{signature}?{query}",
    ):
        for method in ("GET", "POST"):
            answer = house.hooks.request(method, forged)
            assert answer.status_code == 401, forged
            assert "This link is not valid." in answer.text
            assert "content-security-policy" in answer.headers
    assert house.activity() == []


def test_a_link_expires(house: House) -> None:
    with time_machine.travel("2026-11-29T18:05:00Z") as clock:
        path = link(house, make_button(house)["id"], days=7)
        clock.shift(7 * DAY - 1)
        assert house.hooks.post(path).status_code == 200
        clock.shift(1)
        for method in ("GET", "POST"):
            answer = house.hooks.request(method, path)
            assert answer.status_code == 401
            assert "expired" in answer.text
    assert len(house.activity()) == 1


def test_a_button_of_an_applet_that_is_off_says_so(house: House) -> None:
    applet = make_button(house)
    path = link(house, applet["id"])
    house.call("PATCH", f"/applets/{applet['id']}", {"enabled": False})
    answer = house.hooks.post(path)
    assert answer.status_code == 200
    assert "no applet that is on" in answer.text
    assert house.activity() == []


def test_links_end_with_their_connection_and_with_its_key(house: House) -> None:
    connection = connect(house)
    applet = make_button(house, connection=connection)
    old = link(house, applet["id"])
    house.call("PATCH", f"/connections/{connection}", {"fields": {"signing_key": "n" * 40}})
    assert house.hooks.post(old).status_code == 401
    new = link(house, applet["id"])
    assert house.hooks.post(new).status_code == 200
    house.call("DELETE", f"/applets/{applet['id']}")
    assert house.call("DELETE", f"/connections/{connection}").status_code == 204
    assert house.hooks.post(new).status_code == 401
    assert len(house.activity()) == 1


def test_the_key_is_made_and_never_shown(house: House) -> None:
    connection = connect(house)
    shown = house.call("GET", f"/connections/{connection}").json()
    assert (shown["fields"], shown["secrets"]) == ({}, ["signing_key"])
    assert connect(house, signing_key="k" * 32)
    refused = house.call("POST", "/connections", {"service": "button", "name": "b", "fields": {"signing_key": "short"}})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == "fields.signing_key"


def test_only_buttons_have_links(house: House) -> None:
    applet = house.make_applet()
    answer = house.call("POST", f"/applets/{applet['id']}/link", {"days": 1})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "trigger")
    assert house.call("POST", "/applets/0123456789abcdef/link", {"days": 1}).status_code == 404
    for days in (0, -1, 3651, "7", 1.5, True):
        answer = house.call("POST", f"/applets/{make_button(house)['id']}/link", {"days": days})
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "days")


def test_a_press_while_the_database_is_down(house: House, path: str) -> None:
    assert house.hooks.get(path).status_code == 200
    house.database.error = Unreachable()
    for _ in range(2):
        assert "Done" in house.hooks.post(path, data={"press": "p-1"}).text
    house.database.error = None
    assert house.tick().drained == 2
    assert len(house.activity()) == 1


def test_a_process_that_has_not_read_the_connection_says_that_it_can_not(house: House, path: str) -> None:
    house.database.error = Unreachable()
    cold = Runtime(house.runtime.settings, database=house.database, wakeups=house.wakeups, arrivals=house.arrivals)
    answer = TestClient(hooks.make_app(cold)).post(path)
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "30"
    assert "<h1>" in answer.text
    assert house.arrivals.receive(wait_seconds=0) == []
