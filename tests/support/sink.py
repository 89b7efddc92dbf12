"""A local target for actions: records every request and answers as it is told."""

import threading
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True)
class Recorded:
    """A request as it arrived; header names are lower-case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def key(self) -> str:
        """Its Idempotency-Key."""
        return self.headers.get("idempotency-key", "")


@dataclass(frozen=True)
class Reply:
    """How to answer. `hang` seconds are waited before the answer; `close` ends the connection without one."""

    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b"ok"
    hang: float = 0.0
    close: bool = False


class _Server(ThreadingHTTPServer):
    # Many clients connect at once.
    request_queue_size = 256
    daemon_threads = True


class Sink:
    """An HTTP server on a free loopback port. Use as a context manager.

    A path answers 200 unless `reply` has queued other answers for it; the last one queued stays.
    """

    def __init__(self) -> None:
        self.requests: list[Recorded] = []
        self._lock = threading.Lock()
        self._replies: dict[str, list[Reply]] = defaultdict(list)
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def reply(self, path: str, replies: Iterable[Reply]) -> None:
        """Answer requests to `path` (without query) with these, one after the other; the last one stays."""
        with self._lock:
            self._replies[path] = list(replies)

    def bodies(self) -> list[bytes]:
        """The bodies of all requests."""
        with self._lock:
            return [request.body for request in self.requests]

    def _record(self, request: Recorded) -> Reply:
        with self._lock:
            self.requests.append(request)
            replies = self._replies[request.path.partition("?")[0]]
            if not replies:
                return Reply()
            return replies.pop(0) if len(replies) > 1 else replies[0]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        sink = self

        class Handler(BaseHTTPRequestHandler):
            def _answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", "0")))
                headers = {name.lower(): value for name, value in self.headers.items()}
                reply = sink._record(Recorded(self.command, self.path, headers, body))
                if reply.hang:
                    time.sleep(reply.hang)
                self.close_connection = True
                if reply.close:
                    return
                self.send_response(reply.status)
                for name, value in reply.headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(reply.body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(reply.body)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = _answer  # noqa: N815

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler
