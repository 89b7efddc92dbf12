"""Applets as files: export and import by page."""

import json
from typing import Any

import pytest

from tests.support.embedded import Json, applet, notification
from tests.support.pages import Pages, Shown, form_values, other_user


def _document(*applets: Json, **more: Any) -> Json:
    return {"whenthen": 1, "applets": list(applets), **more}


def _upload(pages: Pages, content: bytes, **changes: str) -> Shown:
    """Choose a file and send the form as a browser does."""
    form = pages.get("/applets/import").find("main form")
    values = {**form_values(form), **changes}
    answer = pages.client.post("/applets/import", data=values, files={"file": ("applets.json", content)})
    return Shown(answer.status_code, answer.text, answer.headers, answer.url.path)


def _paste(pages: Pages, document: Any) -> Shown:
    text = document if isinstance(document, str) else json.dumps(document)
    return pages.submit(pages.get("/applets/import"), text=text)


def test_there_and_back(pages: Pages) -> None:
    """Given applets of one owner, when their file is uploaded by another, then they are there, off."""
    pages.house.make_applet(name="Door 1")
    made = pages.house.make_applet(name="Tür ü <b>", event="gate", actions=[notification('"9007199254740993"')])
    file = pages.get("/applets/export")
    assert file.headers["content-disposition"].startswith('attachment; filename="whenthen-applets-')
    eve = other_user(pages)
    shown = _upload(eve, b"\xef\xbb\xbf" + file.html.encode())
    assert shown.texts("h1") == ["2 applets are here"]
    assert shown.texts("main li") == ["Tür ü <b>", "Door 1"]
    page = eve.get(shown.link("Tür ü <b>"))
    assert "gate" in page.text
    assert page.find("[role=switch]")["aria-checked"] == "false"
    one = json.loads(pages.get(f"/applets/export?applet={made['id']}").html)
    assert [item["name"] for item in one["applets"]] == ["Tür ü <b>"]
    assert eve.get(f"/applets/export?applet={made['id']}").status == 404


def test_what_is_left_to_do(pages: Pages) -> None:
    """Given connections and secrets that are not in the file, then it is said for which applet, in words."""
    post = {"service": "gotify", "action": "send_message", "fields": {"message": "y"}, "connection": "a" * 32}
    fields = {"url": "https://example.org", "trigger": "new_photo", "service_key": "********"}
    photo = {"service": "partner", "trigger": "event", "fields": fields}
    exported = pages.house.make_applet(trigger={**photo, "fields": {**fields, "service_key": "k"}}, enabled=False)
    masked = json.loads(pages.get(f"/applets/export?applet={exported['id']}").html)["applets"][0]
    named = {"id": "a" * 32, "service": "gotify", "name": "Pager"}
    shown = _paste(pages, _document(applet(), applet(name="Page me", actions=[post]), masked, connections=[named]))
    assert shown.status == 200
    told = shown.texts(".told > li")
    assert len(told) == 2
    assert told[0].startswith("Applet 2: Page me Then · Push a message · Connection: there is no connection “Pager”")
    assert told[1].startswith("Applet 3: Door When · An event of a partner's trigger · Service key")


def test_the_same_form_twice(pages: Pages) -> None:
    """Given a double click, or a reload, then the applets are there once."""
    page = pages.get("/applets/import")
    for _ in range(2):
        shown = pages.submit(page, text=json.dumps(_document(applet(), applet(name="Gate"))))
        assert shown.texts("h1") == ["2 applets are here"]
    assert pages.get("/applets").texts("#count") == ["2 applets"]


def test_all_or_nothing(pages: Pages) -> None:
    """Given mistakes in two of three applets, then they are told by applet, what was pasted is kept, none is made."""
    wrong = applet(name="Wrong <i>", actions=[notification("{{"), {"service": "gone", "action": "x"}])
    document = _document(applet(), wrong, {"name": "Half", "trigger": {"service": "webhooks", "trigger": "event"}})
    shown = _paste(pages, document)
    assert shown.status == 422
    told = shown.texts(".told > li")
    assert told[0].startswith("Applet 2: Wrong <i> Then · Send a notification · Message: ")
    assert "there is no service gone" in told[0]
    assert told[1].startswith("Applet 3: Half ")
    assert json.loads(shown.find("#text").get_text()) == document
    assert pages.house.call("GET", "/applets").json()["items"] == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "x",
        "[]",
        "null",
        "{}",
        '{"whenthen": 2, "applets": []}',
        '{"whenthen": 1, "applets": [{}], "x": NaN}',
        '{"whenthen": 1, "applets": []}',
        '{"whenthen": 1, "applets": [1]}',
        '{"whenthen": 1, "applets": ["</textarea><script>alert(1)</script>"]}',
        "[" * 100_000,
        json.dumps(_document(*[{}] * 201)),
    ],
)
def test_what_is_no_file(pages: Pages, text: str) -> None:
    shown = _paste(pages, text)
    assert shown.status == 422
    assert shown.find("[role=alert]").get_text().split()[:3] == ["Nothing", "was", "imported."]
    assert shown.find("#file")["aria-describedby"] == "file-error"
    assert not shown.soup.select("script:not([src])")


def test_half_a_character(pages: Pages) -> None:
    """Given half a character in a file, then the applet is there, its name in text that can be stored."""
    shown = _paste(pages, _document(applet(name="\ud83d")))
    assert shown.status == 200
    assert pages.get("/applets").texts(".applet h2") == ["\ufffd"]


def test_bytes_that_are_no_text(pages: Pages) -> None:
    assert _upload(pages, bytes(range(256))).status == 422


def test_a_file_without_token(pages: Pages) -> None:
    answer = pages.client.post("/applets/import", data={"text": "{}"}, files={"file": ("a.json", b"{}")})
    assert answer.status_code == 403
