"""A mail server on a loopback port that keeps what it is given, with logins, TLS and refusals as told."""

import asyncio
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session


@dataclass(frozen=True)
class Received:
    """A mail as it arrived."""

    sender: str
    recipients: tuple[str, ...]
    content: bytes
    user: str
    in_tls: bool

    @property
    def message(self) -> EmailMessage:
        """Read as a mail program does."""
        found = message_from_bytes(self.content, policy=default)
        assert isinstance(found, EmailMessage)
        assert not found.defects
        return found

    @property
    def header_names(self) -> list[str]:
        """The names of its headers, sorted."""
        return sorted(name.lower() for name, _ in message_from_bytes(self.content).items())


@dataclass
class MailServer:
    """Use as a context manager.

    Args:
        certificate: PEM file with its key; with one it offers STARTTLS, or is in TLS from the start.
        tls: in TLS from the start.
        logins: passwords by user; with some, a login is needed.
        refusals: replies by what is refused: a recipient, ``sender`` or ``content``.
        size: most bytes of a mail.
        smtputf8: whether it takes addresses beyond ASCII.
    """

    certificate: Path | None = None
    tls: bool = False
    logins: Mapping[str, str] = field(default_factory=dict)
    refusals: dict[str, str] = field(default_factory=dict)
    size: int = 33554432
    smtputf8: bool = False
    received: list[Received] = field(default_factory=list)
    port: int = 0

    def __post_init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="mail server")

    def __enter__(self) -> "MailServer":
        context = None
        if self.certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.certificate)
        options: dict[str, Any] = {
            "data_size_limit": self.size,
            "enable_SMTPUTF8": self.smtputf8,
            "authenticator": self._authenticate if self.logins else None,
            "auth_require_tls": not self.tls,
            "tls_context": None if self.tls else context,
            "loop": self._loop,
        }
        self._thread.start()
        making = self._loop.create_server(
            lambda: SMTP(self, **options), "127.0.0.1", 0, ssl=context if self.tls else None
        )
        self._server = asyncio.run_coroutine_threadsafe(making, self._loop).result()
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _stop(self) -> None:
        self._server.close()
        self._server.close_clients()
        await self._server.wait_closed()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def _authenticate(self, _server: SMTP, session: Session, _envelope: Envelope, _how: str, data: Any) -> AuthResult:
        assert isinstance(data, LoginPassword)
        user = data.login.decode()
        if self.logins.get(user) != data.password.decode():
            return AuthResult(success=False, handled=False)
        session.user = user  # type: ignore[attr-defined]
        return AuthResult(success=True)

    async def handle_MAIL(  # noqa: N802
        self, _server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self.logins and not session.authenticated:
            return "530 5.7.0 Authentication required"
        if "sender" in self.refusals:
            return self.refusals["sender"]
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 OK"

    async def handle_RCPT(  # noqa: N802
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        if address in self.refusals:
            return self.refusals[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        if "content" in self.refusals:
            return self.refusals["content"]
        content = envelope.content
        assert isinstance(content, bytes)
        assert b"\n" not in content.replace(b"\r\n", b""), "RFC 5321, 2.3.8"
        assert max(map(len, content.split(b"\r\n"))) <= 998, "RFC 5321, 4.5.3.1.6"
        in_tls = session.ssl is not None or self.tls
        user = str(getattr(session, "user", ""))
        self.received.append(Received(str(envelope.mail_from), tuple(envelope.rcpt_tos), content, user, in_tls))
        return "250 2.0.0 queued"
