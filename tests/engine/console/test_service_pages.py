"""The catalogue: every service has its page, and is found by what it can do."""

import pytest

from tests.support.embedded import House
from tests.support.hostile_texts import assert_is_text, with_hostile_texts
from tests.support.pages import Pages, Shown
from whenthen.services.registry import SERVICES


def _found(page: Shown) -> list[str]:
    return page.texts("a.tile strong")


def test_the_catalogue_shows_all_services(pages: Pages) -> None:
    page = pages.get("/services")
    assert len(_found(page)) == len(SERVICES)
    assert page.text.count("not connected") == len(page.texts(".badge"))
    webhooks = page.texts('a[href="/services/webhooks"]')
    assert webhooks == ["W Webhooks 2 triggers · 1 query · 1 action"]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [("ntfy", "ntfy"), ("RSS", "RSS Feed"), ("sunrise", "Date & Time"), ("home  assistant", "Home Assistant")],
)
def test_services_are_found_by_what_they_can_do(pages: Pages, wanted: str, found: str) -> None:
    page = pages.get(f"/services?q={wanted}")
    assert found in _found(page)
    assert len(_found(page)) < 5
    assert page.find("#q")["value"] == wanted.strip()


@with_hostile_texts
def test_what_is_searched_for_is_text(pages: Pages, hostile: str) -> None:
    page = pages._shown(pages.client.get("/services", params={"q": hostile}))
    assert page.text.count("No service fits.") == 1
    assert_is_text(page, hostile)


@pytest.mark.parametrize("slug", list(SERVICES))
def test_a_service_shows_all_it_can_do(pages: Pages, slug: str) -> None:
    page = pages.get(f"/services/{slug}")
    assert page.status == 200
    service = SERVICES[slug]
    parts = [*service.triggers, *service.queries, *service.actions]
    assert page.texts("li.card h3") == [part.name for part in parts]
    for trigger in service.triggers:
        assert f'href="/applets/new?service={slug}&amp;trigger={trigger.slug}"' in page.html
        for ingredient in trigger.ingredients:
            assert ingredient.slug in page.texts("th[scope=row]")
    asks = service.connection is not None or any(part.connects for part in parts)
    assert bool(page.soup.select('a[href^="/connections/new"]')) == asks


def test_a_service_shows_its_connections(pages: Pages, house: House) -> None:
    made = house.call("POST", "/connections", {"service": "button", "name": "Front <door>", "fields": {}}).json()
    page = pages.get("/services/button")
    assert page.link("Front <door>") == f"/connections/{made['id']}"
    assert page.link("Connect another account") == "/connections/new?service=button"
    assert pages.get("/services").texts('a[href="/services/button"] .badge') == ["connected"]


def test_a_service_that_is_not_there(pages: Pages) -> None:
    for slug in ("nothing", "Webhooks", "%3Cscript%3E", "..%2Fsettings"):
        assert pages.get(f"/services/{slug}").status == 404
