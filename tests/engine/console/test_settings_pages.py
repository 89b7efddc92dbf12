"""Settings: time zone, password, keys, and users for administrators."""

from urllib.parse import urlsplit

import pytest

from tests.support.embedded import House
from tests.support.hostile_texts import assert_is_text, with_hostile_texts
from tests.support.pages import NAME, PASSWORD, Pages, form_values, other_user

PROFILE = 'form[action="/settings"]'
NEW_PASSWORD = 'form[action="/settings/password"]'
NEW_KEY = 'form[action="/settings/keys"]'
INVITE = 'form.form[action="/settings/users"]'
OTHER = "a quite different one"


def test_time_zone_and_days(pages: Pages, house: House) -> None:
    page = pages.submit(pages.get("/settings"), PROFILE, zone="Asia/Tokyo", payload_days="7")
    assert page.path == "/settings?saved=profile"
    assert (page.find("#zone")["value"], page.find("#payload_days")["value"]) == ("Asia/Tokyo", "7")
    me = house.call("GET", "/me").json()
    assert (me["zone"], me["payload_days"]) == ("Asia/Tokyo", 7)


@pytest.mark.parametrize(
    ("field", "text"),
    [("zone", "Mars/Base"), ("zone", ""), ("payload_days", "0"), ("payload_days", "1000"), ("payload_days", "٣"),
     ("payload_days", ""), ("payload_days", "9" * 5000), ("zone", '"><img src=x onerror=alert(1)>')],
)  # fmt: skip
def test_settings_that_can_not_be(pages: Pages, house: House, field: str, text: str) -> None:
    page = pages.submit(pages.get("/settings"), PROFILE, **{field: text})
    assert page.status == 422
    assert [link["href"] for link in page.soup.select(".notice.bad a")] == [f"#{field}"]
    assert page.find(f"#{field}")["value"] == text
    assert page.find(f"#{field}")["aria-invalid"] == "true"
    assert page.soup.select("img") == []
    assert house.call("GET", "/me").json()["payload_days"] == 30


def test_another_password(pages: Pages) -> None:
    """Given two browsers, when one gets a new password, then it stays signed in, and the other has to do so anew."""
    other = Pages(pages.house)
    other.sign_in()
    page = pages.submit(pages.get("/settings"), NEW_PASSWORD, current=PASSWORD, password=OTHER, repeated=OTHER)
    assert page.path == "/settings?saved=password"
    assert other.get("/settings").path.startswith("/sign-in")
    assert other.sign_in(NAME, OTHER).path == "/applets"
    assert pages.get("/settings").status == 200


@pytest.mark.parametrize(
    ("current", "new", "repeated", "field"),
    [
        ("wrong", OTHER, OTHER, "current"),
        (PASSWORD, "short", "short", "password"),
        (PASSWORD, OTHER, OTHER + " ", "repeated"),
    ],
)
def test_passwords_that_are_not_taken(pages: Pages, current: str, new: str, repeated: str, field: str) -> None:
    page = pages.submit(pages.get("/settings"), NEW_PASSWORD, current=current, password=new, repeated=repeated)
    assert page.status == 422
    assert page.texts(f"#{field}-error") != []
    assert OTHER not in page.html
    assert Pages(pages.house).sign_in().path == "/applets"


def test_too_many_tries_of_the_password(pages: Pages) -> None:
    page = pages.get("/settings")
    for _ in range(8):
        page = pages.submit(page, NEW_PASSWORD, current="wrong one", password=OTHER, repeated=OTHER)
    assert (page.status, page.texts("#current-error")[0][:14]) == (429, "Too many tries")
    assert int(page.headers["retry-after"]) > 0


def test_signing_out_everywhere(pages: Pages) -> None:
    other = Pages(pages.house)
    other.sign_in()
    page = pages.submit(pages.get("/settings"), 'main form[action="/sign-out"]', everywhere="1")
    assert page.path == "/sign-in"
    assert other.get("/settings").path.startswith("/sign-in")


def test_a_key_is_shown_once_and_revoked(pages: Pages, house: House) -> None:
    page = pages.submit(pages.get("/settings/keys"), NEW_KEY, kind="webhook", name="Doorbell")
    key = str(page.find("#key")["value"])
    assert page.headers["cache-control"] == "no-store"
    assert urlsplit(str(page.find("#hook")["value"])).path == f"/trigger/EVENT/with/key/{key}"
    house.make_applet()
    assert house.hooks.get(f"/trigger/door/with/key/{key}").status_code == 200
    shown = pages.get("/settings/keys")
    assert key not in shown.html
    assert "Doorbell" in shown.texts("h3")[0]
    assert f"begins with {key[:4]}" in shown.text
    gone = pages.submit(shown, "ul.stack > li:first-child form")
    assert "Doorbell" not in gone.text
    assert house.hooks.get(f"/trigger/door/with/key/{key}").status_code == 401


def test_a_key_of_the_api(pages: Pages, house: House) -> None:
    page = pages.submit(pages.get("/settings/keys"), NEW_KEY, kind="api", name="Script")
    key = str(page.find("#key")["value"])
    assert house.api.get("/api/me", headers={"Authorization": f"Bearer {key}"}).status_code == 200
    assert not page.soup.select("#hook")


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "x", "kind": "admin"}, "kind"),
        ({"name": "x", "kind": "api", "delivery_id_header": "X-Id"}, "delivery_id_header"),
        ({"name": "x", "delivery_id_header": "Cookie"}, "delivery_id_header"),
        ({"name": "x", "delivery_id_header": "not a header"}, "delivery_id_header"),
    ],
)
def test_keys_that_can_not_be(pages: Pages, house: House, values: dict[str, str], field: str) -> None:
    before = len(house.call("GET", "/keys").json()["items"])
    page = pages.submit(pages.get("/settings/keys"), NEW_KEY, **values)
    assert page.status == 422
    assert [link["href"] for link in page.soup.select(".notice.bad a")] == [f"#{field}"]
    assert page.soup.select(f"#{field}")
    assert len(house.call("GET", "/keys").json()["items"]) == before


def test_keys_of_another_owner(pages: Pages, house: House) -> None:
    eve = other_user(pages)
    path = str(pages.get("/settings/keys").soup.select("ul.stack form")[0]["action"])
    csrf = form_values(eve.get("/settings/keys").find(NEW_KEY))["csrf"]
    assert eve.post(path, {"csrf": csrf}).status == 404
    assert pages.post(path, {}).status == 403
    assert eve.get("/settings/keys").texts("h3") == []
    assert house.call("GET", "/me").status_code == 200


@with_hostile_texts
def test_hostile_names_of_keys(pages: Pages, hostile: str) -> None:
    page = pages.submit(pages.get("/settings/keys"), NEW_KEY, kind="webhook", name=hostile)
    assert page.status == 200
    assert_is_text(page, hostile)
    assert_is_text(pages.get("/settings/keys"), hostile)


def test_somebody_is_invited_kept_out_and_let_in(pages: Pages) -> None:
    page = pages.submit(pages.get("/settings/users"), INVITE, name="Bob <b>")
    assert page.headers["cache-control"] == "no-store"
    path = urlsplit(str(page.find("#link")["value"])).path
    assert path not in pages.get("/settings/users").html
    bob = Pages(pages.house)
    assert bob.submit(bob.get(path), password=OTHER, zone="UTC").path == "/applets"
    assert bob.get("/settings").texts("nav.sections a") == ["General", "Keys"]
    page = pages.submit(pages.get("/settings/users"), 'form[action$="/disable"]')
    assert "kept out" in page.text
    assert bob.get("/applets").path.startswith("/sign-in")
    page = pages.submit(page, 'form[action$="/enable"]')
    assert bob.sign_in("Bob <b>", OTHER).path == "/applets"
    again = pages.submit(page, "ul.stack > li:last-child form[action='/settings/users']")
    fresh = Pages(pages.house)
    fresh.submit(fresh.get(urlsplit(str(again.find("#link")["value"])).path), password=PASSWORD, zone="UTC")
    assert bob.get("/applets").path.startswith("/sign-in")


def test_inviting_somebody_new_hands_out_no_password_of_a_user(pages: Pages) -> None:
    """Given a name that a user has, in any spelling, then the form makes no link; the button beside the user does."""
    other_user(pages, "Eve")
    refused = pages.submit(pages.get("/settings/users"), INVITE, name=" EVE")
    assert refused.status == 422
    assert refused.texts("#name-error") == [
        "There is a user of this name already. For a new password use the button beside it."
    ]
    assert refused.soup.select("#link") == []
    again = pages.submit(refused, "ul.stack > li:last-child form[action='/settings/users']")
    assert again.soup.select("#link") != []


def test_users_are_for_administrators(pages: Pages) -> None:
    eve = other_user(pages)
    csrf = form_values(eve.get("/settings").find(PROFILE))["csrf"]
    assert eve.get("/settings/users").status == 404
    for path in ("/settings/users", "/settings/users/disable", "/settings/users/enable"):
        assert eve.post(path, {"csrf": csrf, "name": NAME}).status == 404
        assert pages.post(path, {"name": "x"}).status == 403
    assert pages.get("/settings/users").texts(".badge") == ["administrator"]


def test_an_administrator_is_not_kept_out_by_themselves(pages: Pages) -> None:
    page = pages.get("/settings/users")
    csrf = form_values(page.find(INVITE))["csrf"]
    refused = pages.post("/settings/users/disable", {"csrf": csrf, "name": NAME})
    assert (refused.status, pages.get("/settings/users").status) == (422, 200)
    assert pages.post("/settings/users/disable", {"csrf": csrf, "name": "nobody"}).status == 404


@pytest.mark.parametrize("name", [" ", "x" * 61, "a\u202eb"])
def test_names_that_nobody_can_have(pages: Pages, name: str) -> None:
    page = pages.submit(pages.get("/settings/users"), INVITE, name=name)
    assert page.status == 422
    assert page.texts("#name-error") != []


@with_hostile_texts
def test_hostile_names_of_users(pages: Pages, hostile: str) -> None:
    page = pages.submit(pages.get("/settings/users"), INVITE, name=hostile)
    assert_is_text(page, hostile)
