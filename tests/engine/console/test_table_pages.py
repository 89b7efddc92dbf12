"""Tables by page: rows, a file to download, and deleting one by its name."""

import pytest

from tests.support.embedded import House
from tests.support.hostile_texts import assert_is_text, with_hostile_texts
from tests.support.pages import Pages, form_values, other_user
from whenthen.clock import Deadline
from whenthen.engine import sheets
from whenthen.services.table.rows import row_of


def add(house: House, table: str = "Doors", **values: str) -> None:
    key = f"{table}.{len(house.table('SELECT row_id FROM sheet_rows'))}"
    sheets.insert_row(house.database, "owner", key, row_of(table, values or {"Door": "front"}), Deadline(20))


def test_a_table_is_shown_newest_first(pages: Pages, house: House) -> None:
    assert "No tables yet." in pages.get("/tables").text
    for number in range(120):
        add(house, Door=f"door {number}")
    page = pages.get("/tables")
    assert "120 rows" in page.text
    path = str(page.find("ul.grid a")["href"])
    first = pages.get(path)
    assert first.texts("td:nth-of-type(1)") == [f"door {number}" for number in range(119, 69, -1)]
    second = pages.get(first.link("More →"))
    last = pages.get(second.link("More →"))
    assert last.texts("tbody th") == [str(number) for number in range(20, 0, -1)]
    assert not last.soup.select("a[rel=next]")
    assert last.link("← Back") == f"{path}?page=2"
    for number in ("4", "0", "x", "-1"):
        assert pages.get(f"{path}?page={number}").status == 404


def test_a_table_is_downloaded(pages: Pages, house: House) -> None:
    add(house, Door="front", Note="=1+1")
    page = pages.get("/tables/Doors")
    answer = pages.client.get(page.link("Download as CSV"))
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.text.splitlines()[1] == "front,'=1+1"


def test_a_table_is_deleted_by_its_name(pages: Pages, house: House) -> None:
    add(house)
    page = pages.submit(pages.get("/tables/Doors"), name="doors")
    assert page.status == 422
    assert page.texts("#name-error") == ["is not the name of this table"]
    assert pages.submit(page, name="Doors ").path == "/tables?deleted=1"
    assert pages.get("/tables/Doors").status == 404
    assert house.call("GET", "/tables").json()["items"] == []


@with_hostile_texts
def test_hostile_tables_are_text(pages: Pages, house: House, hostile: str) -> None:
    name = "".join(character for character in hostile if character.isprintable() and character != "/")
    add(house, name, **{name[:60]: hostile})
    listed = pages.get("/tables")
    assert_is_text(listed, name)
    page = pages.get(str(listed.find("ul.grid a")["href"]))
    assert page.find("h1").get_text() == name
    assert_is_text(page, hostile)
    assert pages.client.get(page.link("Download as CSV")).status_code == 200
    assert pages.submit(page, name=name).path == "/tables?deleted=1"


@pytest.mark.parametrize("name", ["?", "#", "50% off", "a b", "new", "csv", "\\"])
def test_names_that_are_not_easy_to_link_to(pages: Pages, house: House, name: str) -> None:
    add(house, name)
    page = pages.get(str(pages.get("/tables").find("ul.grid a")["href"]))
    assert page.find("h1").get_text() == name


def test_tables_of_another_owner(pages: Pages, house: House) -> None:
    add(house)
    eve = other_user(pages)
    csrf = form_values(eve.get("/settings").find('form[action="/settings"]'))["csrf"]
    assert eve.get("/tables/Doors").status == 404
    assert eve.get("/tables/Doors/csv").status == 404
    assert eve.post("/tables/Doors/delete", {"csrf": csrf, "name": "Doors"}).status == 404
    assert pages.post("/tables/Doors/delete", {"name": "Doors"}).status == 403
    assert "Doors" not in eve.get("/tables").text
    assert pages.get("/tables/Doors").status == 200
