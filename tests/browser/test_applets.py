"""The list of applets and an applet's page in a browser: what changes in place, and what does without JavaScript."""

from typing import Any

import httpx2
from selenium.webdriver.common.keys import Keys

from tests.browser.conftest import Console
from tests.support.browser import Browser
from tests.support.embedded import applet


def _make(console: Console, **changes: Any) -> str:
    """Make an applet; its id."""
    answer = httpx2.post(
        f"{console.url}/api/applets",
        headers={"Authorization": f"Bearer {console.run.credentials()['api_key']}"},
        json=applet(**changes),
        trust_env=False,
    )
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def test_the_list_changes_in_place(console: Console, browser: Browser) -> None:
    """Given two applets, when words are typed and a switch is pressed by keyboard, then no page is loaded."""
    _make(console, name="Front door", event="front")
    gate = _make(console, name="Garden gate", event="gate")
    browser.open("/applets")
    browser.driver.execute_script("window.untouched = true")
    browser.labelled("Search").send_keys("garden")
    browser.until(lambda: [h.text for h in browser.all(".applet h2")] == ["Garden gate"], "not found")
    assert browser.path.startswith("/applets?q=garden")
    switch = browser.one(f"#switch-{gate}")
    switch.send_keys(Keys.SPACE)
    browser.until(lambda: browser.one(f"#switch-{gate}").get_attribute("aria-checked") == "false", "still on")
    assert browser.driver.switch_to.active_element.get_attribute("id") == f"switch-{gate}"
    assert browser.driver.execute_script("return window.untouched")
    assert browser.findings() == []
    browser.fill("Show", "On")
    browser.see("No applet fits.")
    browser.resize(360, 700)
    browser.open("/applets")
    browser.see("Garden gate")
    assert browser.overflow() <= 0
    assert browser.findings() == []


def test_the_first_call_shows_by_itself(console: Console, browser: Browser) -> None:
    """Given an applet's page that waits, when its webhook is called, then the run is there without a reload."""
    made = _make(console, name="Bell", event="bell")
    browser.open(f"/applets/{made}?made=1")
    browser.see("Your applet is on.")
    browser.see("Waiting for the first call…")
    browser.see("Success rate")
    assert browser.findings() == []
    browser.press("Make a key for this address")
    browser.see("It is shown this once")
    url = str(browser.labelled("Address").get_attribute("value"))
    browser.see("Waiting for the first call…")
    assert httpx2.get(url, params={"value1": "ring"}, trust_env=False).status_code == 200
    browser.one("#recent .state-succeeded")
    browser.set_scheme("dark")
    browser.resize(360, 700)
    assert browser.overflow() <= 0
    assert browser.findings() == []


def test_trying_in_place(console: Console, browser: Browser) -> None:
    browser.open(f"/applets/{_make(console, name='Try me', event='try')}/try")
    browser.fill("First value", "opened by hand")
    browser.press("Show what it would do")
    browser.until(lambda: "opened by hand" in browser.one("#trial").text, "nothing shown")
    assert browser.labelled("First value").get_attribute("value") == "opened by hand"
    assert browser.findings() == []


def test_deleting_and_undoing_without_javascript(console: Console, browser: Browser) -> None:
    made = _make(console, name="Short-lived", event="short")
    browser.set_scripts(allowed=False)
    browser.open(f"/applets/{made}")
    browser.one('form[action$="/delete"] button').click()
    browser.one(".notice button").click()
    assert browser.one("h1").text == "Short-lived"
    browser.one("[role=switch]").click()
    assert browser.one("[role=switch]").get_attribute("aria-checked") == "false"
    browser.open("/applets?q=short")
    assert [heading.text for heading in browser.all(".applet h2")] == ["Short-lived"]
