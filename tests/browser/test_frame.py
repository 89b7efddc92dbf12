"""The frame that all pages have: first run, languages, colours, keyboard, nothing from elsewhere."""

from selenium.webdriver.common.keys import Keys

from tests.browser.conftest import PASSWORD, Console
from tests.support.browser import Browser


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
