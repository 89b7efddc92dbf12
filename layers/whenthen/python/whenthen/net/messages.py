"""What goes out through the guarded client, and what comes back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal


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
    may_move:
        Whether redirects are followed. Not where the body is a secret for the one who was asked.
    """

    method: str
    url: str = field(repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    body: bytes | None = field(default=None, repr=False)
    may_move: bool = True


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


@dataclass(frozen=True, slots=True)
class Mail:
    """A message for a mail server, with the way to it.

    Parameters
    ----------
    host, port:
        The mail server (RFC 5321, RFC 6409).
    security:
        ``starttls`` (RFC 3207), ``tls`` from the first byte (RFC 8314) or ``none``. Certificates are always checked.
    sender, recipients:
        The envelope: addresses without names, domains in ASCII. Without recipients the server is asked for a log-in and
        for the sender alone, and no mail is sent.
    content:
        The whole message; every line, the last one too, ends with CR LF.
    user, password:
        For the login; none without a user.
    """

    host: str
    port: int
    security: Literal["starttls", "tls", "none"]
    sender: str
    recipients: tuple[str, ...]
    content: bytes = field(repr=False)
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)


class MailStep(StrEnum):
    """What a mail server was asked when it gave its last answer."""

    GREETING = "greeting"
    LOGIN = "login"
    SENDER = "sender"
    RECIPIENTS = "recipients"
    CONTENT = "content"


@dataclass(frozen=True, slots=True)
class MailAnswer:
    """How a mail server decided.

    Parameters
    ----------
    step:
        Where it did: everything before was accepted. The message is delivered when it is ``CONTENT`` with 250.
    code:
        Reply code (RFC 5321, 4.2): 2xx accepted, 4xx not now, 5xx never.
    said:
        The server's words.
    refused:
        Recipients that were refused, with code and words.
    """

    step: MailStep
    code: int
    said: str
    refused: Mapping[str, tuple[int, str]] = field(default_factory=dict)
