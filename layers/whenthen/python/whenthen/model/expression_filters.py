"""The filters that expressions may use, and the work that one rendering may do.

The fuel of the template engine is not enough: measured with minijinja 3.1, it is per expression, it does not
see a list repeated with ``*`` become a Python list of gigabytes, and ``|indent`` or ``|format`` make text as
wide as they are told. So every filter that makes text or a list is ours and pays for its result; of the
engine's own only those that make neither are allowed.
"""

import html
import json
from collections.abc import Callable, Sequence
from typing import Any, Protocol
from urllib.parse import quote

from minijinja import pass_state

from whenthen.model.comparison import compare, number, to_float, to_int
from whenthen.model.values import compact_json, engine_value, quoted, text_of

MAX_WORK = 8 * 1024 * 1024
MAX_FILTER_TEXT = 1024 * 1024
TOO_MUCH_WORK = "the expressions work on too much text"

ENGINE_FILTERS = frozenset({"abs", "count", "d", "default", "first", "items", "last", "length", "round"})
# The engine's own tests without those that order a text and a number and don't complain.
ENGINE_TESTS = frozenset(
    {"boolean", "defined", "divisibleby", "endingwith", "even", "false", "float", "in", "integer"}
    | {"iterable", "lower", "mapping", "none", "number", "odd", "sequence", "startingwith", "string"}
    | {"true", "undefined", "upper"}
)


class Skipped(Exception):
    """A filter has called ``skip``. Its text is the reason."""


class Work:
    """What one rendering may still do, in characters that filters are given and make."""

    def __init__(self) -> None:
        self._left = MAX_WORK
        self._parsed: dict[str, object] = {}

    def spend(self, characters: int) -> None:
        """Pay for `characters` of text.

        Raises
        ------
        ValueError
            Too little is left.
        """
        self._left -= characters
        if self._left < 0:
            raise ValueError(TOO_MUCH_WORK)

    def parse(self, text: str) -> object:
        """Return JSON `text` parsed, the same object each time: ten fields of a body cost one parsing.

        Raises
        ------
        ValueError
            The text is not JSON.
        """
        if text not in self._parsed:
            self.spend(len(text))
            try:
                self._parsed[text] = engine_value(json.loads(text))
            except (ValueError, RecursionError) as exc:
                raise ValueError(f"fromjson: {quoted(text)} is not JSON") from exc
        return self._parsed[text]


class _State(Protocol):
    def lookup(self, name: str) -> Any: ...


def _items(value: object) -> Sequence[object]:
    match value:
        case list() | tuple() | str():
            return value
        case dict():
            return list(value)
        case None:
            return ()
        case _:
            raise ValueError(f"{quoted(value)} is not a list")


def _replace(value: object, old: object, new: object) -> str:
    text, old_text, new_text = text_of(value), text_of(old), text_of(new)
    # Measured before it is made: two long ingredients make gigabytes here.
    if len(text) + text.count(old_text) * (len(new_text) - len(old_text)) > MAX_FILTER_TEXT:
        raise ValueError("replace makes too much text")
    return text.replace(old_text, new_text)


def _join(value: object, separator: object = "") -> str:
    # One link, where a feed has one, reads like a list of one link (case E11).
    texts = [value] if isinstance(value, str) else [text_of(item) for item in _items(value)]
    between = text_of(separator)
    if sum(map(len, texts)) + len(between) * len(texts) > MAX_FILTER_TEXT:
        raise ValueError("join makes too much text")
    return between.join(texts)


def _split(value: object, separator: object = None) -> list[str]:
    return text_of(value).split(text_of(separator) or None)


def _map(value: object, *, attribute: str) -> list[object]:
    return [item.get(attribute) if isinstance(item, dict) else None for item in _items(value)]


def _sort(value: object, *, reverse: bool = False) -> list[Any]:
    items: Sequence[Any] = _items(value)
    return sorted(items, reverse=reverse)


def _unique(value: object) -> list[object]:
    return list({text_of(item): item for item in reversed(_items(value))}.values())[::-1]


def _least(value: object) -> object:
    items: Sequence[Any] = _items(value)
    return min(items, default=None)


def _greatest(value: object) -> object:
    items: Sequence[Any] = _items(value)
    return max(items, default=None)


def _skip(reason: object) -> object:
    raise Skipped(text_of(reason).strip())


def _cost(result: object) -> int:
    if isinstance(result, list):
        # An item takes about as much memory as 16 characters, be it ever so short.
        return sum(16 + (len(item) if isinstance(item, str) else 0) for item in result)
    return len(result) if isinstance(result, str) else 1


def _metered(function: Callable[..., object]) -> Callable[..., object]:
    @pass_state
    def metered(state: _State, *arguments: object, **named: object) -> object:
        if any(isinstance(argument, str) and len(argument) > MAX_FILTER_TEXT for argument in arguments):
            raise ValueError("a filter is given too much text")
        result = function(*arguments, **named)
        state.lookup("_work").spend(_cost(result))
        return result

    return metered


@pass_state
def _fromjson(state: _State, value: object) -> object:
    work: Work = state.lookup("_work")
    return work.parse(value) if isinstance(value, str) and value.strip() else None


_FUNCTIONS: dict[str, Callable[..., object]] = {
    "capitalize": lambda value: text_of(value).capitalize(),
    "e": lambda value: html.escape(text_of(value)),
    "escape": lambda value: html.escape(text_of(value)),
    "float": to_float,
    "int": to_int,
    "join": _join,
    "lines": lambda value: text_of(value).splitlines(),
    "list": lambda value: list(_items(value)),
    "lower": lambda value: text_of(value).lower(),
    "map": _map,
    "max": _greatest,
    "min": _least,
    "replace": _replace,
    "reverse": lambda value: value[::-1] if isinstance(value, str) else list(_items(value))[::-1],
    "sort": _sort,
    "split": _split,
    "string": text_of,
    "sum": lambda value: sum(map(number, _items(value))),
    "title": lambda value: text_of(value).title(),
    "tojson": compact_json,
    "trim": lambda value: text_of(value).strip(),
    "unique": _unique,
    "upper": lambda value: text_of(value).upper(),
    "urlencode": lambda value: quote(text_of(value)),
    "_compare": compare,
    "_number": number,
    "_skip": _skip,
    "_text": text_of,
}
FILTERS = {name: _metered(function) for name, function in _FUNCTIONS.items()} | {"fromjson": _fromjson}
