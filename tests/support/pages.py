"""The console's pages, used as a browser without JavaScript does."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bs4 import BeautifulSoup, Tag
from starlette.testclient import TestClient

from tests.support.embedded import House
from whenthen.web import site

NAME = "Ada"
PASSWORD = "correct horse battery"


@dataclass
class Shown:
    """A page that was answered."""

    status: int
    html: str
    headers: Mapping[str, str]
    path: str

    def __post_init__(self) -> None:
        self.soup = BeautifulSoup(self.html, "html.parser")
        for part in self.soup.select("#trouble"):
            # Empty, and for the page's program alone.
            part.decompose()

    @property
    def text(self) -> str:
        """All its text, with single spaces."""
        return " ".join(self.soup.get_text(" ").split())

    def find(self, selector: str) -> Tag:
        """The one element of a CSS selector."""
        found = self.soup.select(selector)
        assert len(found) == 1, f"{len(found)} of {selector} in {self.text[:500]}"
        return found[0]

    def texts(self, selector: str) -> list[str]:
        """The texts of a CSS selector's elements."""
        return [" ".join(found.get_text(" ").split()) for found in self.soup.select(selector)]

    def link(self, words: str) -> str:
        """Where the link with this text leads."""
        found = [a for a in self.soup.find_all("a") if " ".join(a.get_text(" ").split()) == words]
        assert found, f"no link {words!r} in {self.text[:500]}"
        return str(found[0]["href"])


def form_values(form: Tag) -> dict[str, Any]:
    """What a browser would send of a form that nobody has touched; fields with the same name as a list."""
    values: dict[str, list[str]] = {}
    for element in form.find_all(["input", "select", "textarea"]):
        name = element.get("name")
        if not name or element.has_attr("disabled"):
            continue
        if element.name == "select":
            chosen = element.find("option", selected=True) or element.find("option")
            if chosen is not None:
                values.setdefault(str(name), []).append(str(chosen.get("value", chosen.get_text())))
        elif element.name == "textarea":
            # The line break right after the tag is not part of the text (HTML, 13.1.2.5).
            values.setdefault(str(name), []).append(element.get_text().removeprefix("\n"))
        elif element.get("type") in ("checkbox", "radio"):
            if element.has_attr("checked"):
                values.setdefault(str(name), []).append(str(element.get("value", "on")))
        elif element.get("type") != "file":
            values.setdefault(str(name), []).append(str(element.get("value", "")))
    return {name: found[0] if len(found) == 1 else found for name, found in values.items()}


class Pages:
    """A browser of its own: pages of a house, with cookies."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.client = TestClient(
            site.make_app(house.runtime),
            base_url="http://localhost",
            client=("127.0.0.1", 50000),
            follow_redirects=True,
            headers={"Accept": "text/html", "Accept-Language": "en"},
        )

    def get(self, path: str, **headers: str) -> Shown:
        """Open a page."""
        return self._shown(self.client.get(path, headers=headers))

    def post(self, path: str, values: Mapping[str, Any], **headers: str) -> Shown:
        """Send a form's values."""
        return self._shown(self.client.post(path, data=dict(values), headers=headers))

    def submit(self, page: Shown, selector: str = "main form", /, **values: Any) -> Shown:
        """Send the one form of a CSS selector, with these fields changed; None takes one out. Names may have dots."""
        form = page.find(selector)
        sent = {k: v for k, v in {**form_values(form), **values}.items() if v is not None}
        return self.post(str(form.get("action", page.path)), sent)

    def sign_up(self, name: str = NAME, password: str = PASSWORD) -> Shown:
        """The first run's form: the house's owner becomes a user and is signed in."""
        return self.submit(self.get("/welcome"), name=name, password=password, zone="Europe/Paris")

    def sign_in(self, name: str = NAME, password: str = PASSWORD) -> Shown:
        """Sign in."""
        return self.submit(self.get("/sign-in"), name=name, password=password)

    def _shown(self, answer: Any) -> Shown:
        url = answer.url
        path = url.path + (f"?{url.query.decode()}" if url.query else "")
        return Shown(answer.status_code, answer.text, answer.headers, path)


def other_user(pages: Pages, name: str = "Eve") -> Pages:
    """Another user of the same house, with data of their own, signed in."""
    users = pages.house.runtime.users
    admin = next(user for user in users.list_users() if user.is_admin)
    users.accept_invitation(users.invite(admin, name), PASSWORD, "UTC")
    other = Pages(pages.house)
    assert other.sign_in(name).status == 200
    return other
