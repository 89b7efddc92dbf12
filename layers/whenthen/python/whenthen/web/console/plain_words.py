"""What pydantic says of a value, in words of people who don't write programs."""

import re
from collections.abc import Callable

from whenthen.web.console.language import gettext as _
from whenthen.web.console.language import ngettext


def plain(message: str) -> str | None:
    """Return one of pydantic's messages in the page's language, to be read after the name of its field, or None.

    The messages are those of pydantic_core's errors (docs.pydantic.dev, Validation Errors).
    """
    for pattern, words in _MESSAGES:
        if found := pattern.fullmatch(message):
            return words(found)
    return None


def _limited(most: bool, what: str) -> Callable[[re.Match[str]], str]:
    def words(found: re.Match[str]) -> str:
        number = int(found[1])
        if what == "characters":
            forms = (
                ngettext("must have at most %(num)d character", "must have at most %(num)d characters", number)
                if most
                else ngettext("must have at least %(num)d character", "must have at least %(num)d characters", number)
            )
        else:
            forms = (
                ngettext("must have at most %(num)d entry", "must have at most %(num)d entries", number)
                if most
                else ngettext("must have at least %(num)d entry", "must have at least %(num)d entries", number)
            )
        return forms % {"num": number}

    return words


_MESSAGES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = tuple(
    (re.compile(pattern, re.DOTALL), words)
    for pattern, words in (
        (r"Field required|String should have at least 1 character", lambda _found: _("must not be empty")),
        (r"(?:List|Tuple) should have at least 1 item .*", lambda _found: _("must not be empty")),
        (r"String should match pattern .*", lambda _found: _("does not have the right form")),
        (r"Extra inputs are not permitted", lambda _found: _("is not known here")),
        (r"Input should be a valid integer.*", lambda _found: _("must be a whole number")),
        (r"Input should be a (?:valid|finite) number.*", lambda _found: _("must be a number")),
        (r"Input should be a valid boolean.*", lambda _found: _("must be yes or no")),
        (r"Input should be a valid string", lambda _found: _("must be a text")),
        (r"Input should be a valid (?:list|tuple)", lambda _found: _("must be a list")),
        (r"Input should be a valid dictionary", lambda _found: _("must be names with values")),
        (
            r"Input should be greater than or equal to (\S+)",
            lambda found: _("must be %(limit)s or more") % {"limit": found[1]},
        ),
        (
            r"Input should be less than or equal to (\S+)",
            lambda found: _("must be %(limit)s or less") % {"limit": found[1]},
        ),
        (r"Input should be greater than (\S+)", lambda found: _("must be more than %(limit)s") % {"limit": found[1]}),
        (r"Input should be less than (\S+)", lambda found: _("must be less than %(limit)s") % {"limit": found[1]}),
        (
            r"Input should be ('.*')",
            lambda found: _("must be one of these: %(choices)s") % {"choices": found[1].replace("' or '", "', '")},
        ),
        (r"String should have at least (\d+) characters", _limited(most=False, what="characters")),
        (r"String should have at most (\d+) characters?", _limited(most=True, what="characters")),
        (r"(?:List|Tuple) should have at least (\d+) items .*", _limited(most=False, what="entries")),
        (r"(?:List|Tuple|Dictionary) should have at most (\d+) items? .*", _limited(most=True, what="entries")),
    )
)
