"""The applet editor in a browser: live checks, test calls, chips, keyboard, no scripts."""

import httpx2
from selenium.webdriver.common.keys import Keys

from tests.browser.conftest import NAME, PASSWORD, Console
from tests.support.browser import Browser
from tests.support.sink import Reply, Sink

FEED = b"""<?xml version="1.0"?><rss version="2.0"><channel><title>Harbour News</title><link>http://x/</link>
<description>d</description><item><title>Open &lt;again&gt;</title><guid>1</guid></item></channel></rss>"""


def focused(browser: Browser) -> str:
    """The id of the element that has the focus."""
    return str(browser.driver.switch_to.active_element.get_attribute("id"))


def test_a_test_call_and_an_applet_that_runs(console: Console, browser: Browser) -> None:
    """The whole way: choose, make a key, call, put an ingredient in by its chip, preview, save, fire."""
    browser.open("/applets/new")
    browser.press("Webhooks")
    browser.press("Receive a web request")
    browser.fill("Event name", "front_door")
    browser.press("Make a key for this address")
    address = str(browser.labelled("Its address").get_attribute("value"))
    assert "/trigger/front_door/with/key/" in address
    browser.see("Waiting for a test call")
    values = {"value1": "<b>open</b>", "value2": "9223372036854775807"}
    assert httpx2.get(address, params=values, trust_env=False).status_code == 200
    browser.see("It has arrived.")
    browser.see("9223372036854775807")
    browser.press("Notifications")
    browser.until(lambda: focused(browser) == "actions-0-fields-message", "the message has not the focus")
    browser.labelled("Message").send_keys("It is ")
    browser.one("#actions-0-fields-message-chips [data-insert='{{Value1}}']").click()
    assert browser.labelled("Message").get_attribute("value") == "It is {{Value1}}"
    browser.press("Preview what it sends")
    browser.see("It is <b>open</b>")
    assert browser.findings() == []
    browser.press("Save and turn on")
    browser.until(lambda: "made=1" in browser.path, "it was not saved")
    assert httpx2.get(address, params={"value1": "shut"}, trust_env=False).status_code == 200
    applet = browser.path.partition("?")[0].removeprefix("/applets/")
    headers = {"Authorization": f"Bearer {console.run.credentials()['api_key']}"}

    def arrived() -> bool:
        answer = httpx2.get(f"{console.url}/api/inbox", headers=headers, trust_env=False).json()
        return any(item["message"] == "It is shut" and item["applet_id"] == applet for item in answer["items"])

    browser.until(arrived, "the applet has not run")


def test_from_the_first_run_to_an_applet_that_has_fired(fresh_console: Console) -> None:
    """Given a whenthen that nobody has used, then a fired applet is fewer than ten things to type and press away."""
    browser = fresh_console.browser()
    browser.open("/")
    done = 0
    for label, text in (("Name", NAME), ("Password", PASSWORD)):
        browser.fill(label, text)
        done += 1
    for words in ("Begin", "See the templates"):
        browser.press(words)
        done += 1
    browser.one(".template a[href^='/applets/new?template=']").click()
    browser.press("Make a key for this address")
    address = str(browser.labelled("Its address").get_attribute("value"))
    browser.press("Save and turn on")
    done += 3
    browser.until(lambda: "made=1" in browser.path, "it was not saved")
    assert httpx2.get(address, params={"value1": "ding"}, trust_env=False).status_code == 200
    done += 1
    browser.see("succeeded")
    assert done < 10
    assert browser.messages() == []


def test_a_feed_is_looked_at_while_somebody_types_on(browser: Browser) -> None:
    """A live check tells at the field what is wrong, and replaces no field in which somebody is typing."""
    with Sink() as sink:
        sink.reply("/feed", [Reply(body=FEED, headers=(("Content-Type", "application/rss+xml"),))])
        browser.open("/applets/new?service=feed&trigger=new_feed_item")
        browser.fill("Feed URL", f"{sink.url}/none")
        browser.see("The document is no feed")
        field = browser.labelled("Feed URL")
        assert field.get_attribute("aria-invalid") == "true"
        field.clear()
        field.send_keys(f"{sink.url}/feed", Keys.TAB)
        name = browser.labelled("Name")
        name.send_keys("har")
        browser.see("Harbour News")
        name.send_keys("bour")
        assert name.get_attribute("value") == "harbour"
        assert field.get_attribute("aria-invalid") is None
        browser.press("Notifications")
        browser.see("Open <again>")
    for width, scheme in ((390, "dark"), (360, "light")):
        browser.resize(width, 800)
        browser.set_scheme(scheme)
        assert browser.overflow() == 0
        assert browser.findings() == []


def test_by_keyboard_alone(browser: Browser) -> None:
    """Given a form, when parts are chosen by keys, then the focus goes on with what was chosen."""
    browser.open("/applets/new")
    search = browser.labelled("Search services")
    search.send_keys("sunset")
    browser.until(lambda: len(browser.all("#trigger-options button")) == 1, "not found")
    search.send_keys(Keys.TAB, Keys.TAB)
    browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
    browser.until(lambda: focused(browser) == "trigger-fields-latitude", "the first field has not the focus")
    browser.driver.switch_to.active_element.send_keys("48.85", Keys.TAB, "2.35", Keys.TAB)
    browser.see("The next runs")
    browser.named("+ Ask something first").send_keys(Keys.ENTER)
    browser.until(lambda: focused(browser) == "queries-0-search", "the search has not the focus")
    browser.named("Save and turn on").send_keys(Keys.ENTER)
    browser.see("Not saved yet")
    browser.until(lambda: focused(browser) == "problems", "the summary has not the focus")
    assert browser.findings() == []
    # The browser tells every 422, which is how a form is refused.
    assert all("422" in message for message in browser.messages())


def test_without_scripts(console: Console, browser: Browser) -> None:
    browser.set_scripts(allowed=False)
    browser.open("/applets/new?service=webhooks&trigger=event")
    browser.labelled("Event name").send_keys("plain")
    browser.press("Notifications")
    browser.labelled("Message").send_keys("It came")
    browser.press("Preview what it sends")
    browser.see("What it would send")
    browser.press("Save and turn on")
    browser.until(lambda: "made=1" in browser.path, "it was not saved")
    browser.set_scripts(allowed=True)


_ASKS = """
const leaving = new Event("beforeunload", { cancelable: true });
window.dispatchEvent(leaving);
return leaving.defaultPrevented;
"""
_REMEMBER = 'addEventListener("beforeunload", (event) => sessionStorage.setItem("asked", event.defaultPrevented))'


def test_who_leaves_what_is_not_saved_is_asked(browser: Browser) -> None:
    """Given a form, then leaving it asks back once something was typed, but not when that is being saved."""
    browser.open("/applets/new?service=webhooks&trigger=event")
    assert not browser.driver.execute_script(_ASKS)
    browser.fill("Event name", "left")
    assert browser.driver.execute_script(_ASKS)
    browser.press("Notifications")
    browser.labelled("Message").send_keys("It came")
    assert browser.driver.execute_script(_ASKS)
    browser.driver.execute_script(_REMEMBER)
    browser.press("Save and turn on")
    browser.until(lambda: "made=1" in browser.path, "it was not saved")
    assert browser.driver.execute_script('return sessionStorage.getItem("asked")') == "false"
