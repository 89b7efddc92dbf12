"""Templates: literal text with ``{{ expression }}`` in it.

Only ``{{`` and ``}}`` have a meaning. All other text is kept as written: a backslash and an n stay two
characters (cases E02 and E05), and so do ``{%``, ``{#`` and single braces. ``{{ '{{' }}`` writes a literal
``{{``. What an expression yields is encoded for the place it lands in and never read as a template.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from whenthen.errors import WhenthenError
from whenthen.model.encoding import Encoding, JsonScanner, Place, encode, one_line
from whenthen.model.expression_syntax import Expression, read_expression
from whenthen.model.expressions import Evaluator, ExpressionError
from whenthen.model.values import IngredientValue, without_surrogates

__all__ = ["Encoding", "IngredientValue", "Rendered", "TemplateError", "check", "render"]

MAX_TEMPLATE = 256 * 1024
MAX_OUTPUT = 512 * 1024
MAX_EXPRESSIONS = 256

# What the scanner looks at inside an expression: a string is skipped, braces are counted, so that the
# ``}}`` of {'a': {'b': 1}} ends nothing.
_INSIDE = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[{}'"]""", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Rendered:
    """Rendered text, and what was odd about the ingredients."""

    text: str
    notes: tuple[str, ...]


class TemplateError(WhenthenError):
    """The template can't be used.

    Parameters
    ----------
    message:
        What is wrong, in words the owner understands.
    position:
        Character offset into the template, or None if it is about the whole.
    """

    def __init__(self, message: str, position: int | None = None) -> None:
        self.position = position
        super().__init__(message if position is None else f"{message} (at character {position + 1})")


@dataclass(frozen=True, slots=True)
class _Segment:
    """Literal text and the expression after it."""

    literal: str
    expression: Expression
    position: int
    json_place: Place


@dataclass(frozen=True, slots=True)
class _Template:
    segments: tuple[_Segment, ...]
    ending: str


def check(template: str) -> frozenset[str]:
    """Return the names of the ingredients that `template` uses.

    Parameters
    ----------
    template:
        As the owner wrote it, at most 262,144 characters with at most 256 expressions.

    Raises
    ------
    TemplateError
        A ``{{`` is not closed, an expression can't be used, or the template is too long.
    """
    return frozenset(name for segment in _parse(template).segments for name in segment.expression.names)


def render(template: str, ingredients: Mapping[str, IngredientValue], encoding: Encoding) -> Rendered:
    """Return `template` with the values of its expressions.

    Parameters
    ----------
    template:
        As the owner wrote it.
    ingredients:
        By name. A missing one is empty text and a note.
    encoding:
        What the text is for; see the functions of `encoding` for the rules of each.

    Raises
    ------
    TemplateError
        As `check`; or the values don't fit an expression; or the output is longer than 512 KiB of UTF-8; or
        an expression stands right after a backslash in JSON.
    """
    parsed = _parse(template)
    evaluator = Evaluator(ingredients)
    pieces: list[str] = []
    size = 0
    for index, segment in enumerate(parsed.segments):
        place = segment.json_place if encoding is Encoding.JSON else Place.MIDDLE
        if encoding is Encoding.URL and index == 0 and not segment.literal:
            place = Place.START
        if place is Place.JSON_ESCAPE:
            raise TemplateError("in JSON an expression can't stand right after a backslash", segment.position)
        try:
            text = encode(evaluator.text(segment.expression), encoding, place)
        except ExpressionError as exc:
            raise TemplateError(str(exc), segment.position) from exc
        size += _size(segment.literal) + _size(text)
        if size > MAX_OUTPUT:
            raise TemplateError(f"the output is too long: more than {MAX_OUTPUT} bytes", segment.position)
        pieces += [segment.literal, text]
    text = "".join([*pieces, parsed.ending])
    if size + _size(parsed.ending) > MAX_OUTPUT:
        raise TemplateError(f"the output is too long: more than {MAX_OUTPUT} bytes")
    # A line break that the owner typed into a header field would start another header, too.
    return Rendered(one_line(text) if encoding is Encoding.HEADER else text, evaluator.notes)


@lru_cache(maxsize=64)
def _parse(template: str) -> _Template:
    if len(template) > MAX_TEMPLATE:
        raise TemplateError(f"the template is longer than {MAX_TEMPLATE} characters")
    segments: list[_Segment] = []
    scanner = JsonScanner()
    position = 0
    while (start := template.find("{{", position)) >= 0:
        if len(segments) == MAX_EXPRESSIONS:
            raise TemplateError(f"the template has more than {MAX_EXPRESSIONS} expressions", start)
        end = _end(template, start)
        literal = without_surrogates(template[position:start])
        position = end + 2
        scanner.feed(literal)
        following = template[position : position + 100]
        expression = _expression(template, start + 2, end)
        segments.append(_Segment(literal, expression, start, scanner.place(following)))
    return _Template(tuple(segments), without_surrogates(template[position:]))


def _end(template: str, start: int) -> int:
    """Return where the ``}}`` is that closes the ``{{`` at `start`."""
    braces = 0
    for found in _INSIDE.finditer(template, start + 2):
        sign = found[0]
        if sign in ("'", '"'):
            raise TemplateError(f"{sign} is not closed", found.start())
        if sign == "{":
            braces += 1
        elif sign == "}" and braces:
            braces -= 1
        elif template.startswith("}}", found.start()):
            return found.start()
    raise TemplateError("{{ is not closed", start)


def _expression(template: str, start: int, end: int) -> Expression:
    written = template[start:end]
    indent = len(written) - len(written.lstrip())
    try:
        expression = read_expression(written.strip())
        if expression.skips:
            raise ExpressionError("skip is for the filter of an applet", 0)
        return expression
    except ExpressionError as exc:
        offset = start + indent + (exc.position or 0)
        raise TemplateError(str(exc), offset) from exc


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
