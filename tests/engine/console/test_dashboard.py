"""The dashboard's page: its numbers are those of the statistics, and lead to what they count."""

from datetime import UTC, datetime

import pytest
import time_machine

from tests.support.embedded import House, notification, web_request
from tests.support.listing import Listing
from tests.support.pages import Pages, Shown, other_user
from tests.support.sink import Reply, Sink


def cells(page: Shown, table: str) -> list[list[str]]:
    return [
        [" ".join(c.get_text(" ").split()) for c in row.select("th, td")]
        for row in page.soup.select(f"{table} tbody tr")
    ]


def run(house: House, *events: str) -> None:
    for event in events:
        house.fire(event)
    house.work()


def test_nothing_has_run(pages: Pages) -> None:
    page = pages.get("/dashboard")
    assert page.texts(".tiles dd") == ["0", "–", "0", "0"]
    assert "Nothing has run in these days." in page.text
    assert "Nothing waits: all is done." in page.text
    assert page.soup.select(".notice") == []


@pytest.mark.parametrize("days", [7, 30, 90])
def test_days_are_those_of_the_owners_zone(
    clock: time_machine.Traveller, pages: Pages, house: House, days: int
) -> None:
    """Given an event at 23:30 UTC on the 29th, which is 0:30 on the 30th in Paris, then it counts for the 30th."""
    house.make_applet()
    clock.move_to(datetime(2026, 11, 29, 23, 30, tzinfo=UTC))
    run(house, "door")
    page = pages.get(f"/dashboard?days={days}")
    rows = cells(page, "#days-table")
    assert (len(rows), rows[-1]) == (days, ["2026-11-30", "1", "0", "0", "0"])
    assert len(pages.get(page.link("2026-11-30")).soup.select(".entry")) == 1
    assert pages.get(page.link("2026-11-29")).soup.select(".entry") == []
    assert page.find(".periods [aria-current]")["href"] == f"/dashboard?days={days}"


@pytest.mark.parametrize(("zone", "told"), [("Asia/Kolkata", True), ("Asia/Kathmandu", True), ("Asia/Tokyo", False)])
def test_days_that_begin_within_an_hour(pages: Pages, zone: str, told: bool) -> None:
    """Given a zone that is no whole hours off, then the page says which day the first of its hours counts for."""
    pages.submit(pages.get("/settings"), 'form[action="/settings"]', zone=zone)
    assert ("counts for the day before" in pages.get("/dashboard").text) is told


@pytest.mark.parametrize("days", ["0", "8", "x", "-7", "7 "])
def test_other_lengths_are_not_there(pages: Pages, days: str) -> None:
    assert pages.get(f"/dashboard?days={days}").status == 404


def test_numbers_lead_to_what_they_count(pages: Pages, house: House, sink: Sink) -> None:
    sink.reply("/odd", [Reply(400)])
    sink.reply("/lost", [Reply(close=True)])
    house.make_applet(name="Good", event="good")
    house.make_applet(name="Shut", event="good", filter="skip('no')")
    odd = house.make_applet(name="Odd", event="odd", actions=[web_request(f"{sink.url}/odd")])["id"]
    house.make_applet(name="Lost", event="lost", actions=[web_request(f"{sink.url}/lost")])
    run(house, "good", "odd", "odd", "lost")
    page = pages.get("/dashboard")
    assert page.texts(".tiles dd") == ["5", "25 %", "2", "1"]
    assert cells(page, "#days-table")[-1][1:] == ["1", "2", "1", "1"]
    rows = cells(page, "section[aria-labelledby=per-applet] table")
    assert rows[:2] == [["Odd", "2", "2", "0", "0 %"], ["Lost", "1", "0", "1", "0 %"]]
    assert sorted(rows[2:]) == [["Good", "1", "0", "0", "100 %"], ["Shut", "1", "0", "0", "–"]]
    failed = page.find(f"a[href='/activity?applet={odd}&state=failed']")
    found = pages.get(str(failed["href"]))
    assert len(found.soup.select(".entry")) == int(failed.get_text()) == 2
    webhooks = pages.get(str(page.find("a[href='/activity?service=webhooks&state=failed']")["href"]))
    assert len(webhooks.soup.select(".entry")) == 2


def test_what_is_on_the_way(pages: Pages, house: House) -> None:
    house.make_applet(name="Slow", actions=[{**notification("x"), "delay": {"seconds": 7200}}])
    run(house, "door", "door")
    page = pages.get("/dashboard")
    words = page.find("section[aria-labelledby=under-way]").get_text()
    assert "2 executions, goes on" in " ".join(words.split())
    assert len(pages.get(page.link("Slow")).soup.select(".entry")) == 2


def test_triggers_in_trouble(clock: time_machine.Traveller, pages: Pages, house: House, listing: Listing) -> None:
    """A25: given a trigger that nobody checks, and one whose source fails, then both are told with their applets."""
    other = Listing(house, listing.sink, "/other")
    listing.make(name="Late")
    other.make(name="Failing")
    other.reply(Reply(500))
    clock.shift(6 * 60)
    house.check()
    page = pages.get("/dashboard")
    assert page.texts(".notice a") == ["Failing"]
    assert "Its check failed" in page.find(".notice").get_text()
    clock.shift(3600)
    page = pages.get("/dashboard")
    assert sorted(page.texts(".notice a")) == ["Failing", "Late"]
    assert "It should have been checked by now." in page.find(".notice").get_text()
    assert other_user(pages).get("/dashboard").soup.select(".notice") == []


def test_another_owner_sees_nothing_of_it(pages: Pages, house: House) -> None:
    house.make_applet(name="Secret", actions=[{**notification("x"), "delay": {"seconds": 7200}}])
    run(house, "door")
    page = other_user(pages).get("/dashboard")
    assert "Secret" not in page.text
    assert page.texts(".tiles dd")[0] == "0"
