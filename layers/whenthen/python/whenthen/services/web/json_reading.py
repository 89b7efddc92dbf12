"""Reading a JSON document, and writing values found in it."""

import json
from collections.abc import Callable
from typing import Any

from whenthen.model.values import without_surrogates
from whenthen.services.checking import CheckFailed
from whenthen.services.documents import Document
from whenthen.services.web.encodings import charset
from whenthen.services.web.numbers import canonical, decimal_number, digits, is_number, whole_number


def read_json(document: Document) -> Any:
    """Return the value of a document: numbers are `int` and `Decimal`, and of equal keys the last counts.

    Raises
    ------
    CheckFailed
        It is not JSON, or not in an encoding that it says.
    """
    if not document.body.strip():
        raise CheckFailed("The document is empty.", field="url")
    text = _decode(document)
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        raise CheckFailed("The source gave a web page or XML instead of JSON.", field="url")
    try:
        return json.loads(
            text.removeprefix("\ufeff"),
            parse_int=whole_number,
            parse_float=decimal_number,
            parse_constant=_refuse_constant,
        )
    except RecursionError as error:
        raise CheckFailed("The document is nested too deeply.", field="url") from error
    except json.JSONDecodeError as error:
        raise CheckFailed(
            f"The document is not JSON: {error.msg} at line {error.lineno}, column {error.colno}.", field="url"
        ) from error
    except ValueError as error:
        raise CheckFailed(f"The document can't be read: {error}.", field="url") from error


def _decode(document: Document) -> str:
    # UTF-8 by RFC 8259, section 8.1; older documents are in UTF-16 or 32, or in what the header names.
    named = charset(document.headers.get("content-type", ""))
    for encoding in (json.detect_encoding(document.body), named or "utf-8"):
        try:
            return document.body.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise CheckFailed("The document is not text in UTF-8.", field="url")


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def value_text(value: Any) -> str:
    """Return a value as people read it: text as it is, nothing as empty text, lists and objects as compact JSON.

    Raises
    ------
    RecursionError
        The value is nested too deeply.
    """
    match value:
        case None:
            return ""
        case str():
            return without_surrogates(value)
    return without_surrogates(_written(value, digits, sort=False))


def canonical_text(value: Any) -> str:
    """Return the one JSON text that all spellings of a value have, whatever the order of its members.

    Raises
    ------
    RecursionError
        The value is nested too deeply.
    """
    return _written(value, canonical, sort=True)


def _written(value: Any, write_number: Callable[[Any], str], *, sort: bool) -> str:
    match value:
        case dict():
            members = sorted(value.items()) if sort else value.items()
            return "{" + ",".join(f"{_quoted(k)}:{_written(v, write_number, sort=sort)}" for k, v in members) + "}"
        case list():
            return "[" + ",".join(_written(item, write_number, sort=sort) for item in value) + "]"
        case _ if is_number(value):
            return write_number(value)
    return _quoted(value)


def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
