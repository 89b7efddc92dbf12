"""Services, connections, keys, inbox and tables, as a person uses them."""

import httpx2
import pytest

from tests.browser.conftest import Console
from tests.support.browser import Browser


def call(console: Console, method: str, path: str, document: object = None) -> httpx2.Response:
    """A request to the API with the owner's key."""
    headers = {"Authorization": f"Bearer {console.run.credentials()['api_key']}"}
    answer = httpx2.request(method, f"{console.url}/api{path}", json=document, headers=headers, trust_env=False)
    assert answer.status_code < 300, answer.text
    return answer


@pytest.fixture
def filled(console: Console) -> list[str]:
    """Something on every page, and the paths of all pages."""
    fields = {"scheme": "github", "secret": "a secret of some length"}
    made = call(console, "POST", "/connections", {"service": "signed_webhooks", "name": "Repository", "fields": fields})
    button = call(console, "POST", "/connections", {"service": "button", "name": "Buttons", "fields": {}})
    call(console, "POST", "/tables/Doors/rows", {"values": {"Door": "front", "Note": "n" * 200}})
    return [
        "/services", "/services/github", "/services/date_time", "/connections", "/connections/new",
        "/connections/new?service=github", "/connections/new?service=email", "/inbox", "/settings", "/settings/keys",
        "/settings/users", "/tables", "/tables/Doors",
        *(f"/connections/{answer.json()['id']}" for answer in (made, button)),
    ]  # fmt: skip


def test_pages_fit_a_phone_and_are_accessible(browser: Browser, filled: list[str]) -> None:
    """Given 360 pixels, light and dark, then no page scrolls sideways and axe-core finds nothing serious."""
    for scheme in ("light", "dark"):
        browser.set_scheme(scheme)
        browser.resize(360, 740)
        for path in filled:
            browser.open(path)
            assert browser.overflow() <= 0, path
            assert browser.findings() == [], path


def test_the_catalogue_is_searched_while_typing(browser: Browser) -> None:
    browser.open("/services")
    browser.labelled("Search services").send_keys("sunset")
    browser.until(lambda: len(browser.all("a.tile")) < 5, "not searched")
    assert browser.path == "/services?q=sunset"
    assert browser.driver.switch_to.active_element.get_attribute("id") == "q"
    assert "service" in browser.one("#count").text
    assert not browser.one("#count").text.startswith("2")
    browser.press("Date & Time 10 triggers")
    browser.see("Sunset")


def test_a_key_is_made_and_copied(console: Console, browser: Browser) -> None:
    browser.open("/settings/keys")
    browser.fill("Name", "Doorbell")
    browser.press("Make a key")
    browser.see("It is shown this once")
    key = str(browser.labelled("Key").get_attribute("value"))
    browser.one('[data-copy="key"]').click()
    browser.see("Copied")
    console.fire("door", key)
    browser.open("/settings/keys")
    assert key not in browser.driver.page_source


def test_a_connection_without_scripts(browser: Browser) -> None:
    """Given no JavaScript, when a connection is made, changed and deleted, then the page says so each time."""
    browser.set_scripts(allowed=False)
    browser.open("/connections/new?service=button")
    browser.press("Connect")
    browser.see("Connected.")
    browser.fill("Name", "Doors of the house")
    browser.press("Save")
    browser.see("Saved.")
    browser.press("Delete this connection")
    browser.press("Delete it for good")
    browser.see("The connection is deleted")
    assert "Doors of the house" not in browser.text
