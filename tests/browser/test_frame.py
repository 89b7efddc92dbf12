"""The frame that all pages have: first run, languages, colours, keyboard, nothing from elsewhere."""

from selenium.webdriver.common.keys import Keys

from tests.browser.conftest import PASSWORD, Console
from tests.support.alopex import AlopexServer
from tests.support.browser import Browser

_SENT_TWICE = """
return [1, 2].map(() => {
  const event = new SubmitEvent("submit", { bubbles: true, cancelable: true });
  document.querySelector(arguments[0]).dispatchEvent(event);
  return event.defaultPrevented;
});
"""
"""Whether each of two times that a form is sent is left out; nothing is sent really."""


def test_the_first_run(fresh_console: Console) -> None:
    """Given a whenthen that nobody has used, when it is opened, then its first user is made and signed in."""
    browser = fresh_console.signed_in()
    assert browser.path == "/applets"
    browser.press("Sign out")
    browser.see("Sign in")
    assert fresh_console.signed_in().path == "/applets"


def test_nothing_from_elsewhere(console: Console, browser: Browser) -> None:
    browser.open("/applets")
    urls = browser.requests()
    assert any(url.endswith(".js") for url in urls)
    assert [url for url in urls if not url.startswith((console.url, "data:", "about:", "chrome"))] == []
    assert browser.findings() == []


def test_by_keyboard(browser: Browser) -> None:
    """Given the first Tab, then it skips to the content; languages and colours are buttons."""
    browser.open("/applets")
    browser.one("body").send_keys(Keys.TAB)
    skip = browser.driver.switch_to.active_element
    assert skip.text == "Skip to the content"
    skip.send_keys(Keys.ENTER)
    assert browser.driver.switch_to.active_element.get_attribute("id") == "main"
    browser.press("日本語")
    browser.until(lambda: browser.one("html").get_attribute("lang") == "ja", "not Japanese")
    browser.press("English")
    browser.press("Dark")
    browser.until(lambda: browser.one("html").get_attribute("data-theme") == "dark", "not dark")
    dark = browser.one("body").value_of_css_property("background-color")
    assert browser.findings() == []
    browser.press("Light")
    browser.until(lambda: browser.one("html").get_attribute("data-theme") == "light", "not light")
    assert browser.one("body").value_of_css_property("background-color") != dark


def test_a_double_click_is_one(browser: Browser) -> None:
    """Given a form that is sent twice before the next page is there, then the second time is left out."""
    browser.open("/activity")
    assert browser.driver.execute_script(_SENT_TWICE, "form[action='/sign-out']") == [False, True]
    assert browser.driver.execute_script(_SENT_TWICE, "form.filters") == [False, False]


def test_the_form_to_sign_in(console: Console) -> None:
    """Given no JavaScript and a small screen, then signing in works, and mistakes are told."""
    console.signed_in()
    browser = console.browser()
    browser.resize(360, 700)
    browser.open("/applets")
    assert browser.overflow() <= 0
    assert browser.findings() == []
    browser.set_scripts(allowed=False)
    browser.open("/applets")
    browser.one("#name").send_keys("ADA ")
    browser.one("#password").send_keys("wrong password", Keys.ENTER)
    browser.one("[role=alert]")
    browser.one("#password").send_keys(PASSWORD, Keys.ENTER)
    browser.until(lambda: browser.path == "/applets", "not signed in")


def test_saving_while_the_database_is_down(fresh_console: Console, server: AlopexServer) -> None:
    """Given a database that is away, when an applet is saved, then that is told in sight, and later it is made once."""
    browser = fresh_console.signed_in()
    before = len(fresh_console.run.get("/applets")["items"])
    browser.open("/applets/new?template=webhook_to_notification")
    browser.one("#editor-form")
    server.kill9()
    browser.press("Save and turn on")
    browser.see("That did not work.")
    place = browser.driver.execute_script("return document.getElementById('trouble').getBoundingClientRect().top")
    assert 0 <= place < browser.driver.execute_script("return innerHeight")
    server.restart()
    browser.press("Save and turn on")
    browser.until(lambda: "made=1" in browser.path, "it was not saved")
    assert len(fresh_console.run.get("/applets")["items"]) == before + 1
    assert [message for message in browser.messages() if "503" not in message] == []
