"""The languages of the pages. Texts are written in English; a language has a file of translations (gettext's .po)."""

from contextvars import ContextVar
from functools import cache
from pathlib import Path

import polib

LANGUAGES = {"en": "English", "ja": "日本語"}
"""By code, each named in itself. The first one needs no file."""

DEFAULT_LANGUAGE = "en"

_FOLDER = Path(__file__).parent / "locale"

current: ContextVar[str] = ContextVar("language", default=DEFAULT_LANGUAGE)
"""The language of the page that is being made."""


@cache
def _translations(language: str) -> dict[str, tuple[str, ...]]:
    if language == DEFAULT_LANGUAGE:
        return {}
    found: dict[str, tuple[str, ...]] = {}
    for entry in polib.pofile(str(_FOLDER / f"{language}.po")):
        plural = tuple(text for _, text in sorted(entry.msgstr_plural.items()))
        found[entry.msgid] = plural or (entry.msgstr,)
    return found


def gettext(message: str) -> str:
    """Return a message in the current language, or as it is where there is no translation."""
    forms = _translations(current.get()).get(message)
    return forms[0] if forms and forms[0] else message


def ngettext(singular: str, plural: str, number: int) -> str:
    """Return the message for a number. Of the languages here only English has more than one form."""
    forms = _translations(current.get()).get(singular)
    if forms and forms[0]:
        return forms[0]
    return singular if number == 1 else plural


def choose(wanted: str | None, accepted: str | None) -> str:
    """Return the code of the language to use.

    Parameters
    ----------
    wanted:
        What the visitor has chosen before, or None.
    accepted:
        The browser's Accept-Language (RFC 9110, 12.5.4), or None. Its weights are kept to.
    """
    if wanted in LANGUAGES:
        return wanted
    ranked: list[tuple[float, int, str]] = []
    for place, part in enumerate((accepted or "").split(",")[:20]):
        tag, _, weight = part.partition(";q=")
        code = tag.strip().partition("-")[0].lower()
        try:
            quality = float(weight) if weight else 1.0
        except ValueError:
            continue
        if code in LANGUAGES and quality > 0:
            ranked.append((-quality, place, code))
    return min(ranked)[2] if ranked else DEFAULT_LANGUAGE
