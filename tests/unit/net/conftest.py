"""Real servers on loopback ports, and a client that may reach 127.0.0.1 and no other private address."""

import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import IPv4Network, ip_address
from ssl import SSLContext

import pytest

from whenthen.net import GuardedClient
from whenthen.net.addresses import Address

LOOPBACK = IPv4Network("127.0.0.1/32")
NAMES = {
    "service.test": ["127.0.0.1"],
    "other.test": ["127.0.0.1"],
    "inner.test": ["127.0.0.2"],
    "mixed.test": ["127.0.0.2", "10.0.0.1", "127.0.0.1"],
    "nowhere.test": [],
}


def resolve(host: str) -> list[Address]:
    if host not in NAMES:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    return [ip_address(address) for address in NAMES[host]]


@pytest.fixture
def make_client() -> Callable[..., GuardedClient]:
    """Make a client that knows the names above, with other options as given."""
    return partial(GuardedClient, allowed_networks=[LOOPBACK], resolve=resolve)


@pytest.fixture
def client(make_client: Callable[..., GuardedClient]) -> Iterator[GuardedClient]:
    client = make_client(timeout_seconds=5)
    yield client
    client.close()


@dataclass(frozen=True)
class Received:
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Server:
    port: int
    received: list[Received] = field(default_factory=list)


Route = Callable[[BaseHTTPRequestHandler], None]


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    """Start an HTTP server that answers each path with its route, and 204 elsewhere."""
    with ExitStack() as stack:

        def start(
            routes: Mapping[str, Route] | None = None,
            *,
            host: str = "127.0.0.1",
            tls: SSLContext | None = None,
        ) -> Server:
            class Handler(BaseHTTPRequestHandler):
                protocol_version = "HTTP/1.1"

                def handle_any(self) -> None:
                    body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                    headers = {name.lower(): value for name, value in self.headers.items()}
                    server.received.append(Received(self.command, self.path, headers, body))
                    (routes or {}).get(self.path, no_content)(self)

                do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = handle_any  # noqa: N815

                def log_message(self, *args: object) -> None:
                    pass

            httpd = ThreadingHTTPServer((host, 0), Handler)
            # Broken connections and handshakes are what the tests are about.
            httpd.handle_error = lambda *_: None
            if tls is not None:
                httpd.socket = tls.wrap_socket(httpd.socket, server_side=True, do_handshake_on_connect=False)
            server = Server(httpd.server_port)
            thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02})
            thread.start()
            stack.callback(httpd.server_close)
            stack.callback(thread.join)
            stack.callback(httpd.shutdown)
            return server

        yield start


def no_content(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(204)
    handler.end_headers()


@pytest.fixture
def reply() -> Callable[..., Route]:
    """Make a route that sends a status, headers and a body."""

    def make(status: int, headers: Mapping[str, str] | None = None, body: bytes = b"") -> Route:
        def route(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
                handler.send_header(name, value)
            handler.end_headers()
            handler.wfile.write(body)

        return route

    return make


@pytest.fixture
def serve_raw() -> Iterator[Callable[[Callable[[socket.socket, threading.Event], None]], int]]:
    """Start a server that gives each connection, and an event set at the end of the test, to a function."""
    over = threading.Event()
    with ExitStack() as stack:

        def start(behave: Callable[[socket.socket, threading.Event], None]) -> int:
            listener = socket.create_server(("127.0.0.1", 0))

            def talk(connection: socket.socket) -> None:
                with connection, suppress(OSError):
                    behave(connection, over)

            def accept() -> None:
                talks = []
                with listener:
                    while True:
                        connection, _ = listener.accept()
                        if over.is_set():
                            connection.close()
                            break
                        talks.append(threading.Thread(target=talk, args=(connection,)))
                        talks[-1].start()
                for thread in talks:
                    thread.join()

            thread = threading.Thread(target=accept)
            thread.start()
            port = listener.getsockname()[1]
            stack.callback(thread.join)
            # Wake up accept.
            stack.callback(lambda: socket.create_connection(("127.0.0.1", port)).close())
            stack.callback(over.set)
            return port

        yield start
