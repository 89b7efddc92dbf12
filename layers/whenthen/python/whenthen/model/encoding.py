"""How a value becomes text, and how that text is written where it lands.

A value is encoded once, at the place it is put into, and never again (cases E01 and E07): the same text
is written one way inside a JSON string, another way in a URL and another way in a header.
"""

import html
import json
import re
from enum import StrEnum
from typing import NoReturn
from urllib.parse import quote, quote_plus

from whenthen.model.markup import escape_github, escape_markdown, escape_mrkdwn, without_mentions

# Unicode's two separators are here too: some receivers split lines at them.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_NOT_IN_A_URL = re.compile("[\x00-\x20\x7f-\xa0\u2028\u2029]")
_NOT_IN_A_MAIL_ADDRESS = re.compile('[\x00-\x1f\x7f-\x9f\u2028\u2029<>,;:"()\\[\\]\\\\]+')
_WEB_ADDRESS = re.compile("https?://", re.IGNORECASE)


class Encoding(StrEnum):
    """Where rendered text lands."""

    PLAIN = "plain"
    JSON = "json"
    URL = "url"
    FORM = "form"
    HEADER = "header"
    HTML = "html"
    ADDRESS = "address"
    SLACK = "slack"
    MARKDOWN = "markdown"
    NO_MENTIONS = "no mentions"
    GITHUB = "github"


class Place(StrEnum):
    """Where in a template an expression stands, as far as its encoding depends on it."""

    START = "start"
    MIDDLE = "middle"
    JSON_STRING = "json string"
    JSON_KEY = "json key"
    JSON_VALUE = "json value"
    JSON_ESCAPE = "json escape"


def encode(text: str, encoding: Encoding, place: Place = Place.MIDDLE) -> str:
    """Return `text`, which has no surrogates, as it is written in `place` of a document in `encoding`.

    Parameters
    ----------
    text:
        What an expression yielded.
    encoding:
        The kind of document.
    place:
        Where the expression stands; it matters to JSON and, for a whole web address, to URL.
    """
    match encoding:
        case Encoding.PLAIN:
            return text
        case Encoding.JSON:
            return _encode_json(text, place)
        case Encoding.URL:
            return _encode_url(text, place)
        case Encoding.FORM:
            return quote_plus(text)
        case Encoding.HEADER:
            return one_line(text)
        case Encoding.HTML:
            return html.escape(text, quote=True)
        case Encoding.ADDRESS:
            return mail_address_part(text)
        case Encoding.SLACK:
            return escape_mrkdwn(text)
        case Encoding.MARKDOWN:
            return escape_markdown(text)
        case Encoding.NO_MENTIONS:
            return without_mentions(text)
        case Encoding.GITHUB:
            return escape_github(text)


def one_line(text: str) -> str:
    """Return `text` with each run of control characters as one space.

    A header value is one line (RFC 9110, 5.5): a line break in an ingredient must not start another header.
    Characters beyond Latin-1 stay; the client that sends them decides on their bytes.
    """
    return _CONTROL.sub(" ", text)


def mail_address_part(text: str) -> str:
    """Return `text` without what ends a mail address or its name (specials of RFC 5322, 3.2.3).

    So an ingredient in a list of addresses is never more than one of them.
    """
    return _NOT_IN_A_MAIL_ADDRESS.sub(" ", text)


def _encode_url(text: str, place: Place) -> str:
    """Percent-encode all but the unreserved characters of RFC 3986, 2.3.

    A template that starts with a web address, as in ``{{EntryUrl}}?x={{Value1}}``, means that address.
    """
    if place is Place.START and _WEB_ADDRESS.match(text.strip()):
        return _NOT_IN_A_URL.sub(lambda found: quote(found[0]), text.strip())
    return quote(text, safe="")


def _encode_json(text: str, place: Place) -> str:
    if place is Place.JSON_STRING:
        return json.dumps(text, ensure_ascii=False)[1:-1]
    if place is Place.JSON_VALUE:
        if not text:
            return "null"
        if _is_json(text):
            return text
    return json.dumps(text, ensure_ascii=False)


def _is_json(text: str) -> bool:
    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"JSON has no {constant}")

    try:
        # Numbers are left as text: their digits are inserted as written, however many (case D09).
        json.loads(text, parse_int=str, parse_float=str, parse_constant=refuse)
    except (ValueError, RecursionError):
        return False
    return True


class JsonScanner:
    """Follows the literal text of a JSON template to know whether a JSON string is open."""

    def __init__(self) -> None:
        self._in_string = False
        self._after_backslash = False

    def feed(self, literal: str) -> None:
        """Read the next piece of literal text."""
        for character in literal:
            if self._after_backslash:
                self._after_backslash = False
            elif character == '"':
                self._in_string = not self._in_string
            elif character == "\\" and self._in_string:
                self._after_backslash = True

    def place(self, following: str) -> Place:
        """Return where an expression stands that comes now and before the literal text `following`.

        ``JSON_ESCAPE`` means right after a backslash: nothing can be inserted there, for the backslash would
        change the meaning of the first character.
        """
        if self._after_backslash:
            return Place.JSON_ESCAPE
        if self._in_string:
            return Place.JSON_STRING
        return Place.JSON_KEY if following.lstrip().startswith(":") else Place.JSON_VALUE
