"""Headless Chromium, used as a person does: by labels, texts of buttons and links, and what can be seen."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from selenium.common.exceptions import StaleElementReferenceException, WebDriverException
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

_AXE = Path(__file__).parent / "vendored" / "axe-4.14.1.min.js"
_SECONDS = 15

_OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-proxy-server",
    "--force-color-profile=srgb",
    "--lang=en",
    # Whatever a page asks for elsewhere is not there.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)


def start_chromium(directory: Path) -> Chrome:
    """Start Debian's Chromium with a profile of its own in this directory."""
    found = [shutil.which(name) for name in ("chromium", "chromedriver")]
    assert all(found), (
        "chromium and chromium-driver are needed: scripts/install-system-packages chromium chromium-driver"
    )
    options = ChromeOptions()
    options.binary_location = str(found[0])
    for option in (*_OPTIONS, f"--user-data-dir={directory}"):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return Chrome(options, Service(str(found[1])))


class Browser:
    """A window.

    Args:
        driver: is shared by tests; its cookies are dropped.
        url: where whenthen is, without a slash at its end.
    """

    def __init__(self, driver: Chrome, url: str) -> None:
        self.driver = driver
        self.url = url
        driver.get("about:blank")
        driver.execute_cdp_cmd("Network.clearBrowserCookies", {})
        self.resize(1280, 900)
        self.set_scheme("light")
        self.set_scripts(allowed=True)
        self.messages()
        self.requests()

    def resize(self, width: int, height: int) -> None:
        """Give the page this size, CSS pixels."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def set_scheme(self, scheme: str) -> None:
        """Let the system prefer `light` or `dark`."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def set_scripts(self, *, allowed: bool) -> None:
        """Let pages run JavaScript, or not."""
        self.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not allowed})

    def open(self, path: str) -> None:
        """Go to a page of ours."""
        self.driver.get(self.url + path)

    @property
    def path(self) -> str:
        """Where the window is, with its query."""
        return self.driver.current_url.removeprefix(self.url)

    @property
    def text(self) -> str:
        """What can be read, with single spaces."""
        return " ".join(self.driver.find_element(By.TAG_NAME, "body").text.split())

    def all(self, selector: str) -> list[WebElement]:
        """The elements of a CSS selector that can be seen."""
        return [found for found in self.driver.find_elements(By.CSS_SELECTOR, selector) if found.is_displayed()]

    def one(self, selector: str) -> WebElement:
        """Wait for the first element of a CSS selector that can be seen."""
        found: list[WebElement] = []

        def seen() -> bool:
            found[:] = self.all(selector)
            return bool(found)

        self.until(seen, f"nothing of {selector}")
        return found[0]

    def labelled(self, label: str) -> WebElement:
        """Wait for the field whose accessible name begins so."""
        fields = "input:not([type=hidden]), select, textarea"
        return self._named(fields, lambda name: name.startswith(label), f"no field {label!r}")

    def named(self, words: str) -> WebElement:
        """Wait for the button or link with this accessible name."""
        return self._named("button, a, summary", lambda name: name == words, f"no button or link {words!r}")

    def _named(self, selector: str, fits: Callable[[str], bool], trouble: str) -> WebElement:
        found: list[WebElement] = []

        def seen() -> bool:
            found[:] = [item for item in self.all(selector) if fits(" ".join(item.accessible_name.split()))]
            return bool(found)

        self.until(seen, trouble)
        return found[0]

    def fill(self, label: str, text: str) -> None:
        """Type into a field, or choose an option, and leave it, as a person does."""
        field = self.labelled(label)
        if field.tag_name == "select":
            Select(field).select_by_visible_text(text)
            return
        field.clear()
        field.send_keys(text)
        self.driver.execute_script("arguments[0].blur()", field)

    def press(self, words: str) -> None:
        """Press a button or follow a link."""

        def pressed() -> bool:
            self.named(words).click()
            return True

        self.until(pressed, f"{words!r} could not be pressed")

    def see(self, words: str, seconds: float = _SECONDS) -> None:
        """Wait until the page says this."""
        self.until(lambda: words in self.text, f"{words!r} did not appear", seconds)

    def until(self, holds: Callable[[], Any], trouble: str, seconds: float = _SECONDS) -> None:
        """Wait until something holds. What is swapped away meanwhile is looked for again."""

        def tried(_driver: Any) -> bool:
            try:
                return bool(holds())
            except StaleElementReferenceException:
                return False

        try:
            WebDriverWait(self.driver, seconds, poll_frequency=0.1).until(tried)
        except WebDriverException as error:
            raise AssertionError(f"{trouble}; {self.path} says: {self.text[:2000]}") from error

    def findings(self) -> list[str]:
        """What axe-core finds on the page, serious and critical, in the shape ``rule: element``."""
        self.driver.execute_script(_AXE.read_text())
        script = "const done = arguments[0]; axe.run(document, {resultTypes: ['violations']}).then(done, done)"
        result = self.driver.execute_async_script(script)
        return [
            f"{violation['id']}: {node['target']} {node.get('failureSummary', '')}"
            for violation in result["violations"]
            if violation["impact"] in ("serious", "critical")
            for node in violation["nodes"]
        ]

    def overflow(self) -> int:
        """By how many pixels the page is wider than the window."""
        script = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        return int(self.driver.execute_script(script))

    def messages(self) -> list[str]:
        """What the browser's console says since the last time: errors, refused scripts and styles."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]

    def requests(self) -> list[str]:
        """The URLs that pages asked for since the last time."""
        found = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(str(message["params"]["request"]["url"]))
        return found

    def picture(self, path: Path) -> None:
        """Take a picture of the whole page."""
        self.driver.set_window_size(1280, 900)
        height = self.driver.execute_script("return document.documentElement.scrollHeight")
        width = self.driver.execute_script("return document.documentElement.clientWidth")
        self.resize(int(width), max(int(height), 400))
        assert self.driver.save_screenshot(str(path))
