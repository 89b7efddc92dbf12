"""Connections that go only to allowed addresses and end when the time is up.

This sits below httpcore2: whatever is asked for above, each connection is opened here, to an address that
was checked and is not looked up again (DNS rebinding).
"""

import socket
import ssl
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address

import httpcore2

from whenthen.net.addresses import Address, Network, is_allowed
from whenthen.net.errors import AddressRefused, NotSent

type Resolver = Callable[[str], Sequence[Address]]
"""Finds the addresses of a host name, most wanted first. Raises OSError if there are none."""


def system_resolver(host: str) -> list[Address]:
    """Ask the operating system for the addresses of `host`.

    Raises
    ------
    OSError
        The name is not found, or the name server does not answer.
    """
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return [ip_address(str(sockaddr[0])) for *_, sockaddr in found]


class Deadline:
    """The instant at which a request with all its redirects must be over.

    Parameters
    ----------
    seconds:
        Time from now.
    """

    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds

    def limit(self, seconds: float | None) -> float:
        """Return the smaller of `seconds` and the seconds left.

        Raises
        ------
        TimeoutError
            No time is left. (A socket timeout of 0 would mean something else: do not block.)
        """
        left = self._at - time.monotonic()
        if left <= 0:
            raise TimeoutError("out of time")
        return left if seconds is None else min(seconds, left)


class GuardedBackend(httpcore2.NetworkBackend):
    """Opens the connections of one request.

    Parameters
    ----------
    allowed_networks:
        Networks to reach besides the public internet.
    resolve:
        Asked once a connection.
    deadline:
        When all reading and writing ends.
    """

    def __init__(self, allowed_networks: Sequence[Network], resolve: Resolver, deadline: Deadline) -> None:
        self._allowed_networks = allowed_networks
        self._resolve = resolve
        self._deadline = deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,  # noqa: ARG002 (the interface's; we set none)
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,  # noqa: ARG002
    ) -> httpcore2.NetworkStream:
        """Connect to the first allowed address of `host` that accepts; `timeout` in seconds for each.

        Raises
        ------
        AddressRefused
            The host has addresses, none of them allowed.
        NotSent
            The host has no address, or none accepts.
        """
        try:
            addresses = self._addresses(host, timeout)
        except OSError as error:
            raise NotSent(f"No address was found for {host}.") from error
        allowed = [address for address in addresses if is_allowed(address, self._allowed_networks)]
        if addresses and not allowed:
            raise AddressRefused(f"{host} is not on the public internet and not in an allowed network.")
        failure = None
        for address in allowed:
            try:
                # The literal of a checked address: nothing is looked up.
                sock = socket.create_connection((str(address), port), self._deadline.limit(timeout))
            except OSError as error:
                failure = error
            else:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return _Stream(sock, self._deadline)
        raise NotSent(f"No connection to {host} could be made.") from failure

    def _addresses(self, host: str, timeout: float | None) -> Sequence[Address]:
        try:
            return [ip_address(host)]
        except ValueError:
            pass
        # getaddrinfo has no timeout of its own, so it is left behind in a thread when the time is up.
        pool = ThreadPoolExecutor(1, thread_name_prefix="resolve")
        try:
            return pool.submit(self._resolve, host).result(self._deadline.limit(timeout))
        finally:
            pool.shutdown(wait=False)


class _Stream(httpcore2.NetworkStream):
    """A socket on which no operation outlasts the deadline, however slowly the other side drips."""

    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        self._socket = sock
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            self._socket.settimeout(self._deadline.limit(timeout))
            return self._socket.recv(max_bytes)
        except TimeoutError as error:
            raise httpcore2.ReadTimeout(str(error)) from error
        except OSError as error:
            raise httpcore2.ReadError(str(error)) from error

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        unsent = memoryview(buffer)
        try:
            while unsent:
                self._socket.settimeout(self._deadline.limit(timeout))
                unsent = unsent[self._socket.send(unsent) :]
        except TimeoutError as error:
            raise httpcore2.WriteTimeout(str(error)) from error
        except OSError as error:
            raise httpcore2.WriteError(str(error)) from error

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        try:
            self._socket.settimeout(self._deadline.limit(timeout))
            tls = ssl_context.wrap_socket(self._socket, server_hostname=server_hostname)
        except OSError as error:
            self._socket.close()
            raise NotSent(f"No secure connection to {server_hostname} could be made: {error}") from error
        return _Stream(tls, self._deadline)

    def close(self) -> None:
        self._socket.close()
