"""The pictures that README shows, taken of a real run: ``make screenshots``.

Run as ``python -m tests.support.screenshots DIRECTORY``.
"""

import sys
import tempfile
from pathlib import Path

from tests.browser.conftest import Console
from tests.support.alopex import AlopexServer, alopex_binary
from tests.support.browser import start_chromium
from tests.support.demo import make_demo
from tests.support.local import LocalRun

WIDTH, HEIGHT = 1100, 760
PHONE = 390


def main() -> None:
    """Take them."""
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="whenthen-screenshots-") as directory:
        home = Path(directory)
        server = AlopexServer(alopex_binary(), home / "alopex")
        chromium = start_chromium(home / "chromium")
        try:
            server.start()
            run = LocalRun(home / "run", server, WHENTHEN_ALLOWED_NETWORKS="127.0.0.0/8")
            run.start()
            try:
                _take(Console(run, chromium), make_demo(run), target)
            finally:
                run.process.kill9()
        finally:
            chromium.quit()
            server.remove()


def _take(console: Console, known: dict[str, str], target: Path) -> None:
    browser = console.signed_in()

    def take(name: str, path: str, *, width: int = WIDTH, scheme: str = "light") -> None:
        browser.resize(width, HEIGHT)
        browser.set_scheme(scheme)
        browser.open(path)
        # What loads by itself afterwards.
        browser.until(lambda: not browser.driver.find_elements("css selector", ".htmx-request"), "still loading")
        browser.picture(target / f"{name}.png")

    take("applets", "/applets")
    take("editor", f"/applets/{known['applet']}/edit")
    take("activity", "/activity")
    take("execution", f"/activity/{known['execution']}")
    take("dashboard-dark", "/dashboard", scheme="dark")
    take("applets-phone", "/applets", width=PHONE)


if __name__ == "__main__":
    main()
