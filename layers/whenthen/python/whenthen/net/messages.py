"""What goes out through the guarded client, and what comes back."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Request:
    """An HTTP request.

    URL, headers and body hold secrets, so they are left out of `repr` and with it out of logs.

    Parameters
    ----------
    method:
        Method as sent, for example ``POST``. CONNECT is refused.
    url:
        Absolute ``http`` or ``https`` URL without credentials.
    headers:
        Names and values, sent in this order. Host and the headers that frame the message are our own.
    body:
        Bytes to send. None sends no body.
    """

    method: str
    url: str = field(repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    body: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """The final answer to a request.

    Parameters
    ----------
    status:
        HTTP status code.
    headers:
        Values by lower-case name. Repeated headers are joined by ``", "`` (RFC 9110 5.3).
    body:
        Content with gzip undone. Any other coding is left as it came.
    url:
        URL that answered, after redirects, without fragment.
    truncated:
        The body was longer than the limit, or ended early.
    moved_to:
        Where the URL that was asked for has moved for good: as far as all redirects were permanent (301 and
        308). Empty when it has not.
    """

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    url: str = field(repr=False)
    truncated: bool = False
    moved_to: str = field(default="", repr=False)
