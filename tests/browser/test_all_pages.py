"""Every page, as it is for people: on a phone, in the dark, in Japanese, with a screen reader, without JavaScript."""

from urllib.parse import quote

import pytest

from tests.browser.conftest import Console
from tests.support.browser import Browser
from tests.support.demo import make_demo

PAGES = [
    "/applets",
    "/applets/templates",
    "/applets/import",
    "/applets/new",
    "/applets/new?template=webhook_to_notification",
    "/applets/{applet}",
    "/applets/{schedule}",
    "/applets/{applet}/edit",
    "/applets/{schedule}/edit",
    "/applets/{applet}/try",
    "/activity",
    "/activity/{execution}",
    "/dashboard",
    "/services",
    "/services/date_time",
    "/connections",
    "/connections/new?service=email",
    "/connections/{connection}",
    "/inbox",
    "/settings",
    "/settings/keys",
    "/settings/users",
    "/tables",
    "/tables/{table}",
    "/nothing",
]


@pytest.fixture(scope="module")
def known(console: Console) -> dict[str, str]:
    """What the pages show."""
    return {name: quote(value, safe="") for name, value in make_demo(console.run).items()}


@pytest.fixture(scope="module")
def window(console: Console) -> Browser:
    """One window for all pages."""
    return console.signed_in()


@pytest.mark.parametrize("path", PAGES)
def test_a_page(window: Browser, known: dict[str, str], path: str) -> None:
    window.resize(1280, 900)
    window.messages()
    window.open(path.format(**known))
    assert len(window.all("h1")) == 1
    assert window.overflow() <= 0
    assert window.findings() == []
    window.set_scheme("dark")
    assert window.findings() == []
    window.set_scheme("light")
    window.resize(360, 800)
    window.open(path.format(**known))
    assert window.overflow() <= 0, f"{window.overflow()} px too wide"
    assert window.findings() == []
    assert [message for message in window.messages() if "404" not in message or path != "/nothing"] == []


@pytest.mark.parametrize("path", PAGES)
def test_a_page_without_a_program(window: Browser, known: dict[str, str], path: str) -> None:
    """Given no JavaScript, then what can be read is the same but for what only a program can do."""
    window.set_scripts(allowed=False)
    try:
        window.open(path.format(**known))
        assert len(window.text) > 100
        assert len(window.all("h1")) == 1
    finally:
        window.set_scripts(allowed=True)
