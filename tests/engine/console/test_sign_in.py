"""First run, signing in and out, and what keeps forms ours."""

import re
from typing import Any

import pytest

from tests.support.embedded import House
from tests.support.pages import NAME, PASSWORD, Pages, form_values, other_user


@pytest.fixture
def visitor(house: House) -> Pages:
    """A browser that nobody has used."""
    return Pages(house)


def test_the_first_run_makes_the_owner(visitor: Pages) -> None:
    """Given nobody with an account, when any page is asked for, then it is the first run, once."""
    first = visitor.get("/applets")
    assert (first.status, first.path) == (200, "/welcome")
    shown = visitor.sign_up()
    assert (shown.status, shown.path) == (200, "/applets")
    assert visitor.get("/welcome").path == "/applets"
    other = Pages(visitor.house)
    assert other.get("/welcome").path == "/sign-in"
    assert other.post("/welcome", {"csrf": ""}).status == 403


@pytest.mark.parametrize(
    ("changes", "field"),
    [({"password": "short"}, "password"), ({"name": " "}, "name"), ({"zone": "Mars/Base"}, "zone")],
)
def test_mistakes_of_the_first_run(visitor: Pages, changes: dict[str, str], field: str) -> None:
    values = {"name": NAME, "password": PASSWORD, "zone": "Europe/Paris", **changes}
    shown = visitor.submit(visitor.get("/welcome"), **values)
    assert shown.status == 422
    assert shown.find(f"#{field}")["aria-invalid"] == "true"
    assert shown.texts(f"#{field}-error") != [""]
    assert PASSWORD not in shown.html
    assert visitor.sign_up().path == "/applets"


@pytest.mark.parametrize("way", ["address", "host", "proxy", "plain proxy", "proxy for TLS"])
def test_a_visitor_over_the_network_shows_a_key(house: House, way: str) -> None:
    """Given a machine that is reached by others, then the first run is for who has the owner's API key."""
    stranger = Pages(house)
    if way == "address":
        stranger.client._transport.client = ("192.0.2.7", 50000)  # type: ignore[attr-defined]
    elif way == "host":
        stranger.client.base_url = "http://whenthen.example"
    elif way == "plain proxy":
        app = stranger.client.app

        async def asked_by_nginx(scope: Any, receive: Any, send: Any) -> None:
            await app({**scope, "http_version": "1.0"}, receive, send)

        stranger.client._transport.app = asked_by_nginx  # type: ignore[attr-defined]
    elif way == "proxy":
        stranger.client.headers["X-Forwarded-For"] = "192.0.2.7"
    else:
        stranger.client.headers["X-Forwarded-Proto"] = "https"
    page = stranger.get("/welcome")
    values = {"name": NAME, "password": PASSWORD, "zone": "UTC"}
    assert stranger.submit(page, **values, api_key="wrong").status == 422
    form = form_values(page.find("main form"))
    del form["api_key"]
    assert stranger.post("/welcome", {**form, **values}).status == 422
    assert stranger.submit(page, **values, api_key=house.api_key).path == "/applets"


@pytest.mark.parametrize(("name", "password"), [(NAME, "wrong password"), ("nobody", PASSWORD), ("", "")])
def test_who_is_not_let_in(pages: Pages, name: str, password: str) -> None:
    stranger = Pages(pages.house)
    shown = stranger.sign_in(name, password)
    assert shown.status == 401
    assert shown.texts("[role=alert]") == ["The name or the password is not right."]
    assert stranger.get("/applets").path == "/sign-in?next=/applets"


def test_too_many_tries(pages: Pages) -> None:
    stranger = Pages(pages.house)
    statuses = [stranger.sign_in(password="wrong password").status for _ in range(8)]
    assert statuses[0] == 401
    assert statuses[-1] == 429
    assert stranger.sign_in().status == 429
    assert pages.get("/applets").status == 200


@pytest.mark.parametrize(
    ("target", "leads"),
    [
        ("/activity", "/activity"),
        ("//evil.example/", "/applets"),
        ("/\\evil.example", "/applets"),
        ("https://evil.example", "/applets"),
        ("/x\r\nSet-Cookie: a=b", "/applets"),
    ],
)
def test_where_signing_in_leads(pages: Pages, target: str, leads: str) -> None:
    other = Pages(pages.house)
    other.client.follow_redirects = False
    form = form_values(other.get("/sign-in").find("main form"))
    answer = other.client.post("/sign-in", data={**form, "name": NAME, "password": PASSWORD, "next": target})
    assert (answer.status_code, answer.headers["location"]) == (303, leads)


def test_signing_out(pages: Pages) -> None:
    """Given two browsers, when one signs out, then the other goes on; everywhere, then neither."""
    other = Pages(pages.house)
    other.sign_in()
    pages.submit(pages.get("/applets"), 'form[action="/sign-out"]')
    assert pages.get("/applets").path.startswith("/sign-in")
    assert other.get("/applets").path == "/applets"
    pages.sign_in()
    other.submit(other.get("/applets"), 'form[action="/sign-out"]', everywhere="1")
    assert pages.get("/applets").path.startswith("/sign-in")


def test_a_form_without_its_token(pages: Pages) -> None:
    for token in ("", "x", "é" * 64):
        assert pages.post("/sign-out", {"csrf": token}).status == 403
    form = form_values(pages.get("/applets").find('form[action="/sign-out"]'))
    crossing = {"Sec-Fetch-Site": "cross-site"}
    assert pages.post("/sign-out", form, **crossing).status == 403
    eve = other_user(pages)
    assert eve.post("/sign-out", form).status == 403
    assert pages.get("/applets").path == "/applets"


def test_cookies_and_headers(pages: Pages) -> None:
    other = Pages(pages.house)
    other.client.follow_redirects = False
    page = other.get("/sign-in")
    form = form_values(page.find("main form"))
    answer = other.client.post("/sign-in", data={**form, "name": NAME, "password": PASSWORD})
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Secure" not in cookie
    policy = page.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert page.headers["cache-control"] == "no-store"
    assert not re.search(r"\son\w+=|\sstyle=|<style|<script(?! src=)", page.html)
    other.client.base_url = "https://localhost"
    secure = other.client.post("/sign-in", data={**form, "name": NAME, "password": PASSWORD})
    assert secure.status_code in (303, 403)
    assert all("Secure" in value for value in secure.headers.get_list("set-cookie"))


@pytest.mark.parametrize("path", ["/applets?q=door&state=on", "/tables/a%3Fb?page=2"])
def test_the_language_changes_on_the_same_page(pages: Pages, path: str) -> None:
    page = pages.get(path)
    assert pages.submit(page, 'form[action="/preferences"]', language="ja").path == page.path


def test_the_language_changes_after_a_refused_form(pages: Pages) -> None:
    """Given a page that answers a form where nothing else is shown, then its buttons lead to the page above."""
    refused = pages.submit(pages.get("/settings"), 'form[action="/settings/password"]', current="no", password="x")
    assert (refused.status, refused.path) == (422, "/settings/password")
    shown = pages.submit(refused, 'form[action="/preferences"]', language="ja")
    assert (shown.status, shown.path) == (200, "/settings")
    assert pages.get("/sign-out").path == "/applets"
    assert pages.get("/applets/nothing/key").status == 404


def test_languages_and_themes(pages: Pages) -> None:
    shown = pages.submit(pages.get("/applets"), 'form[action="/preferences"]', language="ja", theme="dark")
    assert (shown.find("html")["lang"], shown.find("html")["data-theme"]) == ("ja", "dark")
    shown = pages.submit(shown, 'form[action="/preferences"]', language='"><script>', theme="system")
    assert shown.find("html")["lang"] == "en"
    assert "data-theme" not in shown.find("html").attrs
    assert pages.get("/applets", **{"Accept-Language": "de, ja;q=0.5, en;q=0.1"}).find("html")["lang"] == "ja"


def test_what_is_not_there(pages: Pages) -> None:
    assert pages.get("/nothing").status == 404
    assert pages.get("/static/0/secret.css").status == 404
    style = str(pages.get("/applets").find('link[rel="stylesheet"]')["href"])
    assert "immutable" in pages.get(style).headers["cache-control"]
    assert pages.get(style.replace("/static/", "/static/0")).headers["cache-control"] == "no-store"
    assert pages.client.get("/api/nothing").headers["content-type"] == "application/problem+json"
