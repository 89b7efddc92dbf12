"""What holds for every page: forms are ours, other users' things are not there, looking changes nothing."""

import json
import re
from typing import Any
from urllib.parse import quote

import pytest
from starlette.routing import Route

from tests.support.embedded import notification
from tests.support.pages import NAME, PASSWORD, Pages, form_values, other_user
from whenthen.web.console.routes import routes

_WRITES = re.compile(r"\b(INSERT INTO|UPDATE \w+ SET|DELETE FROM|CREATE TABLE|DROP TABLE|COPY \w+)\b")
_PLACE = re.compile(r"\{[^}]*\}")


def paths(pages: Pages, method: str, known: dict[str, str]) -> list[str]:
    """The paths of all pages with what is known in place of their ids; others are left out unless they have none."""
    found = []
    for route in routes(pages.house.runtime):
        assert isinstance(route, Route)
        if method not in (route.methods or ()):
            continue
        for beginning, value in known.items():
            if route.path.startswith(beginning):
                found.append(_PLACE.sub(quote(value, safe=""), route.path))
                break
        else:
            if "{" not in route.path:
                found.append(route.path)
    return found


@pytest.fixture
def things(pages: Pages) -> dict[str, str]:
    """One of each of what the owner has, by the beginning of its path."""
    house = pages.house
    row = {"service": "table", "action": "add_row", "fields": {"table": "Guests", "values": {"Who": "{{Value1}}"}}}
    applet = house.make_applet(actions=[notification("{{Value1}}"), row])
    house.fire(query={"value1": "a"})
    house.work()
    secret = {"secret": "It's a secret to everybody", "scheme": "github"}
    wanted = {"service": "signed_webhooks", "name": "Mine", "fields": secret}
    connection = house.call("POST", "/connections", wanted).json()
    key = house.call("GET", "/keys").json()["items"][0]
    return {
        "/applets/{id}": applet["id"],
        "/activity/{execution_id:path}": house.activity()[0]["execution_id"],
        "/connections/{id}": connection["id"],
        "/settings/keys/{id}": key["id"],
        "/tables/{name}": "Guests",
        "/services/{slug}": "webhooks",
        "/invitations/{token}": "x",
    }


def _token(pages: Pages) -> str:
    return str(form_values(pages.get("/applets").find('form[action="/sign-out"]'))["csrf"])


def test_every_form_needs_its_token(pages: Pages, things: dict[str, str]) -> None:
    """Given a form without a token, with that of another session or user, or from another site, then it is refused."""
    second, eve = Pages(pages.house), other_user(pages)
    second.sign_in()
    token = _token(pages)
    found = paths(pages, "POST", things)
    assert len(found) > 20
    for path in found:
        assert pages.post(path, {}).status == 403, path
        assert pages.post(f"{path}?csrf={token}", {}).status == 403, path
        assert pages.post(path, {"csrf": _token(second)}).status == 403, path
        assert pages.post(path, {"csrf": _token(eve)}).status == 403, path
        for site in ("cross-site", "same-site"):
            assert pages.post(path, {"csrf": token}, **{"Sec-Fetch-Site": site}).status == 403, path


def test_another_users_things_are_not_there(pages: Pages, things: dict[str, str]) -> None:
    eve = other_user(pages)
    token = _token(eve)
    own = {path: value for path, value in things.items() if not path.startswith(("/services", "/invitations"))}
    for method in ("GET", "POST"):
        found = [path for path in paths(pages, method, own) if any(quote(v, safe="") in path for v in own.values())]
        assert len(found) > 5
        for path in found:
            for extra in ({}, {"HX-Request": "true"}):
                shown = eve.get(path, **extra) if method == "GET" else eve.post(path, {"csrf": token}, **extra)
                assert shown.status == 404, f"{method} {path}"
                assert "Guests" not in shown.text.replace("/tables/Guests", "")
    assert pages.house.call("GET", "/me").status_code == 200


def test_looking_changes_nothing(pages: Pages, things: dict[str, str]) -> None:
    """Given any page that is only opened, by whom it belongs to, then nothing is written."""
    sent = pages.house.database.sent
    for path in paths(pages, "GET", things):
        for extra in ({}, {"HX-Request": "true"}):
            sent.clear()
            assert pages.get(path, **extra).status < 500, path
            assert [sql for sql in sent if _WRITES.search(sql)] == [], path


def _multipart(charset: str, **values: str) -> dict[str, Any]:
    parts = [f'--x\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n' for k, v in values.items()]
    kind = f"multipart/form-data; boundary=x; charset={charset}"
    return {"content": "".join([*parts, "--x--\r\n"]), "headers": {"Content-Type": kind}}


@pytest.mark.parametrize(("charset", "status"), [("utf-8", 401), ("punycode", 400), ("undefined", 400), ("no", 400)])
def test_charsets_of_forms(pages: Pages, charset: str, status: int) -> None:
    """Given a form in a charset that takes minutes to decode, then it is not decoded."""
    other = Pages(pages.house)
    form = form_values(other.get("/sign-in").find("main form"))
    answer = other.client.post("/sign-in", **_multipart(charset, **{**form, "name": NAME, "password": "wrong one"}))
    assert answer.status_code == status


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT"])
def test_a_path_that_is_none(pages: Pages, method: str) -> None:
    assert pages.client.request(method, "/nothing").status_code == 404
    assert pages.client.request(method, "/applets/a/b/c").status_code == 404


def test_a_wrong_method(pages: Pages) -> None:
    answer = pages.client.request("POST", "/activity")
    assert (answer.status_code, set(answer.headers["allow"].split(", "))) == (405, {"GET", "HEAD"})


def test_a_program_is_led_to_any_path_of_ours(pages: Pages) -> None:
    other = Pages(pages.house)
    form = {**form_values(other.get("/sign-in").find("main form")), "name": NAME, "password": PASSWORD}
    answer = other.client.post("/sign-in", data={**form, "next": "/tables/来客"}, headers={"HX-Request": "true"})
    assert (answer.status_code, answer.headers["hx-redirect"]) == (204, f"/tables/{quote('来客')}")
    assert answer.headers["cache-control"] == "no-store"


def test_half_a_character(pages: Pages) -> None:
    """Given half of a surrogate pair in what a form carries along, then the page is shown without it."""
    page = pages.get("/applets/new?service=webhooks&trigger=event")
    form = form_values(page.find("#editor-form"))
    form |= {"samples": json.dumps({"Value1": "\ud83d"}), "op": "check"}
    shown = pages.post("/applets/new", form)
    assert shown.status == 200
