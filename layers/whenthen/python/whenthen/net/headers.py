"""Header fields: checked and completed on the way out, folded on the way in."""

import re
from collections.abc import Iterable

import httpx2

from whenthen.net.errors import InvalidRequest
from whenthen.net.messages import Request

VERSION = "0.1.0"

_TOKEN = re.compile(r"[-!#$%&'*+.^_`|~0-9A-Za-z]+")  # RFC 9110 5.6.2
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")  # RFC 9110 5.5

# They say where the message goes and where it ends, which is for us alone to say: a second opinion on
# either is how requests are smuggled past the address check (RFC 9112 11.2).
_OURS = frozenset(
    (
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    )
)

# RFC 9110 8.6: with these a missing body is announced as a body of no bytes.
_BODY_EXPECTED = frozenset(("PATCH", "POST", "PUT"))

_DEFAULTS = (("User-Agent", f"whenthen/{VERSION}"), ("Accept", "*/*"), ("Accept-Encoding", "gzip"))


def outgoing_headers(request: Request, url: httpx2.URL) -> list[tuple[bytes, bytes]]:
    """Return the header fields to send, ours included.

    Values are sent as UTF-8. Gzip is asked for because it is the one coding we undo.

    Raises
    ------
    InvalidRequest
        The method is not a token or is CONNECT; a header's name is not a token or is ours to set; a value
        has a control character (CR, LF, NUL) or is not text.
    """
    if not _TOKEN.fullmatch(request.method) or request.method.upper() == "CONNECT":
        raise InvalidRequest("The method can't be sent.")
    fields = [(b"Host", url.netloc), (b"Connection", b"close")]
    names = set()
    for name, value in request.headers:
        if not _TOKEN.fullmatch(name):
            raise InvalidRequest("A header's name has characters that can't be sent.")
        if name.lower() in _OURS:
            raise InvalidRequest(f"The header {name} can't be set.")
        if _CONTROL.search(value):
            raise InvalidRequest(f"The header {name} has characters that can't be sent.")
        try:
            fields.append((name.encode("ascii"), value.strip(" \t").encode()))
        except UnicodeEncodeError:  # lone surrogates
            raise InvalidRequest(f"The header {name} has characters that can't be sent.") from None
        names.add(name.lower())
    for name, default in _DEFAULTS:
        if name.lower() not in names:
            fields.append((name.encode("ascii"), default.encode("ascii")))
    if request.body is not None or request.method in _BODY_EXPECTED:
        fields.append((b"Content-Length", str(len(request.body or b"")).encode("ascii")))
    return fields


def fold_headers(fields: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return values by lower-case name, repeated ones joined by ``", "`` (RFC 9110 5.3)."""
    folded: dict[str, str] = {}
    for raw_name, raw_value in fields:
        name, value = raw_name.decode("ascii").lower(), _text(raw_value)
        folded[name] = f"{folded[name]}, {value}" if name in folded else value
    return folded


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:  # the historical charset, RFC 9110 5.5
        return value.decode("latin-1")
