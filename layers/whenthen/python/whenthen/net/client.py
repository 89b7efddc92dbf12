"""The one way out: every URL that a person or a partner gave us is called through `GuardedClient`."""

import ssl
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from functools import cached_property

import httpcore2
import httpx2

from whenthen.net.addresses import Network
from whenthen.net.backend import Deadline, GuardedBackend, Resolver, system_resolver
from whenthen.net.body import read_body
from whenthen.net.errors import NoAnswer, NotSent, RedirectRefused
from whenthen.net.headers import fold_headers, outgoing_headers
from whenthen.net.messages import Answer, Mail, MailAnswer, Request
from whenthen.net.redirects import is_permanent, is_redirect, redirected
from whenthen.net.urls import parse_url


class GuardedClient:
    """Sends HTTP requests to the public internet and nowhere else (R11 of the protocol rules).

    Safe to share between threads. Each hop is a connection of its own: a kept one may have died unnoticed,
    and a request lost on it would be a false ``unknown``. There are no cookies, no proxy and no credentials
    from the environment, and no way to relax TLS; `SSL_CERT_FILE` may name other roots, as for all programs.

    Parameters
    ----------
    allowed_networks:
        Networks to reach besides the public internet.
    timeout_seconds:
        Time for a request with all its redirects, to the last byte of the body.
    connect_timeout_seconds:
        Time for each step of connecting: looking up, each address, the TLS handshake.
    max_response_bytes:
        Most bytes of a body, after decompression. What is longer is cut.
    max_redirects:
        Most redirects to follow.
    resolve:
        Finds the addresses of a name.
    """

    def __init__(
        self,
        *,
        allowed_networks: Sequence[Network] = (),
        timeout_seconds: float = 10,
        connect_timeout_seconds: float = 5,
        max_response_bytes: int = 1024 * 1024,
        max_redirects: int = 5,
        resolve: Resolver = system_resolver,
    ) -> None:
        self._allowed_networks = tuple(allowed_networks)
        self._timeout_seconds = timeout_seconds
        self._connect_timeout_seconds = connect_timeout_seconds
        self._max_response_bytes = max_response_bytes
        self._max_redirects = max_redirects
        self._resolve = resolve
        # Reading the root certificates takes a while, so they are shared by all connections.
        self._ssl_context = httpx2.create_ssl_context()
        self._closed = False

    def send(
        self, request: Request, *, timeout_seconds: float | None = None, max_response_bytes: int | None = None
    ) -> Answer:
        """Send `request`, follow redirects and return the final answer, whatever its status.

        Parameters
        ----------
        request:
            What to send.
        timeout_seconds:
            Time for all hops, instead of the client's own.
        max_response_bytes:
            Most bytes of the body, instead of the client's own.

        Raises
        ------
        NotSent
            Nothing left us. Its subclasses `AddressRefused`, `InvalidUrl` and `InvalidRequest` are final.
        NoAnswer
            The request may have arrived; there was no complete answer head.
        RedirectRefused
            The request was answered by a redirect that leads nowhere we can or may go, or that would make another
            request of one that was not done.
        """
        if self._closed:
            raise NotSent("The client is closed.")
        deadline = Deadline(self._timeout_seconds if timeout_seconds is None else timeout_seconds)
        limit = self._max_response_bytes if max_response_bytes is None else max_response_bytes
        answer = self._exchange(request, deadline, limit)
        moved_to, for_good = "", True
        for _ in range(self._max_redirects):
            if not is_redirect(answer) or not request.may_move:
                return replace(answer, moved_to=moved_to)
            try:
                following = redirected(request, answer)
                if following.method != request.method and is_permanent(answer):
                    # 302 and 303 may lead to a page about what was done. Here nothing was, and a GET would not do it.
                    raise RedirectRefused(
                        f"The address has moved for good, so the {request.method} was not done. Use the new address: "
                        "often it is the same with https.",
                        answer.status,
                    )
                request = following
                for_good = for_good and is_permanent(answer)
                moved_to = request.url if for_good else moved_to
                answer = self._exchange(request, deadline, limit)
            except NotSent as error:
                raise RedirectRefused(f"The redirect was not followed. {error}", answer.status) from error
        if is_redirect(answer):
            raise RedirectRefused(f"There were more than {self._max_redirects} redirects.", answer.status)
        return replace(answer, moved_to=moved_to)

    def mail(self, mail: Mail, *, timeout_seconds: float | None = None) -> MailAnswer:
        """Give `mail` to its server and return how that decided.

        Parameters
        ----------
        mail:
            What to send.
        timeout_seconds:
            Time for the whole conversation, instead of the client's own.

        Raises
        ------
        NotSent
            The server can't have accepted the message. Its subclasses `AddressRefused` and `MailServerLacks` are final.
        NoAnswer
            The server has the whole message and did not say what becomes of it.
        """
        # Only who sends mail needs smtplib.
        from whenthen.net.mail import send_mail

        if self._closed:
            raise NotSent("The client is closed.")
        deadline = Deadline(self._timeout_seconds if timeout_seconds is None else timeout_seconds)
        backend = GuardedBackend(self._allowed_networks, self._resolve, deadline)
        return send_mail(mail, backend, self._mail_ssl_context, connect_timeout_seconds=self._connect_timeout_seconds)

    @cached_property
    def _mail_ssl_context(self) -> ssl.SSLContext:
        # The other one says that it speaks HTTP (ALPN), and some mail servers hang up on that.
        return httpx2.create_ssl_context()

    def close(self) -> None:
        """Let no further request out. No connection outlives its `send`, so nothing else is to close."""
        self._closed = True

    def _exchange(self, request: Request, deadline: Deadline, limit_bytes: int) -> Answer:
        """Send one request over a new connection. The body of a redirect is not read."""
        url = parse_url(request.url)
        outgoing = httpcore2.Request(
            request.method,
            httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=outgoing_headers(request, url),
            content=request.body,
            extensions={"timeout": {"connect": self._connect_timeout_seconds}},
        )
        connection = httpcore2.HTTPConnection(
            outgoing.url.origin,
            ssl_context=self._ssl_context,
            network_backend=GuardedBackend(self._allowed_networks, self._resolve, deadline),
        )
        with closing(connection):
            try:
                incoming = connection.handle_request(outgoing)
            except httpcore2.TimeoutException as error:
                raise NoAnswer("No answer came in time.") from error
            except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
                raise NoAnswer("The connection broke before an answer came.") from error
            headers = fold_headers(incoming.headers)
            answer = Answer(incoming.status, headers, b"", str(url))
            if is_redirect(answer):
                return answer
            body, truncated = read_body(
                incoming.iter_stream(),
                gzipped=headers.get("content-encoding", "").lower() in ("gzip", "x-gzip"),
                limit_bytes=limit_bytes,
            )
            return Answer(answer.status, headers, body, answer.url, truncated)
