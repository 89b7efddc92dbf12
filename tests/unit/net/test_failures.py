"""Nothing sent, sent without an answer, or answered: the three must never be mixed up."""

import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from whenthen.net import GuardedClient, NoAnswer, NotSent, RedirectRefused, Request

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"


@contextmanager
def within(seconds: float) -> Iterator[None]:
    started = time.monotonic()
    yield
    assert time.monotonic() - started < seconds


def read_request(connection: socket.socket) -> bytes:
    received = b""
    while not received.endswith(b"\r\n\r\nbody"):
        received += connection.recv(65536)
    return received


def post(port: int, scheme: str = "http") -> Request:
    return Request("POST", f"{scheme}://service.test:{port}/", (), b"body")


def test_refused_connection_is_not_sent(client: GuardedClient) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed_soon:
        port = closed_soon.getsockname()[1]
    with pytest.raises(NotSent) as raised:
        client.send(post(port))
    assert raised.value.retryable


def test_unknown_name_is_not_sent(client: GuardedClient) -> None:
    with pytest.raises(NotSent) as raised:
        client.send(Request("GET", "http://unknown.test/"))
    assert raised.value.retryable


def test_connection_that_is_not_taken_up_is_not_sent(make_client) -> None:
    client = make_client(connect_timeout_seconds=0.2)
    with ExitStack() as stack:
        # A full queue of connections that nobody accepts.
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(3):
            filler = stack.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        with within(2), pytest.raises(NotSent):
            client.send(post(listener.getsockname()[1]))


def test_slow_name_server_does_not_outlast_the_deadline() -> None:
    over = threading.Event()

    def resolve_slowly(host: str):
        over.wait(10)
        return []

    client = GuardedClient(resolve=resolve_slowly)
    with within(2), pytest.raises(NotSent):
        client.send(Request("GET", "http://service.test/"), timeout_seconds=0.2)
    over.set()


def test_f01_server_that_accepts_then_hangs_gives_no_answer(client: GuardedClient, serve_raw) -> None:
    seen = []

    def hang(connection, over) -> None:
        seen.append(read_request(connection))
        over.wait(10)

    with within(2), pytest.raises(NoAnswer):
        client.send(post(serve_raw(hang)), timeout_seconds=0.3)
    assert len(seen) == 1


def test_f01_server_that_accepts_then_closes_gives_no_answer(client: GuardedClient, serve_raw) -> None:
    with pytest.raises(NoAnswer):
        client.send(post(serve_raw(lambda connection, _over: read_request(connection))))


def test_f01_connection_closed_before_the_request_is_read_gives_no_answer(client, serve_raw) -> None:
    with pytest.raises(NoAnswer):
        client.send(post(serve_raw(lambda _connection, _over: None)))


def test_f01_reset_connection_gives_no_answer(client: GuardedClient, serve_raw) -> None:
    def reset(connection, over) -> None:
        read_request(connection)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    with pytest.raises(NoAnswer):
        client.send(post(serve_raw(reset)))


@pytest.mark.parametrize(
    "head", [b"HTTP/1.1 200 OK\r\nContent-", b"SSH-2.0-OpenSSH_9.9\r\n\r\n", b"HTTP/1.1 100 \r\n\r\n"]
)
def test_f01_incomplete_or_strange_head_is_no_answer(client: GuardedClient, serve_raw, head: bytes) -> None:
    def behave(connection, over) -> None:
        read_request(connection)
        connection.sendall(head)

    with pytest.raises(NoAnswer):
        client.send(post(serve_raw(behave)))


def test_head_that_drips_does_not_outlast_the_deadline(client: GuardedClient, serve_raw) -> None:
    def drip(connection, over) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nX-A: ")
        while not over.wait(0.05):
            connection.sendall(b"a")

    with within(2), pytest.raises(NoAnswer):
        client.send(post(serve_raw(drip)), timeout_seconds=0.4)


def test_endless_interim_answers_do_not_outlast_the_deadline(client: GuardedClient, serve_raw) -> None:
    def interim(connection, over) -> None:
        while not over.wait(0.01):
            connection.sendall(b"HTTP/1.1 103 Early Hints\r\n\r\n")

    with within(2), pytest.raises(NoAnswer):
        client.send(post(serve_raw(interim)), timeout_seconds=0.4)


def test_server_that_does_not_read_does_not_outlast_the_deadline(client: GuardedClient, serve_raw) -> None:
    def sip(connection, over) -> None:
        while not over.wait(0.05):
            connection.recv(4096)

    request = Request("POST", f"http://service.test:{serve_raw(sip)}/", (), bytes(32 * 1024 * 1024))
    with within(2), pytest.raises(NoAnswer):
        client.send(request, timeout_seconds=0.4)


def test_answer_that_comes_before_the_request_is_read_counts(client: GuardedClient, serve_raw) -> None:
    def refuse_early(connection, over) -> None:
        connection.sendall(b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n")
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):
            pass

    request = Request("POST", f"http://service.test:{serve_raw(refuse_early)}/", (), bytes(4 * 1024 * 1024))
    assert client.send(request).status == 413


def test_body_that_drips_is_cut_at_the_deadline(client: GuardedClient, serve_raw) -> None:
    def drip(connection, over) -> None:
        connection.sendall(HEAD)
        while not over.wait(0.05):
            connection.sendall(b"a")

    with within(2):
        answer = client.send(post(serve_raw(drip)), timeout_seconds=0.4)
    assert (answer.status, answer.truncated) == (200, True)
    assert 0 < len(answer.body) < 20


def test_body_that_breaks_off_is_an_answer(client: GuardedClient, serve_raw) -> None:
    def break_off(connection, over) -> None:
        read_request(connection)
        connection.sendall(HEAD + b"some")

    answer = client.send(post(serve_raw(break_off)))
    assert (answer.status, answer.body, answer.truncated) == (200, b"some", True)


def test_deadline_is_for_all_hops(client: GuardedClient, serve, reply) -> None:
    def slowly(handler) -> None:
        time.sleep(0.2)
        reply(302, {"Location": "/"})(handler)

    server = serve({"/": slowly})
    with within(1), pytest.raises(NoAnswer):
        client.send(post(server.port), timeout_seconds=0.5)
    assert len(server.received) == 3


def test_f01_hop_without_an_answer_is_no_answer(client: GuardedClient, serve, reply, serve_raw) -> None:
    closing = serve_raw(lambda _connection, _over: None)
    server = serve({"/": reply(307, {"Location": f"http://other.test:{closing}/"})})
    with pytest.raises(NoAnswer):
        client.send(post(server.port))


def test_hop_that_cannot_be_reached_is_a_definite_failure(client: GuardedClient, serve, reply) -> None:
    """The first request was answered, so it must not be sent again."""
    server = serve({"/": reply(308, {"Location": "http://unknown.test/"})})
    with pytest.raises(RedirectRefused) as raised:
        client.send(post(server.port))
    assert raised.value.status == 308


def test_server_without_tls_is_not_sent(client: GuardedClient, serve) -> None:
    server = serve()
    with pytest.raises(NotSent):
        client.send(post(server.port, "https"))
    assert server.received == []


def test_tls_handshake_that_hangs_is_not_sent(client: GuardedClient, serve_raw) -> None:
    port = serve_raw(lambda _connection, over: over.wait(10))
    with within(2), pytest.raises(NotSent):
        client.send(post(port, "https"), timeout_seconds=0.3)
