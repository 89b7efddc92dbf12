"""A mail as its bytes (RFC 5322, RFC 2045): the same mail always has the same ones.

The headers are written here and not by the library's policy, which reads them first and makes something else of some
subjects and names; bodies and attachments are the library's.
"""

import hashlib
import mimetypes
import re
from collections.abc import Sequence
from dataclasses import dataclass
from email.header import Header
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime

from whenthen.clock import to_datetime
from whenthen.model.encoding import one_line
from whenthen.services.email.addresses import Address
from whenthen.services.email.plain import plain_text

_BREAK = "\r\n"
_MAX_NAME = 100
_OPAQUE = ("application", "octet-stream")


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file. `media_type` is a MIME type without parameters."""

    name: str
    media_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Letter:
    """What a mail says, apart from its attachment.

    Parameters
    ----------
    key:
        The mail's own, from which its Message-ID is made: one that is sent again is the same mail.
    sent_at:
        For its date, epoch milliseconds.
    subject:
        Shortened to what is to be shown.
    html:
        Empty for plain text alone. Without `text`, that is made of it.
    """

    key: str
    sent_at: int
    sender: Address
    to: Sequence[Address]
    cc: Sequence[Address]
    reply_to: Sequence[Address]
    subject: str
    text: str
    html: str


def compose(letter: Letter, attachment: Attachment | None = None) -> bytes:
    """Return the message; every line ends with CR LF, and it is ASCII unless an address is not."""
    identity = hashlib.blake2b(letter.key.encode(), digest_size=16).hexdigest()
    headers = [
        ("From", _addresses([letter.sender])),
        ("To", _addresses(letter.to)),
        ("Cc", _addresses(letter.cc)),
        ("Reply-To", _addresses(letter.reply_to)),
        ("Subject", _words(one_line(letter.subject).strip(), "Subject")),
        ("Date", format_datetime(to_datetime(letter.sent_at))),
        ("Message-ID", f"<{identity}@{letter.sender.domain}>"),
        # RFC 3834, 5: so that nobody's automatic answer comes back.
        ("Auto-Submitted", "auto-generated"),
    ]
    head = "".join(f"{name}: {value}{_BREAK}" for name, value in headers if value)
    content = head.encode() + _body(letter, attachment, identity).as_bytes()
    return content if content.endswith(_BREAK.encode()) else content + _BREAK.encode()


def _body(letter: Letter, attachment: Attachment | None, identity: str) -> EmailMessage:
    body = EmailMessage(policy=SMTP)
    # Quoted-printable can't hold the boundaries below, however they are guessed.
    body.set_content(letter.text or plain_text(letter.html), cte="quoted-printable")
    if letter.html:
        body.add_alternative(letter.html, subtype="html", cte="quoted-printable")
        body.set_boundary(f"=_a{identity}")
    if attachment is not None:
        main, _, sub = attachment.media_type.partition("/")
        # Text would be made to fit a charset, and a message would be a part of this one.
        main, sub = (main, sub) if main not in ("text", "message", "multipart") else _OPAQUE
        body.add_attachment(attachment.content, maintype=main, subtype=sub, filename=attachment.name)
        body.set_boundary(f"=_b{identity}")
    return body


def _addresses(addresses: Sequence[Address]) -> str:
    return f",{_BREAK} ".join(map(_address, addresses))


def _address(address: Address) -> str:
    name = one_line(address.name).strip()[:_MAX_NAME]
    if not name:
        return address.spec
    if name.isascii() and "=?" not in name:
        quoted = re.sub(r'(["\\])', r"\\\1", name)
        return f'"{quoted}" <{address.spec}>'
    return f"{_words(name)} <{address.spec}>"


def _words(text: str, header: str | None = None) -> str:
    """Return text for a header, as encoded words (RFC 2047) where it is not ASCII or looks like one of them."""
    charset = "us-ascii" if text.isascii() and "=?" not in text else "utf-8"
    return Header(text, charset, header_name=header).encode(linesep=_BREAK)


def file_name(given: str, url_path: str, media_type: str) -> str:
    """Return a name for a file that no mail program can mistake for a path.

    Parameters
    ----------
    given:
        As its server names it, or empty.
    url_path:
        The decoded path of its URL.
    """
    for text in (given, url_path):
        name = one_line(re.split(r"[/\\]", text.rstrip("/\\"))[-1]).strip(" .\"'")
        if name:
            stem, dot, extension = name.rpartition(".")
            return name if len(name) <= _MAX_NAME else f"{(stem or extension)[: _MAX_NAME - 16]}{dot}{extension[:15]}"
    return f"attachment{mimetypes.guess_extension(media_type) or ''}"
