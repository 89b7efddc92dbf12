"""How the web service finds that something has changed.

A change is told by the instant of the first check, a count of the changes since, and what it led to. So going from
A to B and back again is two events, and a change that is found twice from one position is one.
"""

from collections.abc import Callable
from hashlib import sha256
from typing import Any

from whenthen.clock import to_datetime
from whenthen.services.checking import Check, CheckFailed, Found, Item, Position
from whenthen.services.documents import Document, known_source, read_document
from whenthen.services.web.fields import JsonConditionFields, JsonValueFields, PageFields, WebFields

_JSON = "application/json, */*;q=0.8"
_PAGE = "text/html, application/xhtml+xml, */*;q=0.8"

MAX_VALUE_CHARACTERS = 16 * 1024
"""The longest value in an ingredient."""

MAX_KEPT_BYTES = 4 * 1024
"""The longest value in a position, which is small: what was there before is cut to it."""

MAX_KEPT_LINES = 400
_MARK_LENGTH = 8
_NOTHING = "The expression finds nothing now."

type _Reading = tuple[dict[str, Any], dict[str, str] | None, str]
"""What a document leads to: a part of the position, the ingredients of an event if there is one, and a note."""


def check_json_value(check: Check[JsonValueFields]) -> Found:
    """Find that a value has changed. `CheckFailed` as for `read_json`, or for the expression."""

    def read(document: Document, old: Position | None) -> _Reading:
        from whenthen.services.web.json_reading import canonical_text, value_text

        value = _value(check.fields, document)
        if value is None:
            # A source that is out of order for once has not changed.
            known = {"hash": old["hash"], "value": old["value"]} if old else {"hash": "", "value": ""}
            return known, None, _NOTHING
        text = value_text(value)
        new = {"hash": _hash(canonical_text(value)), "value": _kept(text)}
        if old is None or old["hash"] == new["hash"]:
            return new, None, ""
        return new, {"Value": _cut(text), "PreviousValue": old["value"]}, ""

    return _check(check, _JSON, read)


def check_json_condition(check: Check[JsonConditionFields]) -> Found:
    """Find that a value has come to meet a condition. `CheckFailed` as for `check_json_value`."""

    def read(document: Document, old: Position | None) -> _Reading:
        from whenthen.services.web.conditions import NoOrder, meets
        from whenthen.services.web.json_reading import value_text

        fields = check.fields
        value = _value(fields, document)
        met = old["met"] if old else None
        if value is None:
            return {"met": met}, None, _NOTHING
        try:
            meets_now = meets(value, fields.operator, fields.value)
        except NoOrder:
            return {"met": met}, None, "The value is not a number now."
        if meets_now and met is False:
            return {"met": True}, {"Value": _cut(value_text(value))}, ""
        return {"met": meets_now}, None, ""

    return _check(check, _JSON, read)


def check_page(check: Check[PageFields]) -> Found:
    """Find that the visible text of a page has changed. `CheckFailed` as for `page_lines`."""

    def read(document: Document, old: Position | None) -> _Reading:
        from whenthen.services.web.pages import page_lines

        lines = page_lines(document, check.fields.selector)
        text = "\n".join(lines)
        marks = [_hash(line)[:_MARK_LENGTH] for line in lines[:MAX_KEPT_LINES]]
        new = {
            # How the text is spread over blocks is markup.
            "hash": _hash(" ".join(lines)),
            "text": _kept(text),
            "lines": "".join(dict.fromkeys(marks)) if len(lines) <= MAX_KEPT_LINES else None,
        }
        if old is None or old["hash"] == new["hash"]:
            return new, None, ""
        ingredients = {
            "NewText": _cut(text),
            "OldText": old["text"],
            "AddedText": _cut("\n".join(_added(lines, old))),
        }
        return new, ingredients, ""

    return _check(check, _PAGE, read)


def _check[F: WebFields](check: Check[F], accept: str, read: Callable[[Document, Position | None], _Reading]) -> Found:
    url = check.fields.url
    old = check.position
    document = read_document(check, known_source(old, url), field="url", accept=accept)
    if document is None:
        old = _known(old)
        return Found((), old, note=old["note"])
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
        ingredients={**ingredients, "Url": url, "CheckTime": to_datetime(check.now).strftime("%B %d, %Y at %I:%M%p")},
        occurred_at=check.now,
    )
    return Found((item,), position, note=note)


def _known(position: Position | None) -> Position:
    if position is None:
        raise CheckFailed("The source says that nothing has changed, to one who has never asked.", field="url")
    return position


def _value(fields: JsonValueFields, document: Document) -> Any:
    from whenthen.services.web.expressions import ExpressionFailed, evaluate
    from whenthen.services.web.json_reading import read_json

    try:
        return evaluate(fields.expression, read_json(document))
    except ExpressionFailed as error:
        raise CheckFailed(str(error), field="expression") from error


def _added(lines: list[str], old: Position) -> list[str]:
    """Return the lines that the page did not have, as far as its lines are remembered."""
    marks = old["lines"]
    if marks is None:
        return []
    known = {marks[start : start + _MARK_LENGTH] for start in range(0, len(marks), _MARK_LENGTH)}
    return [line for line in lines if _hash(line)[:_MARK_LENGTH] not in known]


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _cut(text: str) -> str:
    return text if len(text) <= MAX_VALUE_CHARACTERS else text[: MAX_VALUE_CHARACTERS - 1] + "…"


def _kept(text: str) -> str:
    encoded = text.encode("utf-8", "replace")
    return text if len(encoded) <= MAX_KEPT_BYTES else encoded[:MAX_KEPT_BYTES].decode("utf-8", "ignore") + "…"
