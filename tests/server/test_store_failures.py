"""How a real server fails behind its real front, as the store tells it."""

import ipaddress
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.support.alopex import AlopexServer, MakeServer
from tests.support.processes import free_port, wait_for
from tests.support.stores import at_once
from whenthen.clock import Deadline
from whenthen.store.database import Database, connect
from whenthen.store.errors import (
    Backpressure,
    Conflict,
    OutcomeUnknown,
    StatementTimeout,
    Unauthorized,
    Unreachable,
)
from whenthen.store.statements import Script, Statement
from whenthen.store.units import run_unit

NUMBERS = "json_each('[" + ",".join(map(str, range(700))) + "]')"
SLOW = f"SELECT COUNT(*) AS n FROM {NUMBERS} a CROSS JOIN {NUMBERS} b"
"""About two seconds of work."""


@contextmanager
def connected(server: AlopexServer) -> Iterator[Database]:
    with closing(connect(server.url, api_key=server.api_key)) as database:
        yield database


@contextmanager
def in_background(database: Database, sql: str = SLOW) -> Iterator[list[BaseException | None]]:
    """`sql` is on its way to the server; yields a list that gets how it ended."""
    ended: list[BaseException | None] = []

    def run() -> None:
        try:
            database.execute(sql, timeout_seconds=60)
        except Exception as error:  # noqa: BLE001
            ended.append(error)
        else:
            ended.append(None)

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.2)
    try:
        yield ended
    finally:
        thread.join()


def add(database: Database, key: str) -> None:
    database.execute(Script().add(Statement("add", "INSERT INTO t VALUES (:key)"), key=key).sql)


def make_table(database: Database) -> None:
    database.execute(Script().add(Statement("make", "CREATE TABLE t (k TEXT PRIMARY KEY)")).sql)


def count(database: Database) -> int:
    rows = database.execute(Script().add(Statement("count", "SELECT COUNT(*) AS n FROM t")).sql)
    return int(rows[0]["n"])


@pytest.mark.parametrize("concurrency", [None, 1], ids=["the server's default", "single flight"])
def test_conflicts_come_only_from_a_server_that_is_not_single_flight(
    make_server: MakeServer, concurrency: int | None
) -> None:
    with connected(make_server(max_concurrency=concurrency)) as database:
        database.execute("CREATE TABLE c (k BIGINT PRIMARY KEY, n BIGINT)")
        database.execute("INSERT INTO c VALUES (1, 0)")
        update = Script().add(Statement("raise", "UPDATE c SET n = n + 1 WHERE k = 1")).sql

        def raise_often(_: int) -> int:
            conflicts = 0
            for _ in range(40):
                try:
                    database.execute(update)
                except Conflict:
                    conflicts += 1
            return conflicts

        conflicts = sum(at_once(16, raise_often))
    assert (conflicts > 0) == (concurrency is None)


def test_a_full_queue_is_backpressure(make_server: MakeServer) -> None:
    """Given a server with room for one, when more come, then they are told at once and nothing was written."""
    with connected(make_server(max_queue_len=1)) as database:
        make_table(database)

        def insert(number: int) -> str:
            try:
                add(database, f"{number}")
            except Backpressure:
                return "told"
            return "written"

        with in_background(database):
            answers = at_once(12, insert)
        assert answers.count("told") >= 10
        assert count(database) == answers.count("written")

        with in_background(database):
            run_unit(lambda: add(database, "patient"), deadline=Deadline(20), repeatable=False)


def test_a_statement_past_the_limit_times_out(make_server: MakeServer) -> None:
    with connected(make_server(query_timeout="200ms")) as database:
        with pytest.raises(StatementTimeout):
            database.execute(SLOW)
        assert database.execute("SELECT 1 AS one") == [{"one": 1}]


def test_an_impatient_client_does_not_know_and_the_statement_runs_on(server: AlopexServer) -> None:
    with connected(server) as database:
        make_table(database)
        with pytest.raises(OutcomeUnknown) as unknown:
            database.execute(f"INSERT INTO t VALUES ('x'); {SLOW}", timeout_seconds=0.3)
        assert not isinstance(unknown.value, StatementTimeout)
        assert count(database) == 1


def test_a_server_that_is_down_was_not_sent_anything(server: AlopexServer) -> None:
    with connected(server) as database:
        make_table(database)
        server.stop_server()
        with pytest.raises(Unreachable):
            add(database, "x")

        restart = threading.Timer(0.3, server.restart)
        restart.start()
        run_unit(lambda: add(database, "x"), deadline=Deadline(20), repeatable=False)
        restart.join()
        assert count(database) == 1


def test_a_front_that_is_down_was_not_sent_anything() -> None:
    with closing(connect(f"http://127.0.0.1:{free_port()}", api_key="any")) as database, pytest.raises(Unreachable):
        database.execute("SELECT 1")


@pytest.mark.parametrize("direct", [False, True], ids=["through the front", "past the front"])
def test_a_server_killed_mid_request_leaves_the_outcome_open(server: AlopexServer, direct: bool) -> None:
    with closing(connect(server.direct_url if direct else server.url, api_key=server.api_key)) as database:
        make_table(database)
        with in_background(database, f"INSERT INTO t VALUES ('x'); {SLOW}") as ended:
            assert not wait_for(lambda: bool(ended), timeout=0.3)
            server.kill9()
        assert [type(error) for error in ended] == [OutcomeUnknown]
        server.restart()
        assert count(database) == 0


@pytest.mark.parametrize("key", ["wrong", "", None])
def test_a_wrong_key_is_told(server: AlopexServer, key: str | None) -> None:
    with closing(connect(server.url, api_key=key)) as database, pytest.raises(Unauthorized):
        database.execute("SELECT 1")


def certificate(directory: Path) -> tuple[Path, Path]:
    """Of 127.0.0.1, signed by an authority of its own: (authority, certificate with key)."""
    now = datetime.now(UTC)

    def make(name: str, signer: ec.EllipticCurvePrivateKey, key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
        is_authority = key is signer
        return (
            x509.CertificateBuilder(
                x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "authority")]),
                x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)]),
                key.public_key(),
                x509.random_serial_number(),
                now - timedelta(hours=1),
                now + timedelta(hours=1),
            )
            .add_extension(x509.BasicConstraints(is_authority, None), critical=True)
            .add_extension(
                x509.KeyUsage(True, False, False, False, False, is_authority, is_authority, False, False),
                critical=True,
            )
            .add_extension(
                x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False
            )
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
            .sign(signer, hashes.SHA256())
        )

    signer, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    authority, front = directory / "authority.pem", directory / "front.pem"
    pem = serialization.Encoding.PEM
    authority.write_bytes(make("authority", signer, signer).public_bytes(pem))
    front.write_bytes(
        make("front", signer, key).public_bytes(pem)
        + key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return authority, front


def test_tls(make_server: MakeServer, tmp_path: Path) -> None:
    """Given a private authority, when it is named, then the store connects, and otherwise nothing is sent."""
    authority, front = certificate(tmp_path)
    server = make_server(certificate=front)
    with closing(connect(server.url, api_key=server.api_key, ca_file=authority)) as database:
        assert database.execute("SELECT 1 AS one") == [{"one": 1}]
    with closing(connect(server.url, api_key=server.api_key)) as database, pytest.raises(Unreachable):
        database.execute("SELECT 1")
    with pytest.raises(FileNotFoundError):
        connect(server.url, ca_file=tmp_path / "missing.pem")


@pytest.mark.parametrize("url", ["http://192.0.2.1:8080", "http://db.example.org", "http://", "https://"])
def test_a_key_never_travels_in_the_clear(url: str) -> None:
    with pytest.raises(ValueError, match=r"plaintext http:// to a non-loopback host|no host"):
        connect(url, api_key="secret")
