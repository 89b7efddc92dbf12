"""Mail goes to allowed addresses alone, by the rules of SMTP, and says what is known of its fate."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.certificates import self_signed
from tests.support.mail_server import MailServer
from whenthen.net import AddressRefused, GuardedClient, Mail, MailServerLacks, MailStep, NoAnswer, NotSent, Request

CONTENT = b"Subject: hello\r\n\r\nOne\r\n.\r\n..two\r\n"


def mail(port: int, **changes: object) -> Mail:
    given = {
        "host": "service.test",
        "port": port,
        "security": "none",
        "sender": "me@example.org",
        "recipients": ("ada@example.org", "grace@example.org"),
        "content": CONTENT,
    }
    return Mail(**{**given, **changes})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return self_signed(tmp_path_factory.mktemp("tls") / "service.pem", "service.test")


@pytest.fixture
def trusting_client(
    make_client: Callable[..., GuardedClient], certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> GuardedClient:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    return make_client(timeout_seconds=5)


@pytest.fixture
def server() -> Iterator[MailServer]:
    with MailServer() as running:
        yield running


def test_the_server_gets_the_mail_as_it_is(client: GuardedClient, server: MailServer) -> None:
    answer = client.mail(mail(server.port))
    assert (answer.step, answer.code, answer.refused) == (MailStep.CONTENT, 250, {})
    [received] = server.received
    assert (received.sender, received.recipients) == ("me@example.org", ("ada@example.org", "grace@example.org"))
    assert received.content == CONTENT, "lines of periods end nothing"


@pytest.mark.parametrize("tls", [False, True], ids=["starttls", "tls"])
def test_mail_in_tls_with_a_login(trusting_client: GuardedClient, certificate: Path, tls: bool) -> None:
    with MailServer(certificate, tls, {"me": "secret"}) as server:
        way = {"security": "tls" if tls else "starttls", "user": "me"}
        assert trusting_client.mail(mail(server.port, **way, password="secret")).code == 250
        refused = trusting_client.mail(mail(server.port, **way, password="wrong"))
    assert (refused.step, refused.code) == (MailStep.LOGIN, 535)
    assert [(received.in_tls, received.user) for received in server.received] == [(True, "me")]


@pytest.mark.parametrize("tls", [False, True], ids=["starttls", "tls"])
@pytest.mark.parametrize("host", ["service.test", "other.test"])
def test_g04_a_certificate_is_for_the_name_and_from_somebody_trusted(
    request: pytest.FixtureRequest, certificate: Path, host: str, tls: bool
) -> None:
    """Given a certificate that nobody vouches for, or one for another name, then nothing is sent (G04)."""
    doubting = request.getfixturevalue("client" if host == "service.test" else "trusting_client")
    with (
        MailServer(certificate, tls) as server,
        pytest.raises(NotSent, match="certificate verify failed") as raised,
    ):
        doubting.mail(mail(server.port, host=host, security="tls" if tls else "starttls"))
    assert server.received == []
    assert "secret" not in repr(raised.value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"security": "starttls"}, "STARTTLS"),
        ({"user": "me", "password": "secret"}, "no login"),
        ({"recipients": ("gü@example.org",)}, "letters"),
        ({"content": CONTENT + b"x" * 1000 + b"\r\n"}, "at most 500"),
    ],
    ids=["no STARTTLS", "no login", "no SMTPUTF8", "too large"],
)
def test_what_the_server_lacks_is_told_and_final(client: GuardedClient, changes: dict[str, object], words: str) -> None:
    with MailServer(size=500) as server, pytest.raises(MailServerLacks, match=words) as raised:
        client.mail(mail(server.port, **changes))
    assert not raised.value.retryable
    assert server.received == []


def test_addresses_beyond_ascii_go_where_they_are_taken(client: GuardedClient) -> None:
    with MailServer(smtputf8=True) as server:
        assert client.mail(mail(server.port, recipients=("gü@example.org",))).code == 250
    assert server.received[0].recipients == ("gü@example.org",)


@pytest.mark.parametrize(
    ("refusals", "step", "code"),
    [
        ({"sender": "550 not yours"}, MailStep.SENDER, 550),
        ({"sender": "451 later"}, MailStep.SENDER, 451),
        ({"ada@example.org": "550 no", "grace@example.org": "550 no"}, MailStep.RECIPIENTS, 550),
        ({"ada@example.org": "550 no", "grace@example.org": "450 later"}, MailStep.RECIPIENTS, 450),
        ({"ada@example.org": "421 closing"}, MailStep.RECIPIENTS, 421),
        ({"content": "554 spam"}, MailStep.CONTENT, 554),
        ({"content": "452 full"}, MailStep.CONTENT, 452),
    ],
)
def test_a_refusal_says_where_and_how(
    client: GuardedClient, server: MailServer, refusals: dict[str, str], step: MailStep, code: int
) -> None:
    server.refusals = refusals
    answer = client.mail(mail(server.port))
    assert (answer.step, answer.code) == (step, code)
    assert answer.said
    assert server.received == []


def test_those_who_are_not_refused_get_it(client: GuardedClient, server: MailServer) -> None:
    server.refusals = {"grace@example.org": "550 5.1.1 no such user"}
    answer = client.mail(mail(server.port))
    assert (answer.step, answer.code) == (MailStep.CONTENT, 250)
    assert answer.refused == {"grace@example.org": (550, "5.1.1 no such user")}
    assert server.received[0].recipients == ("ada@example.org",)


@pytest.mark.parametrize("host", ["inner.test", "127.0.0.2", "::1", "::ffff:127.0.0.2"])
def test_g01_mail_stays_out_of_inner_networks(client: GuardedClient, server: MailServer, host: str) -> None:
    """The address that is connected to is checked, as for HTTP (G01)."""
    with pytest.raises(AddressRefused):
        client.mail(mail(server.port, host=host))


def test_nobody_listens(client: GuardedClient) -> None:
    with pytest.raises(NotSent) as raised:
        client.mail(mail(1))
    assert raised.value.retryable


Behave = Callable[[socket.socket, threading.Event], None]
REPLIES = [b"220 hi", b"250 hi", b"250 ok", b"250 ok", b"250 ok", b"354 go"]


def speaking(*replies: bytes, then: Callable[[socket.socket], None] = lambda _: None) -> Behave:
    """A server that says these lines, each after one from the client, and then does something else."""

    def behave(connection: socket.socket, over: threading.Event) -> None:
        lines = connection.makefile("rb")
        for index, reply in enumerate(replies):
            if index:
                lines.readline()
            connection.sendall(reply + b"\r\n")
        then(connection)

    return behave


@pytest.mark.parametrize("count", range(1, len(REPLIES)))
def test_a_connection_that_breaks_before_the_content_has_sent_nothing(client, serve_raw, count: int) -> None:
    port = serve_raw(speaking(*REPLIES[:count]))
    with pytest.raises(NotSent) as raised:
        client.mail(mail(port))
    assert raised.value.retryable


def test_what_is_confirmed_before_it_was_sent_is_not_sent(client, serve_raw) -> None:
    port = serve_raw(speaking(*REPLIES[:-1], b"250 ok"))
    with pytest.raises(NotSent):
        client.mail(mail(port))


def hang(connection: socket.socket) -> None:
    while connection.recv(65536):
        pass


def read_all(connection: socket.socket) -> None:
    read = b""
    while not read.endswith(b"\r\n.\r\n"):
        read += connection.recv(65536)


def garble(connection: socket.socket) -> None:
    read_all(connection)
    connection.sendall(b"what?\r\n")


@pytest.mark.parametrize("then", [read_all, hang, garble], ids=["closes", "hangs", "garbles"])
def test_a_mail_that_is_not_confirmed_may_have_arrived(make_client, serve_raw, then) -> None:
    """F01: a mail whose end was sent and that nobody confirmed is no failure."""
    client = make_client(timeout_seconds=0.5)
    port = serve_raw(speaking(*REPLIES, then=then))
    with pytest.raises(NoAnswer):
        client.mail(mail(port))


def test_the_content_that_breaks_off_has_not_arrived(client, serve_raw) -> None:
    port = serve_raw(speaking(*REPLIES))
    with pytest.raises(NotSent):
        client.mail(mail(port, content=CONTENT * 1_000_000))


def drip(connection: socket.socket) -> None:
    for _ in range(100):
        connection.sendall(b"2")
        time.sleep(0.05)


@pytest.mark.parametrize("then", [hang, drip], ids=["hangs", "drips"])
def test_a_conversation_ends_when_the_time_is_up(make_client, serve_raw, then) -> None:
    client = make_client(timeout_seconds=0.4)
    port = serve_raw(speaking(b"220 hi", then=then))
    began = time.monotonic()
    with pytest.raises(NotSent):
        client.mail(mail(port))
    assert time.monotonic() - began < 2


def test_what_is_said_before_tls_counts_for_nothing(trusting_client, serve_raw) -> None:
    """Given words smuggled in behind the answer to STARTTLS, then they are no answer of the secure server."""

    def behave(connection: socket.socket, over: threading.Event) -> None:
        speaking(b"220 hi", b"250-hi\r\n250 STARTTLS", b"220 go\r\n250 evil")(connection, over)

    with pytest.raises(NotSent):
        trusting_client.mail(mail(serve_raw(behave), security="starttls"))


def test_a_mail_server_is_not_spoken_to_in_http(client, serve_raw) -> None:
    """Given a client that has sent HTTP, then it does not offer that to a mail server, which might hang up."""
    hellos: list[bytes] = []
    port = serve_raw(lambda connection, _over: hellos.append(connection.recv(65536)))
    with pytest.raises(NotSent):
        client.send(Request("GET", f"https://service.test:{port}/"))
    with pytest.raises(NotSent):
        client.mail(mail(port, security="tls"))
    assert [b"http/1.1" in hello for hello in hellos] == [True, False]


@pytest.mark.parametrize("greeting", [b"554 no service", b"421 busy", b"HTTP/1.1 400 Bad Request"])
def test_a_server_that_does_not_want_to_talk(client, serve_raw, greeting: bytes) -> None:
    answer = client.mail(mail(serve_raw(speaking(greeting))))
    assert answer.step is MailStep.GREETING
    assert answer.code != 220
