"""Fixtures of tests in headless Chromium, against the local run on the real alopex-server."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from selenium.webdriver import Chrome

from tests.support.alopex import AlopexServer
from tests.support.browser import Browser, start_chromium
from tests.support.local import LocalRun

NAME = "Ada"
PASSWORD = "correct horse battery"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker("browser")


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """One Chromium for all tests."""
    driver = start_chromium(tmp_path_factory.mktemp("chromium"))
    yield driver
    driver.quit()


@dataclass(frozen=True)
class Console:
    """A running whenthen that a browser can be used with."""

    run: LocalRun
    chromium: Chrome

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.run.port}"

    def browser(self) -> Browser:
        """A window in which nobody is signed in."""
        return Browser(self.chromium, self.url)

    def signed_in(self) -> Browser:
        """A window in which the owner is signed in."""
        browser = self.browser()
        browser.open("/")
        if browser.path.startswith("/welcome"):
            browser.fill("Name", NAME)
            browser.fill("Password", PASSWORD)
            browser.press("Begin")
        else:
            browser.fill("Name", NAME)
            browser.fill("Password", PASSWORD)
            browser.press("Sign in")
        browser.until(lambda: browser.path == "/applets", "not signed in")
        return browser

    def fire(self, event: str, key: str = "", **values: str) -> None:
        """Fire an event of the owner's."""
        key = key or self.run.credentials()["webhook_key"]
        answer = httpx2.get(f"{self.url}/trigger/{event}/with/key/{key}", params=values, trust_env=False)
        assert answer.status_code == 200, answer.text


def _console(directory: Path, server: AlopexServer, chromium: Chrome) -> Iterator[Console]:
    run = LocalRun(directory, server, WHENTHEN_ALLOWED_NETWORKS="127.0.0.0/8,::1/128")
    run.start()
    try:
        yield Console(run, chromium)
    finally:
        run.process.kill9()


@pytest.fixture(scope="module")
def console(
    shared_server: AlopexServer, chromium: Chrome, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Console]:
    """A whenthen for a module of tests."""
    yield from _console(tmp_path_factory.mktemp("console"), shared_server, chromium)


@pytest.fixture
def fresh_console(server: AlopexServer, chromium: Chrome, tmp_path: Path) -> Iterator[Console]:
    """A whenthen that nobody has used yet."""
    yield from _console(tmp_path / "console", server, chromium)


@pytest.fixture
def browser(console: Console) -> Iterator[Browser]:
    """A window in which the owner is signed in. What the page does wrong fails the test."""
    browser = console.signed_in()
    yield browser
    assert browser.messages() == []
