"""The pages in Japanese, with what the engine has written in English."""

import pytest

from tests.support.embedded import House
from tests.support.pages import Pages

PLACES = [
    "/applets",
    "/applets/new",
    "/applets/templates",
    "/activity",
    "/dashboard",
    "/services",
    "/services/webhooks",
    "/connections/new?service=slack",
    "/inbox",
    "/settings",
    "/settings/keys",
    "/settings/users",
    "/tables",
]


@pytest.fixture
def japanese(pages: Pages) -> Pages:
    """A browser in which the pages are Japanese."""
    pages.client.headers["Accept-Language"] = "ja-JP,ja;q=0.9,en;q=0.8"
    return pages


@pytest.mark.parametrize("path", PLACES)
def test_pages_say_their_language(japanese: Pages, path: str) -> None:
    page = japanese.get(path)
    assert page.status == 200
    assert page.find("html")["lang"] == "ja"
    assert page.texts("nav li:first-child a")[0] == "アプレット"


def test_reasons_are_shown_in_japanese_and_the_owners_words_as_they_are(japanese: Pages, house: House) -> None:
    house.make_applet(name="Door", filter="Value1 == 'open'")
    house.make_applet(name="Bell", filter="skip('The applet of the bell is off.')")
    house.fire()
    house.work()
    page = japanese.get("/activity")
    assert page.texts(".entry .badge") == ["スキップ", "スキップ"]
    assert "フィルターの条件を満たしませんでした：Value1 == 'open'" in page.text
    assert "The applet of the bell is off." in page.text


def test_what_is_wrong_with_a_form_is_told_in_japanese(japanese: Pages) -> None:
    page = japanese.get("/settings/keys")
    refused = japanese.submit(page, "main form:has(#name)", name="")
    assert refused.status == 422
    assert "入力してください" in refused.text
    gone = japanese.get("/applets/no")
    assert gone.status == 404
    assert "アプレットが見つかりません。" in gone.text
