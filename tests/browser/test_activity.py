"""The activity as it happens, and the dashboard's chart."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.conftest import Console
from tests.support.browser import Browser
from tests.support.embedded import applet, notification, web_request
from tests.support.sink import Sink

_PAINTED = """
const colour = getComputedStyle(document.querySelector(".swatch-succeeded"), "::before").backgroundColor;
const canvas = document.querySelector("canvas");
const probe = new OffscreenCanvas(1, 1).getContext("2d");
probe.fillStyle = colour;
probe.fillRect(0, 0, 1, 1);
const [red, green, blue] = probe.getImageData(0, 0, 1, 1).data;
const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
let count = 0;
for (let place = 0; place < data.length; place += 4) {
  if (data[place] === red && data[place + 1] === green && data[place + 2] === blue) count += 1;
}
return [colour, count];
"""
"""The colour of what has succeeded, and how many pixels of the chart have it."""


@pytest.fixture
def sink() -> Iterator[Sink]:
    with Sink() as sink:
        yield sink


def make(console: Console, **changes: Any) -> None:
    console.run.post("/applets", applet(**changes))


def focused(browser: Browser) -> str:
    return str(browser.driver.switch_to.active_element.get_attribute("id"))


def test_what_happens_is_seen_without_a_reload(console: Console, browser: Browser) -> None:
    """Given an open page with an entry focused, when events occur, then they appear, and the focus stays."""
    make(console, name="Door", event="door")
    console.fire("door")
    browser.open("/activity")
    browser.see("succeeded")
    link = browser.named("Door")
    browser.driver.execute_script("arguments[0].focus()", link)
    entry = focused(browser)
    console.fire("door")
    console.fire("door")
    browser.until(lambda: len(browser.all(".entry")) == 3, "not live")
    assert browser.one("#news").text in ("1 new", "2 new")
    assert focused(browser) == entry
    browser.press("Pause")
    assert browser.one("[data-pause]").text == "Go on"


def test_an_execution_goes_on_before_ones_eyes(console: Console, browser: Browser, sink: Sink) -> None:
    """Given one that waits, with a request unfolded, when it goes on, then that is shown and stays unfolded."""
    later = {**notification("late"), "delay": {"seconds": 12}}
    make(console, name="Slow", event="slow", actions=[web_request(f"{sink.url}/in"), later])
    console.fire("slow", value1="<b>x</b>")
    browser.open("/activity?service=webhooks")
    browser.press("Slow")
    browser.see("waiting")
    browser.press("Request POST")
    browser.one("#request-1-1-1 pre")
    browser.see("Action 2", 30)
    browser.see("succeeded")
    browser.see("Run it again")
    assert '{"said": "<b>x</b>"}' in browser.one("#request-1-1-1 pre").text
    browser.press("Run everything again")
    browser.see("Run it again")
    first, second = sink.requests
    assert first.key == second.key


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_a_phone_and_are_accessible(console: Console, browser: Browser, scheme: str) -> None:
    make(console, name="n" * 100, event="long")
    console.fire("long", value1="v" * 400)
    browser.set_scheme(scheme)
    browser.resize(360, 740)
    browser.open("/activity")
    browser.see("succeeded")
    execution = browser.one(".entry a").get_attribute("href")
    assert execution is not None
    for path in ("/activity", execution.removeprefix(browser.url), "/dashboard?days=90"):
        browser.open(path)
        assert browser.overflow() <= 0, path
        assert browser.findings() == [], path


def test_the_chart_is_drawn_from_the_table(console: Console, browser: Browser) -> None:
    """Given the table, then there is a chart of it in the colours of the page, also when these change."""
    make(console, name="Counted", event="counted")
    console.fire("counted")
    browser.open("/dashboard")
    browser.see("Counted")
    light, painted = browser.driver.execute_script(_PAINTED)
    assert painted > 100
    browser.set_scheme("dark")
    browser.until(lambda: browser.driver.execute_script(_PAINTED)[0] != light, "not dark")
    browser.until(lambda: browser.driver.execute_script(_PAINTED)[1] > 100, "not drawn again")
    browser.resize(360, 740)
    browser.until(lambda: browser.overflow() <= 0, "not drawn smaller")
    assert browser.all("#days-table") == []
    browser.set_scripts(allowed=False)
    browser.open("/dashboard")
    assert browser.one("#days-table").is_displayed()
    assert browser.all("canvas") == []
