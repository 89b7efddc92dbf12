"""The front of `ops/alopex`: what it lets through, what it refuses, what it does when somebody leaves."""

import contextlib
import http.client
import json
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import alopex
import pytest

from tests.support.alopex import AlopexServer, MakeServer, NginxFront
from tests.support.processes import free_port, system_program, wait_for
from whenthen.store.errors import Unreachable
from whenthen.store.host import Host, HostReport

NUMBERS = f"json_each('{list(range(1500))}')"
SLOW_STATEMENT = f"SELECT COUNT(*) AS n FROM {NUMBERS} a CROSS JOIN {NUMBERS} b"
"""About ten seconds of work."""

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"


def ask(port: int, method: str, path: str, *, key: str | None = None, sql: str | None = None) -> tuple[int, str]:
    """One request on a connection of its own: status and error code (or the body's beginning)."""
    body = None if sql is None else json.dumps({"sql": sql}).encode()
    headers = {"Content-Type": "application/json"} | ({"x-api-key": key} if key else {})
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request(method, path, body=body, headers=headers)
        answer = connection.getresponse()
        text = answer.read().decode()
    if answer.status >= 400:
        return answer.status, json.loads(text)["error"]["code"] if text else ""
    return answer.status, text[:200]


def count(server: AlopexServer, table: str) -> int:
    database = alopex.connect(server.url, api_key=server.api_key)
    with contextlib.closing(database):
        return database.execute_sql(f"SELECT COUNT(*) AS n FROM {table}")[0]["n"]


@contextlib.contextmanager
def scripted_upstream(port: int, answers: list[bytes]) -> Iterator[list[bytes]]:
    """A server that gives each request the next of `answers` and, after an empty one, hangs up.

    Yields:
        the requests seen so far.
    """
    seen: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", port))
    listener.settimeout(0.05)
    done = threading.Event()

    def serve() -> None:
        while not done.is_set():
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            with connection:
                connection.settimeout(0.5)
                with contextlib.suppress(TimeoutError):
                    while request := connection.recv(65536):
                        seen.append(request)
                        if not (answer := answers.pop(0) if answers else b""):
                            break
                        connection.sendall(answer)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield seen
    finally:
        done.set()
        thread.join()
        listener.close()


def test_sql_needs_the_key(server: AlopexServer) -> None:
    port = server.front.port
    assert ask(port, "POST", "/sql", key=server.api_key, sql="SELECT 1")[0] == 200
    assert ask(port, "POST", "/sql", sql="SELECT 1") == (401, "UNAUTHORIZED")
    assert ask(port, "POST", "/sql", key="wrong", sql="SELECT 1") == (401, "UNAUTHORIZED")


def test_the_two_admin_calls(server: AlopexServer) -> None:
    port = server.front.port
    assert ask(port, "GET", "/healthz")[0] == 200
    assert ask(port, "POST", "/api/admin/export") == (401, "UNAUTHORIZED")
    status, body = ask(port, "POST", "/api/admin/export", key=server.api_key)
    assert status == 200
    assert json.loads(body)["status"] == "OK"


def test_the_hosts_report(server: AlopexServer) -> None:
    """Given no report, then that is told; and one is served to whoever asks, as it is and never from a cache."""
    port = server.front.port
    assert ask(port, "GET", "/host.json") == (404, "FRONT_NO_REPORT")
    server.measure()
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request("GET", "/host.json")
        answer = connection.getresponse()
        report = json.loads(answer.read())
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
    assert answer.headers["Cache-Control"] == "no-store"
    assert set(report) == set(HostReport.model_fields) - {"asked_at"}
    assert abs(time.time() * 1000 - report["measured_at"]) < 60_000
    for method in ("POST", "HEAD", "PUT", "DELETE"):
        assert ask(port, method, "/host.json", key=server.api_key)[0] == 405
    for path in ("/host.json/", "/host.json.part", "/nginx.conf", "/host.jso"):
        assert ask(port, "GET", path) == (404, "FRONT_NOT_FOUND")


@pytest.mark.parametrize(
    "path",
    [
        "/api/admin/backup",
        "/api/admin/compaction",
        "/api/admin/restore",
        "/api/admin/status",
        "/api/sql/query",
        "/columnar/ingest",
        "/columnar/list",
        "/hnsw/create",
        "/kv/list",
        "/kv/put",
        "/kv/txn/begin",
        "/metrics",
        "/session/begin",
        "/sql/",
        "/sql/../kv/put",
        "/sql%2f..%2fkv/put",
        "//kv/put",
        "/v1/sql/reads",
        "/vector/search",
        "/",
    ],
)
def test_nothing_else_is_reachable(shared_server: AlopexServer, path: str) -> None:
    port, key = shared_server.front.port, shared_server.api_key
    assert ask(port, "POST", path, key=key, sql="SELECT 1") == (404, "FRONT_NOT_FOUND")
    assert ask(port, "GET", path, key=key) == (404, "FRONT_NOT_FOUND")


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/sql"), ("PUT", "/sql"), ("GET", "/api/admin/export"), ("POST", "/healthz"), ("POST", "/host.json")],
)
def test_wrong_methods_are_refused(shared_server: AlopexServer, method: str, path: str) -> None:
    answer = ask(shared_server.front.port, method, path, key=shared_server.api_key, sql="SELECT 1")
    assert answer == (405, "FRONT_METHOD_NOT_ALLOWED")


def test_every_aborted_request_runs_to_its_end(server: AlopexServer) -> None:
    rows, aborts = 400, 50
    with contextlib.closing(alopex.connect(server.url, api_key=server.api_key)) as database:
        database.execute_sql("CREATE TABLE parts (part_id TEXT PRIMARY KEY, abort BIGINT)")
        database.execute_sql("CREATE TABLE wholes (whole_id BIGINT PRIMARY KEY)")
    for abort in range(aborts):
        values = ", ".join(f"('{abort}.{row}', {abort})" for row in range(rows))
        script = f"INSERT INTO parts VALUES {values}; INSERT INTO wholes VALUES ({abort})"
        body = json.dumps({"sql": script}).encode()
        head = (
            f"POST /sql HTTP/1.1\r\nHost: db\r\nx-api-key: {server.api_key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", server.front.port)) as leaver:
            leaver.sendall(head.encode() + body)

    assert wait_for(lambda: count(server, "wholes") == aborts, timeout=60)
    assert count(server, "parts") == aborts * rows


def test_two_mebibytes_of_request_fit_and_more_is_refused(server: AlopexServer) -> None:
    port, key = server.front.port, server.api_key
    # A quote is one byte of SQL and two of JSON.
    limit = 2 * 1024 * 1024 - len(json.dumps({"sql": "SELECT ''"}))
    quotes = '"' * (limit // 2) + " " * (limit % 2)
    # Refused by the server's parser: front and server agree on how large a body may be.
    assert ask(port, "POST", "/sql", key=key, sql=f"SELECT '{quotes}'") == (400, "ALOPEX-E999")
    assert ask(port, "POST", "/sql", key=key, sql=f"SELECT '{quotes} '") == (413, "FRONT_BODY_TOO_LARGE")

    text = quotes[: 900 * 1024]
    with contextlib.closing(alopex.connect(server.url, api_key=key)) as database:
        assert database.execute_sql(f"SELECT '{text}' AS echo") == [{"echo": text}]


def test_a_server_that_is_down_is_told_at_once(server: AlopexServer) -> None:
    server.stop_server()
    before = time.monotonic()
    answer = ask(server.front.port, "POST", "/sql", key=server.api_key, sql="SELECT 1")
    assert answer == (502, "FRONT_NOT_SENT")
    assert ask(server.front.port, "GET", "/healthz") == (502, "FRONT_NOT_SENT")
    assert time.monotonic() - before < 1

    server.restart()
    assert ask(server.front.port, "POST", "/sql", key=server.api_key, sql="SELECT 1")[0] == 200


def test_a_server_that_dies_mid_request_leaves_the_outcome_open(server: AlopexServer) -> None:
    with contextlib.closing(alopex.connect(server.url, api_key=server.api_key)) as database:
        killer = threading.Timer(0.3, server.kill9)
        killer.start()
        with pytest.raises(alopex.AlopexError) as lost:
            database.execute_sql(SLOW_STATEMENT)
        killer.join()
    assert (lost.value.http_status, lost.value.code) == (502, "FRONT_OUTCOME_UNKNOWN")


@pytest.mark.parametrize(
    "answers",
    [[], [ANSWER]],
    ids=["new connection", "kept connection"],
)
def test_no_request_is_sent_twice(tmp_path: Path, answers: list[bytes]) -> None:
    upstream = free_port()
    front = NginxFront(tmp_path, alopex_port=upstream, admin_port=upstream)
    front.start()
    try:
        with scripted_upstream(upstream, list(answers)) as seen:
            for _ in answers:
                assert ask(front.port, "POST", "/sql", sql="SELECT 1")[0] == 200
            assert ask(front.port, "POST", "/sql", sql="SELECT 2") == (502, "FRONT_OUTCOME_UNKNOWN")
            time.sleep(0.2)
            assert len(seen) == len(answers) + 1
    finally:
        front.stop()


def test_tls(make_server: MakeServer, tmp_path: Path) -> None:
    certificate = tmp_path / "front.pem"
    subprocess.run(
        [
            *(system_program("openssl", "openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes"),
            *("-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"),
            *("-keyout", certificate, "-out", tmp_path / "certificate.pem"),
        ],
        check=True,
        capture_output=True,
    )
    certificate.write_text(certificate.read_text() + (tmp_path / "certificate.pem").read_text())
    server = make_server(certificate=certificate)
    context = ssl.create_default_context(cafile=str(tmp_path / "certificate.pem"))
    with contextlib.closing(alopex.connect(server.url, api_key=server.api_key, ssl_context=context)) as database:
        assert database.execute_sql("SELECT 1 AS one") == [{"one": 1}]

    server.measure()
    host = Host("database", server.url, read_key=str, ca_file=tmp_path / "certificate.pem")
    assert host.read_report().exports == 0
    with pytest.raises(Unreachable, match="certificate"):
        Host("database", server.url, read_key=str).read_report()
