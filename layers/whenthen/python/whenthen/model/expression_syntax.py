"""Reads an expression, refuses what does not belong in one, and makes it safe for the engine.

minijinja was built for templates of people one trusts. So an expression is first read here, word by word:
only known filters and tests, no calls, bounded in size. Three kinds of operator are then handed to our own
code, because the engine repeats texts and lists with ``*``, doubles backslashes in lists with ``~``, and
orders ``'5'`` after ``10`` (measured with minijinja 3.1).
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import minijinja

from whenthen.model.expression_tokens import COMPARING, COMPARISONS, LEVELS, ExpressionError, Token, pairs_of, tokens_of

MAX_EXPRESSION = 4096

_SYNTAX_ONLY = "false and ("

_PARSER = minijinja.Environment(debug=False, pycompat=False)


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression that has been found good.

    Parameters
    ----------
    text:
        As the owner wrote it.
    code:
        As the engine evaluates it.
    names:
        The ingredients it uses and how often.
    unguarded:
        Those it uses without saying what to do if they are missing, as ``|default`` and ``is defined`` do.
    skips:
        Whether it calls ``skip('why')``.
    """

    text: str
    code: str
    names: Mapping[str, int]
    unguarded: tuple[str, ...]
    skips: bool

    @property
    def is_one_name(self) -> bool:
        """Whether it is just an ingredient, which needs no engine."""
        return self.text in self.names


@lru_cache(maxsize=1024)
def read_expression(text: str) -> Expression:
    """Return `text`, without spaces around it, as an expression that is safe to evaluate.

    Raises
    ------
    ExpressionError
        It has a syntax error, uses what expressions can't use, or is too long.
    """
    if len(text) > MAX_EXPRESSION:
        raise ExpressionError(f"an expression is longer than {MAX_EXPRESSION} characters")
    tokens = tokens_of(text)
    pairs = pairs_of(tokens)
    _check_syntax(text, tokens)
    names = [index for index, token in enumerate(tokens) if token.role == "name"]
    return Expression(
        text=text,
        code=f"({_safe_code(text, tokens, pairs)})|default(_missing)",
        names=Counter(tokens[index].text for index in names),
        unguarded=tuple(dict.fromkeys(tokens[index].text for index in names if not _is_guarded(tokens, pairs, index))),
        skips=any(token.role == "call" for token in tokens),
    )


def _check_syntax(text: str, tokens: list[Token]) -> None:
    masked = list(text)
    for token in tokens:
        if token.is_literal:
            # The engine computes with literals while it compiles, and then spends no fuel.
            masked[token.start : token.start + len(token.text)] = "x" * len(token.text)
    source = "".join(masked)
    try:
        # Compiles the whole, but evaluates none of it.
        _PARSER.eval_expr(f"{_SYNTAX_ONLY}{source})")
    except minijinja.TemplateError as exc:
        start = exc.range[0] if exc.range else 0
        position = len(source.encode()[: max(0, start - len(_SYNTAX_ONLY))].decode(errors="ignore"))
        raise ExpressionError(_said(exc, source, tokens, position), min(position, len(text))) from exc


def _said(error: minijinja.TemplateError, source: str, tokens: list[Token], position: int) -> str:
    """Return a syntax error in words about what people write, and not about what the engine expects."""
    if position >= len(source.rstrip()):
        return "something is missing at the end"
    index = next((index for index, token in enumerate(tokens) if token.start == position), None)
    token = tokens[index] if index is not None else None
    if token is None:
        return error.detail or str(error.kind)
    if token.text == "=":
        return "to compare, write == in the place of ="
    if token.role in ("name", "value"):
        if token.text.lower() in LEVELS:
            return f"write {token.text} in small letters"
        return f"an operator is missing before {token.text}, such as == or and"
    return f"{token.text} can't stand here"


def _is_guarded(tokens: list[Token], pairs: Mapping[int, int], index: int) -> bool:
    rest = index + 1
    while rest < len(tokens) and (tokens[rest].text == "." or tokens[rest].text == "["):
        rest = pairs[rest] + 1 if tokens[rest].text == "[" else rest + 2
    following = [token.text for token in tokens[rest : rest + 2]]
    return following[:1] in (["is"], ["or"]) or following in (["|", "default"], ["|", "d"])


def _safe_code(text: str, tokens: list[Token], pairs: Mapping[int, int]) -> str:
    """Return the code with ``a * b`` as ``(a)|_number * (b)|_number``, ``skip('x')`` as ``('x')|_skip``, and so on."""
    opening, closing = [""] * len(tokens), [""] * len(tokens)
    wrapped: set[tuple[int, int, int]] = set()
    replaced: dict[int, str] = {}
    for index, token in enumerate(tokens):
        if token.role == "call":
            if tokens[index + 2].role == "close":
                raise ExpressionError("skip needs a reason, as in skip('The door is shut')", token.start)
            replaced[index] = ""
            closing[pairs[index + 1]] = "|_skip"
    operators = [index for index, token in enumerate(tokens) if token.level is not None]
    # The tightest first: its closing parentheses come before those of what contains it.
    for index in sorted(operators, key=lambda index: -LEVELS[tokens[index].text]):
        token = tokens[index]
        if token.text not in ("*", "~") and token.text not in COMPARISONS:
            continue
        left, right = _edge(tokens, pairs, index, -1), _edge(tokens, pairs, index, 1)
        if token.text in COMPARISONS:
            _refuse_chain(tokens, left - 1)
            _refuse_chain(tokens, right + 1)
            opening[left] += "("
            replaced[index] = f")|_compare('{token.text}', ("
            closing[right] += "))"
            continue
        suffix = ")|_number" if token.text == "*" else ")|_text"
        for first, last in ((left, index - 1), (index + 1, right)):
            # In a * b * c, b belongs to two operators.
            if (first, last, LEVELS[token.text]) not in wrapped:
                wrapped.add((first, last, LEVELS[token.text]))
                opening[first] += "("
                closing[last] += suffix
    pieces, end = [], 0
    for index, token in enumerate(tokens):
        pieces += [text[end : token.start], opening[index], replaced.get(index, token.text), closing[index]]
        end = token.start + len(token.text)
    return "".join(pieces)


def _edge(tokens: list[Token], pairs: Mapping[int, int], operator: int, step: int) -> int:
    """Return the index of the last token of the operand on one side of an operator."""
    level = LEVELS[tokens[operator].text]
    stop = "open" if step < 0 else "close"
    index = operator + step
    while 0 <= index < len(tokens) and tokens[index].role != stop:
        other = tokens[index].level
        if other is not None and other <= level:
            break
        index = pairs.get(index, index) + step
    return index - step


def _refuse_chain(tokens: list[Token], index: int) -> None:
    if 0 <= index < len(tokens) and tokens[index].level == COMPARING:
        raise ExpressionError("compare two values at a time, with `and` between", tokens[index].start)
