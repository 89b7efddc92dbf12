"""The words that an item has to hold."""

import html
import re
import unicodedata
from collections.abc import Callable

MAX_TERMS = 50

_TERM = re.compile(r'"([^"]*)"|([^\s"]+)')

# Scripts that put no space between words, or glue particles to them: there a word is also found inside others.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_SPACED = re.compile(rf"[^\W{_UNSPACED}]")

_INLINE = re.compile(r"</?(?:a|abbr|b|code|em|font|i|mark|s|small|span|strong|sub|sup|u)(?:\s[^<>]*)?>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")


def plain_text(markup: str) -> str:
    """Return the words of HTML: tags within a line may be inside a word, all others end it."""
    return html.unescape(_TAG.sub(" ", _INLINE.sub("", markup)))


def parse_keywords(text: str) -> Callable[[str], bool]:
    """Return a function that says if a text holds the keywords.

    Parameters
    ----------
    text:
        Words, ``"phrases in double quotes"`` and ``OR`` in capitals. Every word and phrase of at least one
        alternative has to occur as whole words; case is ignored, and so are the widths of spaces.

    Raises
    ------
    ValueError
        There is no word, an empty alternative, an open quote, or too many words.
    """
    if text.count('"') % 2:
        raise ValueError("must close each double quote")
    alternatives: list[list[re.Pattern[str]]] = [[]]
    for match in _TERM.finditer(text):
        if match[0] == "OR":
            alternatives.append([])
        elif words := _normal(match[1] if match[1] is not None else match[2]).split():
            alternatives[-1].append(_pattern(words))
    if not all(alternatives):
        raise ValueError("must have a word on each side of OR" if len(alternatives) > 1 else "must hold a word")
    if sum(map(len, alternatives)) > MAX_TERMS:
        raise ValueError(f"must hold at most {MAX_TERMS} words")

    def holds(candidate: str) -> bool:
        candidate = _normal(candidate)
        return any(all(pattern.search(candidate) for pattern in terms) for terms in alternatives)

    return holds


def _pattern(words: list[str]) -> re.Pattern[str]:
    before = r"(?<!\w)" if _SPACED.match(words[0][0]) else ""
    after = r"(?!\w)" if _SPACED.match(words[-1][-1]) else ""
    return re.compile(before + r"\s+".join(map(re.escape, words)) + after)


def _normal(text: str) -> str:
    return unicodedata.normalize("NFKC", text.casefold())
