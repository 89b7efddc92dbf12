"""Reasons, notes and messages in the language of the page.

The engine and the services write them in English, and that is how they are stored. ``locale/reasons.txt`` lists those
that are translated; what is not there, such as the words of an owner's `skip` or of a target, stays as it is.
"""

import re
from functools import cache
from pathlib import Path

from whenthen.web.console import language
from whenthen.web.console.plain_words import plain

_FILE = Path(__file__).parent / "locale" / "reasons.txt"
_PLACEHOLDER = re.compile(r"%\((\w+)\)s")
_SENTENCES = re.compile(r"(?<=[.?!]) (?=[A-Z0-9“])")
_PATH = re.compile(r"([a-z_][\w.]*): (.+)", re.DOTALL)
_WORD = r"""“.*?”|'.*?'|".*?"|\S+"""
_LONGEST = 1000
"""Longer ones stay: what the engine says is shorter, and some patterns take the cube of the length."""

_DEEPEST = 4


def translated(text: str) -> str:
    """Return a reason, a note or a message of the engine in the current language."""
    if language.current.get() == language.DEFAULT_LANGUAGE or len(text) > _LONGEST:
        return text
    return _translated(text, _DEEPEST)


@cache
def texts() -> tuple[str, ...]:
    """Return what is listed, with ``%(name)s`` where something is put in.

    What is named `why` may be of the list itself, and is translated, too; `word` is one word or quoted.
    """
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    return tuple(line for line in lines if line and not line.startswith("#"))


def pattern_of(text: str) -> re.Pattern[str]:
    """Return what a listed text matches as a whole."""
    parts = _PLACEHOLDER.split(text)
    names = parts[1::2]
    groups = [f"(?P<{name}>{_WORD if name == 'word' else '.*?'})" for name in names]
    fixed = [re.escape(part) for part in parts[::2]]
    return re.compile("".join(a + b for a, b in zip(fixed, [*groups, ""], strict=True)), re.DOTALL)


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Those with something in them, the most telling first: what fits two is what says more."""
    found = [text for text in texts() if _PLACEHOLDER.search(text)]
    found.sort(key=lambda text: -len(_PLACEHOLDER.sub("", text)))
    return tuple((pattern_of(text), text) for text in found)


@cache
def _fixed() -> frozenset[str]:
    return frozenset(text for text in texts() if not _PLACEHOLDER.search(text))


def _translated(text: str, depth: int) -> str:
    if text in _fixed():
        return language.gettext(text)
    if words := plain(text):
        return words
    if not depth:
        return text
    for pattern, listed in _patterns():
        if found := pattern.fullmatch(text):
            values = found.groupdict()
            if "why" in values:
                values["why"] = _translated(values["why"], depth - 1)
            return language.gettext(listed) % values
    if (found := _PATH.fullmatch(text)) and (rest := _translated(found[2], depth - 1)) != found[2]:
        return f"{found[1]}: {rest}"
    sentences = _SENTENCES.split(text)
    if len(sentences) == 1:
        return text
    return _joined([_translated(sentence, 1) for sentence in sentences])


def _joined(sentences: list[str]) -> str:
    """Join sentences; after a full stop of its own width stands no space."""
    return "".join(
        sentence if not index or sentences[index - 1].endswith("。") else f" {sentence}"
        for index, sentence in enumerate(sentences)
    )
