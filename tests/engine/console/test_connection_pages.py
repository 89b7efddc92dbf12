"""Connections by page: made, tried out, repaired, signed in for, deleted; secrets are never shown."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.authorizing import CLIENT, Vendor, register
from tests.support.embedded import House, Json, notification
from tests.support.hostile_texts import assert_is_text, with_hostile_texts
from tests.support.pages import Pages, Shown, form_values, other_user
from tests.support.signing import GITHUB_SECRET, github

TOKEN = "at-by-hand"
FORM = "form.form"


@pytest.fixture
def vendor(monkeypatch: pytest.MonkeyPatch) -> Iterator[Vendor]:
    register(monkeypatch.setitem)
    with Vendor() as running:
        running.give(TOKEN)
        yield running


def connect(pages: Pages, vendor: Vendor, **values: Any) -> Shown:
    fields = {"name": "My vendor", "fields.url": vendor.url, "fields.token": TOKEN, **values}
    return pages.submit(pages.get("/connections/new?service=vendor"), FORM, **fields)


def stored(house: House, page: Shown) -> Json:
    found: Json = house.call("GET", f"/connections/{page.path.partition('?')[0].rpartition('/')[2]}").json()
    return found


def use(house: House, connection: str, name: str = "Uses it") -> Json:
    action = {"service": "vendor", "action": "post", "fields": {"text": "x"}, "connection": connection}
    return house.make_applet(name=name, actions=[action])


def test_a_connection_is_made_tried_out_and_shown_without_secrets(pages: Pages, house: House, vendor: Vendor) -> None:
    assert pages.get("/connections/new").link("V Vendor An account at the vendor.") == "/connections/new?service=vendor"
    page = connect(pages, vendor, **{"fields.note": "for me"})
    assert page.path.endswith("?made=1")
    assert page.texts(".notice") != []
    assert page.texts(".badge") == ["working"]
    assert "@ada" in page.text
    assert TOKEN not in page.html
    made = stored(house, page)
    assert (made["name"], made["fields"]["note"], made["secrets"]) == ("My vendor", "for me", ["token"])
    shown = pages.get("/connections")
    assert shown.link("My vendor") == f"/connections/{made['id']}"


@pytest.mark.parametrize(
    ("values", "anchor"),
    [
        ({"fields.url": ""}, "fields-url"),
        ({"name": ""}, "name"),
        ({"fields.token": "wrong"}, "fields-token"),
        ({"fields.token": "two words"}, "fields-token"),
        ({"op": "sign-in", "fields.token": ""}, "fields-client_id"),
    ],
)
def test_mistakes_are_told_at_their_field(pages: Pages, vendor: Vendor, values: Json, anchor: str) -> None:
    page = connect(pages, vendor, **{"fields.note": "typed", **values})
    assert page.status == 422
    assert [link["href"] for link in page.soup.select(".notice.bad a")] == [f"#{anchor}"]
    field = page.find(f"#{anchor}")
    assert field["aria-invalid"] == "true"
    assert f"{anchor}-error" in str(field["aria-describedby"]).split()
    assert page.find("#fields-note")["value"] == "typed"
    assert page.find("#fields-token")["value"] == ""
    assert TOKEN not in page.html


def test_a_secret_that_is_left_empty_stays(pages: Pages, house: House, vendor: Vendor) -> None:
    page = connect(pages, vendor, **{"fields.note": "before", "fields.client_secret": "s3cret"})
    page = pages.submit(page, FORM, **{"name": "Renamed", "fields.note": ""})
    assert page.path.endswith("?saved=1")
    made = stored(house, page)
    assert (made["name"], made["fields"]["note"]) == ("Renamed", "")
    assert made["secrets"] == ["client_secret", "token"]
    page = pages.submit(page, FORM, forget="client_secret")
    assert stored(house, page)["secrets"] == ["token"]
    page = pages.submit(page, FORM, **{"fields.url": vendor.url + "/"})
    assert page.status == 422
    assert page.texts("#fields-token-error") == ["has to be given again, since the connection is to lead elsewhere"]


def test_a_name_alone_asks_nobody(pages: Pages, house: House, vendor: Vendor) -> None:
    page = connect(pages, vendor)
    vendor.expire()
    page = pages.submit(page, FORM, name="Another name")
    made = stored(house, page)
    assert (made["name"], made["state"]) == ("Another name", "working")


def test_what_was_changed_elsewhere_is_not_overwritten(pages: Pages, house: House, vendor: Vendor) -> None:
    page = connect(pages, vendor)
    identifier = stored(house, page)["id"]
    house.call("PATCH", f"/connections/{identifier}", {"name": "From elsewhere"})
    late = pages.submit(page, FORM, name="From here")
    assert late.status == 422
    assert "changed since you opened" in late.text
    assert stored(house, page)["name"] == "From elsewhere"
    pages.submit(late, FORM)
    assert stored(house, page)["name"] == "From here"


def test_a_broken_connection_says_so_and_is_repaired(pages: Pages, house: House, vendor: Vendor) -> None:
    page = connect(pages, vendor)
    path = page.path.partition("?")[0]
    vendor.expire()
    page = pages.submit(page, 'form[action$="/test"]')
    assert page.texts(".badge") == ["broken"]
    assert "First noticed" in page.text
    assert "Bad credentials" in page.text
    listed = pages.get("/connections")
    assert listed.texts(".badge") == ["broken"]
    assert pages.get("/services").texts('a[href="/services/vendor"] .badge') == ["needs a look"]
    vendor.give("at-new")
    page = pages.submit(pages.get(path), FORM, **{"fields.token": "at-new"})
    assert page.texts(".badge") == ["working"]


def test_signing_in_at_the_service(pages: Pages, house: House, vendor: Vendor) -> None:
    """Given an app of one's own, then a page names the host before one goes there, and back is the connection."""
    client = {"fields.client_id": CLIENT[0], "fields.client_secret": CLIENT[1], "fields.token": ""}
    page = connect(pages, vendor, op="sign-in", **client)
    assert page.path.endswith("/authorize")
    assert "127.0.0.1" in page.text
    link = page.link("Continue to Vendor")
    assert urlsplit(link).path == "/authorize"
    assert CLIENT[1] not in page.html
    unfinished = pages.get(page.link("Not now"))
    assert unfinished.texts(".badge") == ["unfinished"]
    back = pages.client.get("/oauth/callback", params=vendor.consent(link))
    assert back.status_code == 200
    shown = pages.get(pages._shown(back).link("To the connection"))
    assert shown.texts(".badge") == ["working"]
    assert "@ada" in shown.text
    assert not shown.soup.select("#fields-token")
    again = pages.submit(shown, 'form[action$="/authorize"]')
    assert again.link("Continue to Vendor") != link
    assert len(house.call("GET", "/connections").json()["items"]) == 1


def test_a_token_that_was_given_by_hand_needs_no_signing_in(pages: Pages, vendor: Vendor) -> None:
    page = connect(pages, vendor)
    path = page.path.partition("?")[0]
    assert not page.soup.select('form[action$="/authorize"]')
    refused = pages.post(f"{path}/authorize", {"csrf": form_values(page.find(FORM))["csrf"]})
    assert refused.status == 422


def test_a_connection_in_use_stays(pages: Pages, house: House, vendor: Vendor) -> None:
    page = connect(pages, vendor)
    made = use(house, stored(house, page)["id"])
    page = pages.get(page.path)
    assert page.link("Uses it") == f"/applets/{made['id']}"
    refused = pages.submit(page, 'form[action$="/delete"]')
    assert refused.status == 422
    assert "The connection is used by Uses it." in refused.text
    house.call("DELETE", f"/applets/{made['id']}")
    deleted = pages.submit(page, 'form[action$="/delete"]')
    assert deleted.path == "/connections?deleted=1"
    assert pages.get(page.path).status == 404


def test_a_sender_of_signed_webhooks_gets_its_address(pages: Pages, house: House) -> None:
    new = pages.get("/connections/new?service=signed_webhooks")
    page = pages.submit(new, FORM, **{"fields.scheme": "github", "fields.secret": GITHUB_SECRET})
    url = urlsplit(str(page.find("#hook-url")["value"]))
    assert url.netloc == "localhost"
    assert "application/json" in page.text
    assert not page.soup.select('form[action$="/test"]')
    body = b"{}"
    answer = house.hooks.post(url.path, content=body, headers=github(body))
    assert answer.status_code == 200


@pytest.mark.parametrize("scheme", ["stripe", "slack", "shopify", "standard_webhooks", "meta", "hmac"])
def test_each_sender_has_its_steps(pages: Pages, house: House, scheme: str) -> None:
    secret = "whsec_" + "A" * 32
    extra = {"meta": {"verify_token": "v"}, "hmac": {"signature_header": "X-Sign"}}.get(scheme, {})
    fields = {"scheme": scheme, "secret": secret, **extra}
    answer = house.call("POST", "/connections", {"service": "signed_webhooks", "name": scheme, "fields": fields})
    assert answer.status_code == 201, answer.text
    page = pages.get(f"/connections/{answer.json()['id']}")
    assert len(page.texts("section ol li")) >= 2
    assert secret not in page.html


@pytest.mark.parametrize("days", ["7", "", "nonsense"])
def test_links_of_buttons(pages: Pages, house: House, days: str) -> None:
    page = pages.submit(pages.get("/connections/new?service=button"), FORM)
    assert "No applet has a button" in page.text
    connection = stored(house, page)["id"]
    trigger = {"service": "button", "trigger": "pressed", "fields": {"label": 'Open "the" <door>'}}
    house.make_applet(trigger={**trigger, "connection": connection}, actions=[notification("{{Label}}")])
    made = pages.submit(pages.get(page.path), 'form[action$="/link"]', days=days)
    url = urlsplit(str(made.find("#link")["value"]))
    assert url.path.split("/")[3] == "0" if days == "" else url.path.split("/")[3] != "0"
    assert house.hooks.post(f"{url.path}?{url.query}").status_code == 200
    assert house.messages() == ['Open "the" <door>']


@with_hostile_texts
def test_hostile_names_are_text(pages: Pages, house: House, vendor: Vendor, hostile: str) -> None:
    page = connect(pages, vendor, **{"name": hostile, "fields.note": hostile})
    assert page.find("h1").get_text() == hostile
    use(house, stored(house, page)["id"], name=hostile)
    refused = pages.submit(pages.get(page.path), 'form[action$="/delete"]')
    for shown in (page, refused, pages.get("/connections"), pages.get("/services/vendor")):
        assert_is_text(shown, hostile)
    assert_is_text(connect(pages, vendor, **{"name": hostile, "fields.token": "wrong"}), hostile)


def test_the_account_of_another_owner(pages: Pages, house: House, vendor: Vendor) -> None:
    """Given another owner's connection, then each of its paths is 404; without a form's token, 403."""
    path = connect(pages, vendor).path.partition("?")[0]
    eve = other_user(pages)
    csrf = form_values(eve.get("/connections/new?service=vendor").find(FORM))["csrf"]
    assert eve.get(path).status == 404
    for what in ("", "/test", "/authorize", "/delete", "/link"):
        assert eve.post(path + what, {"csrf": csrf, "name": "Eve's", "op": "x"}).status == 404
        assert pages.post(path + what, {"name": "x"}).status == 403
    assert "My vendor" not in eve.get("/connections").text + eve.get("/services/vendor").text
    assert house.call("GET", "/connections").json()["items"][0]["name"] == "My vendor"


def test_what_can_not_be_connected(pages: Pages) -> None:
    for service in ("webhooks", "nothing", "%3Cscript%3E"):
        assert pages.get(f"/connections/new?service={service}").status == 404
