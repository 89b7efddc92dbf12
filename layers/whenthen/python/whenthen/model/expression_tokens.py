"""The words of an expression and the part that each plays."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from whenthen.errors import WhenthenError
from whenthen.model.expression_filters import ENGINE_FILTERS, ENGINE_TESTS, FILTERS

MAX_PARTS = 200
SKIP = "skip"
"""The one thing that can be called, in the filter of an applet: ``skip('why')``."""

MAX_NESTING = 16
# The engine's integers have 128 bits.
_LONGEST_NUMBER = 38

_TOKEN = re.compile(
    r"""(?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    | (?P<number>[0-9][0-9_]*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?!\w))
    | (?P<name>[^\W\d]\w*)
    | (?P<symbol>\*\*|//|==|!=|<=|>=|[-+*/%~<>|.,:=()\[\]{}])
    | (?P<space>\s+)""",
    re.VERBOSE | re.DOTALL,
)
_CURLY = frozenset("‘’‚“”„")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_CONSTANTS = frozenset({"true", "True", "false", "False", "none", "None"})
COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
COMPARING = 4
# How tightly operators bind, as in the engine's parser: the higher, the tighter.
LEVELS = (
    dict.fromkeys((",", ":", "=", "if", "else"), 0)
    | {"or": 1, "and": 2, "not": 3, "in": COMPARING}
    | dict.fromkeys(COMPARISONS, COMPARING)
    | {"+": 5, "-": 5, "~": 6}
    | dict.fromkeys(("*", "/", "//", "%"), 7)
    | {"**": 8}
)
_OPERAND_ENDS = frozenset({"value", "name", "attribute", "filter", "test", "close"})
_COUNTED = frozenset({"name", "call", "attribute", "filter", "test", "operator", "prefix", "open"})


class ExpressionError(WhenthenError):
    """The expression can't be used.

    Parameters
    ----------
    message:
        What is wrong, in words the owner understands.
    position:
        Character offset into the expression, or None if it is about the whole.
    """

    def __init__(self, message: str, position: int | None = None) -> None:
        self.position = position
        super().__init__(message)


class Token(NamedTuple):
    """A word or sign, its role among the others and its character offset."""

    role: str
    text: str
    start: int

    @property
    def is_literal(self) -> bool:
        """Whether it stands for a constant."""
        return self.role == "value" and (self.text[0] in "'\"" or self.text[0].isdecimal() or self.text in _CONSTANTS)

    @property
    def level(self) -> int | None:
        """How tightly it binds, if it is an operator between two values or `not`."""
        return LEVELS[self.text] if self.role == "operator" else None


def tokens_of(text: str) -> list[Token]:
    """Return the tokens of expression `text`.

    Raises
    ------
    ExpressionError
        Something in it is unknown or not allowed, or there is nothing or too much.
    """
    tokens: list[Token] = []
    words = list(_words(text))
    for index, (kind, word, start) in enumerate(words):
        following = words[index + 1][1] if index + 1 < len(words) else ""
        tokens.append(Token(_role(kind, word, start, tokens, following), word, start))
    if not tokens:
        raise ExpressionError("an expression is empty", 0)
    if sum(token.role in _COUNTED for token in tokens) > MAX_PARTS:
        raise ExpressionError(f"an expression has more than {MAX_PARTS} names and operators")
    return tokens


def _words(text: str) -> Iterator[tuple[str, str, int]]:
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if not found:
            character = text[position]
            what = "quotation mark without its partner" if character in "'\"" else "character"
            # Phones and word processors write these in the place of straight ones.
            what = "curly quotation mark" if character in _CURLY else what
            raise ExpressionError(f"there is an unexpected {what}: {character}", position)
        if found.lastgroup != "space":
            yield str(found.lastgroup), found[0], position
        position = found.end()


def _role(kind: str, word: str, start: int, before: list[Token], following: str) -> str:
    previous = before[-1] if before else Token("", "", 0)
    after_operand = previous.role in _OPERAND_ENDS
    if kind == "name":
        return _role_of_name(word, start, previous, following)
    if kind == "number" and len(word) > _LONGEST_NUMBER:
        raise ExpressionError(f"a number has more than {_LONGEST_NUMBER} digits", start)
    if kind != "symbol":
        return "value"
    if word == "(" and after_operand and previous.role not in ("filter", "test"):
        raise ExpressionError("an expression can't call anything: use filters, as in Value1|upper", start)
    if word == "." and previous.role in ("filter", "test"):
        raise ExpressionError("put parentheses around what stands before the dot", start)
    if word in _CLOSING:
        return "open"
    if word in _CLOSING.values():
        return "close"
    if word in (".", "|"):
        return "mark"
    if word in ("*", "**") and not after_operand:
        raise ExpressionError(f"{word} needs a value on its left", start)
    return "prefix" if word == "-" and not after_operand else "operator"


def _role_of_name(word: str, start: int, previous: Token, following: str) -> str:
    if previous.role == "mark":
        if previous.text == ".":
            return "attribute"
        if word not in ENGINE_FILTERS and (word not in FILTERS or word.startswith("_")):
            raise ExpressionError(f"there is no filter {word}", start)
        return "filter"
    if previous.role == "is":
        if word == "not":
            return "is"
        if word not in ENGINE_TESTS:
            raise ExpressionError(f"there is no test {word}", start)
        return "test"
    if word == "is":
        return "is"
    if word in LEVELS:
        return "operator"
    if word in _CONSTANTS or following == "=":
        return "value"
    if word == SKIP and following == "(":
        return "call"
    if word.startswith("_"):
        raise ExpressionError(f"a name can't start with an underscore: {word}", start)
    return "name"


def pairs_of(tokens: list[Token]) -> dict[int, int]:
    """Return the index of the partner of each bracket.

    Raises
    ------
    ExpressionError
        A bracket has no partner, or too many are open at once.
    """
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for index, token in enumerate(tokens):
        if token.role == "open":
            opened.append(index)
            if len(opened) > MAX_NESTING:
                raise ExpressionError(f"brackets are nested more than {MAX_NESTING} deep", token.start)
        elif token.role == "close":
            if not opened or _CLOSING[tokens[opened[-1]].text] != token.text:
                raise ExpressionError(f"{token.text} has no partner", token.start)
            pairs[index] = opened.pop()
            pairs[pairs[index]] = index
    if opened:
        raise ExpressionError(f"{tokens[opened[-1]].text} is not closed", tokens[opened[-1]].start)
    return pairs
