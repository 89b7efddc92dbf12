"""Mail by SMTP, over connections of the guarded backend."""

import io
import re
import smtplib
import ssl
from collections.abc import Buffer, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

import httpcore2

from whenthen.net.backend import GuardedBackend
from whenthen.net.errors import MailServerLacks, NetError, NoAnswer, NotSent
from whenthen.net.messages import Mail, MailAnswer, MailStep

_ACCEPTED = (250, 251)
_END = b".\r\n"
_PERIOD = re.compile(rb"^\.", re.MULTILINE)


def send_mail(
    mail: Mail, backend: GuardedBackend, ssl_context: ssl.SSLContext, *, connect_timeout_seconds: float
) -> MailAnswer:
    """Give `mail` to its server. Parameters and errors are those of `GuardedClient.mail`.

    Some recipients may be refused and the others served: the answer says which.
    """
    try:
        with closing(_Smtp(mail, backend, ssl_context, connect_timeout_seconds)) as smtp:
            return _converse(smtp, mail)
    except NetError:
        raise
    except smtplib.SMTPNotSupportedError as error:
        raise MailServerLacks(f"{mail.host} does not offer what this mail needs: {error}") from error
    except smtplib.SMTPResponseException as error:
        return MailAnswer(MailStep.GREETING, error.smtp_code, _words(error.smtp_error))
    except (OSError, smtplib.SMTPException) as error:
        raise NotSent(f"The conversation with {mail.host} broke off.") from error


def _converse(smtp: "_Smtp", mail: Mail) -> MailAnswer:
    code, said = smtp.connect(mail.host, mail.port)
    if code != 220:
        return MailAnswer(MailStep.GREETING, code, _words(said))
    smtp.ehlo_or_helo_if_needed()
    if mail.security == "starttls":
        smtp.starttls()
        smtp.ehlo_or_helo_if_needed()
    if mail.user:
        try:
            smtp.login(mail.user, mail.password)
        except smtplib.SMTPAuthenticationError as error:
            return MailAnswer(MailStep.LOGIN, error.smtp_code, _words(error.smtp_error))
        except smtplib.SMTPException as error:
            if isinstance(error, smtplib.SMTPServerDisconnected | smtplib.SMTPResponseException):
                raise
            raise MailServerLacks(f"{mail.host} offers no login with a password.") from error
    code, said = smtp.mail(mail.sender, _options(smtp, mail))
    if code not in _ACCEPTED or not mail.recipients:
        with suppress(OSError, smtplib.SMTPException):
            smtp.putcmd("QUIT")
        return MailAnswer(MailStep.SENDER, code, _words(said))
    refused: dict[str, tuple[int, str]] = {}
    for recipient in mail.recipients:
        code, said = smtp.rcpt(recipient)
        if code == 421:
            return MailAnswer(MailStep.RECIPIENTS, code, _words(said))
        if code not in _ACCEPTED:
            refused[recipient] = (code, _words(said))
    if len(refused) == len(mail.recipients):
        # A recipient that is refused for now only is worth another try.
        code, words = min(refused.values())
        return MailAnswer(MailStep.RECIPIENTS, code, words, refused)
    code, said = smtp.docmd("DATA")
    if 200 <= code < 300:
        # Nothing can have been accepted yet (RFC 5321, 4.3.2).
        raise NotSent(f"{mail.host} does not answer as a mail server does.")
    if code == 354:
        # RFC 5321, 4.5.2: a line of one period ends the message.
        smtp.send(_PERIOD.sub(b"..", mail.content))
        code, said = _end(smtp, mail.host)
    return MailAnswer(MailStep.CONTENT, code, _words(said), refused)


def _end(smtp: "_Smtp", host: str) -> tuple[int, bytes]:
    """End the message, and with it the time in which it certainly was not accepted (RFC 5321, 4.1.1.4 and 6.1)."""
    try:
        smtp.send(_END)
        code, said = smtp.getreply()
    except (OSError, smtplib.SMTPException) as error:
        raise NoAnswer(f"{host} did not confirm the mail.") from error
    if code < 0:
        raise NoAnswer(f"{host} did not confirm the mail: its answer can't be read.")
    with suppress(OSError, smtplib.SMTPException):
        smtp.putcmd("QUIT")
    return code, said


def _options(smtp: "_Smtp", mail: Mail) -> list[str]:
    """Return the options of MAIL (RFC 1870, RFC 6531).

    Raises
    ------
    MailServerLacks
        The message is larger than the server takes, or an address has letters that it does not take.
    """
    options = []
    if smtp.has_extn("size"):
        limit = smtp.esmtp_features["size"]
        if limit.isdigit() and 0 < int(limit) < len(mail.content):
            raise MailServerLacks(f"The mail has {len(mail.content)} bytes, and {mail.host} takes at most {limit}.")
        options.append(f"SIZE={len(mail.content)}")
    if not all(address.isascii() for address in (mail.sender, *mail.recipients)):
        if not smtp.has_extn("smtputf8"):
            raise MailServerLacks(f"{mail.host} takes no addresses with letters other than a to z (SMTPUTF8).")
        options += ["SMTPUTF8", "BODY=8BITMIME"]
    return options


def _words(said: bytes | str) -> str:
    return said.decode("utf-8", "replace") if isinstance(said, bytes) else said


class _Smtp(smtplib.SMTP):
    """The client of the standard library, on a stream that is guarded and ends when the time is up."""

    def __init__(
        self, mail: Mail, backend: GuardedBackend, ssl_context: ssl.SSLContext, connect_timeout_seconds: float
    ) -> None:
        # Without a host it does not connect yet. Its own name would be looked up in DNS: the sender's domain is known.
        super().__init__(local_hostname=mail.sender.rpartition("@")[2])
        self._host = mail.host
        self._security = mail.security
        self._backend = backend
        self._ssl_context = ssl_context
        self._connect_timeout = connect_timeout_seconds

    def _get_socket(self, host: str, port: int, timeout: float) -> Any:  # noqa: ARG002 (the interface's)
        stream = self._backend.connect_tcp(host, port, self._connect_timeout)
        if self._security == "tls":
            stream = stream.start_tls(self._ssl_context, host, self._connect_timeout)
        return _Socket(stream)

    def starttls(self, **_: Any) -> tuple[int, bytes]:
        """Go on in TLS. Raises `NotSent` when the certificate is not the host's."""
        return super().starttls(context=_Tls(self._ssl_context))  # type: ignore[arg-type]


class _Tls:
    """What `smtplib` asks for when it goes on in TLS."""

    def __init__(self, ssl_context: ssl.SSLContext) -> None:
        self._ssl_context = ssl_context

    def wrap_socket(self, sock: "_Socket", server_hostname: str) -> "_Socket":
        """Return the socket's stream in TLS."""
        return _Socket(sock.stream.start_tls(self._ssl_context, server_hostname))


class _Socket:
    """As much of a socket as `smtplib` uses."""

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self.stream = stream

    def sendall(self, data: bytes) -> None:
        """Send all, or raise OSError."""
        with _os_errors():
            self.stream.write(data)

    def makefile(self, _mode: str) -> io.BufferedReader:
        """Return what comes from the server, to be read by lines."""
        return io.BufferedReader(_Incoming(self.stream))

    def close(self) -> None:
        """Close the stream."""
        self.stream.close()


class _Incoming(io.RawIOBase):
    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        super().__init__()
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        room = memoryview(buffer)
        with _os_errors():
            data = self._stream.read(len(room))
        room[: len(data)] = data
        return len(data)


@contextmanager
def _os_errors() -> Iterator[None]:
    """Raise what a stream raises as what a socket would."""
    try:
        yield
    except httpcore2.TimeoutException as error:
        raise TimeoutError(str(error)) from error
    except httpcore2.NetworkError as error:
        raise OSError(str(error)) from error
