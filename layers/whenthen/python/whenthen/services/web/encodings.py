"""From the bytes of a document to its text."""

import re
from collections.abc import Iterable

_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.ASCII | re.IGNORECASE)
_LATIN = re.compile(r"(us-)?ascii|latin-?1|iso-?8859-1")


def header_charset(content_type: str) -> str:
    """Return the charset that a Content-Type header names, in lower case; empty for none."""
    found = _CHARSET.search(content_type)
    return found[1].lower() if found else ""


def decode(body: bytes, charsets: Iterable[str | None]) -> str | None:
    """Return the text of `body` in the first of the charsets that it is in, or None.

    What calls itself Latin-1 is Windows-1252, as browsers have it (Encoding Standard, section 4.2).
    """
    for name in filter(None, charsets):
        try:
            return body.decode("cp1252" if _LATIN.fullmatch(name) else name)
        except (LookupError, ValueError):
            continue
    return None
