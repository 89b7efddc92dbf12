"""How the web service finds that something has changed.

A change is told by the instant of the first check, a count of the changes since, and what it led to. So going from
A to B and back again is two events, and a change that is found twice from one position is one.
"""

from collections.abc import Callable
from hashlib import sha256
from typing import Any

from whenthen.clock import time_text, to_datetime
from whenthen.services.checking import Check, CheckFailed, Found, Item, Position
from whenthen.services.documents import Document, known_source, read_document
from whenthen.services.isolation.apart import read_apart
from whenthen.services.isolation.errors import NotRead
from whenthen.services.web.fields import JsonConditionFields, JsonValueFields, PageFields, WebFields
from whenthen.services.web.texts import cut, digest, kept

_JSON = "application/json, */*;q=0.8"
_PAGE = "text/html, application/xhtml+xml, */*;q=0.8"
_VALUES = "whenthen.services.web.json_values"
_PAGES = "whenthen.services.web.pages"

MAX_KEPT_LINES = 400
_MARK_LENGTH = 8
_NOTHING = "The expression finds nothing now."

type _Reading = tuple[dict[str, Any], dict[str, str] | None, str]
"""What a document leads to: a part of the position, the ingredients of an event if there is one, and a note."""


def check_json_value(check: Check[JsonValueFields]) -> Found:
    """Find that a value has changed. `CheckFailed` as for `json_values.read`, or for the expression."""

    def read(document: Document, old: Position | None) -> _Reading:
        value = _value(document, check.fields)
        if value is None:
            # A source that is out of order for once has not changed.
            known = {"hash": old["hash"], "value": old["value"]} if old else {"hash": "", "value": ""}
            return known, None, _NOTHING
        new = {"hash": value["hash"], "value": kept(value["text"])}
        if old is None or old["hash"] == new["hash"]:
            return new, None, ""
        return new, {"Value": value["text"], "PreviousValue": old["value"]}, ""

    return _check(check, _JSON, read)


def check_json_condition(check: Check[JsonConditionFields]) -> Found:
    """Find that a value has come to meet a condition. `CheckFailed` as for `check_json_value`."""

    def read(document: Document, old: Position | None) -> _Reading:
        value = _value(document, check.fields, condition=(check.fields.operator, check.fields.value))
        met = old["met"] if old else None
        if value is None:
            return {"met": met}, None, _NOTHING
        if value["meets"] is None:
            return {"met": met}, None, "The value is not a number now."
        if value["meets"] and met is False:
            return {"met": True}, {"Value": value["text"]}, ""
        return {"met": value["meets"]}, None, ""

    return _check(check, _JSON, read)


def check_page(check: Check[PageFields]) -> Found:
    """Find that the visible text of a page has changed. `CheckFailed` as for `pages.read`, or for the selector."""

    def read(document: Document, old: Position | None) -> _Reading:
        lines = _read(_PAGES, document, selector=check.fields.selector)
        if lines is None:
            raise CheckFailed("The page has nothing that the selector matches.", field="selector")
        text = "\n".join(lines)
        marks = [digest(line)[:_MARK_LENGTH] for line in lines[:MAX_KEPT_LINES]]
        new = {
            # How the text is spread over blocks is markup.
            "hash": digest(" ".join(lines)),
            "text": kept(text),
            "lines": "".join(dict.fromkeys(marks)) if len(lines) <= MAX_KEPT_LINES else None,
        }
        if old is None or old["hash"] == new["hash"]:
            return new, None, ""
        added = "\n".join(_added(lines, old))
        return new, {"NewText": cut(text), "OldText": old["text"], "AddedText": cut(added)}, ""

    return _check(check, _PAGE, read)


def _check[F: WebFields](check: Check[F], accept: str, read: Callable[[Document, Position | None], _Reading]) -> Found:
    url = check.fields.url
    old = check.position
    document = read_document(check, known_source(old, url), field="url", accept=accept)
    if document is None:
        # Only who has asked before is told that nothing has changed.
        return Found((), old or {}, note=(old or {}).get("note", ""))
    seen = {"source": document.source.as_dict(), "sha256": sha256(document.body).hexdigest()}
    if old is not None and old["sha256"] == seen["sha256"]:
        return Found((), {**old, **seen}, note=old["note"])
    new, ingredients, note = read(document, old)
    since, count = (old["since"], old["count"]) if old else (check.now, 0)
    count += ingredients is not None
    position = {**seen, "since": since, "count": count, "note": note, **new}
    if ingredients is None:
        # Other bytes with nothing new in them, such as the time of day, are not worth a write.
        unchanged = old is not None and position == {**old, "sha256": seen["sha256"]}
        return Found((), old if old is not None and unchanged else position, note=note)
    item = Item(
        unique=f"{since}.{count}.{new.get('hash', '')}",
        ingredients={**ingredients, "Url": url, "CheckTime": time_text(to_datetime(check.now))},
        occurred_at=check.now,
    )
    return Found((item,), position, note=note)


def _value(document: Document, fields: JsonValueFields, **order: Any) -> Any:
    value = _read(_VALUES, document, expression=fields.expression, **order)
    if value is not None and "fault" in value:
        raise CheckFailed(value["fault"], field="expression")
    return value


def _read(program: str, document: Document, **order: Any) -> Any:
    try:
        return read_apart(program, document.body, content_type=document.headers.get("content-type", ""), **order)
    except NotRead as error:
        raise CheckFailed(str(error), field="url") from error


def _added(lines: list[str], old: Position) -> list[str]:
    """Return the lines that the page did not have, as far as its lines are remembered."""
    marks = old["lines"]
    if marks is None:
        return []
    known = {marks[start : start + _MARK_LENGTH] for start in range(0, len(marks), _MARK_LENGTH)}
    return [line for line in lines if digest(line)[:_MARK_LENGTH] not in known]
