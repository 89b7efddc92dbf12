"""A connection to a mail server is tried out by a log-in, and no mail is sent."""

from collections.abc import Iterator
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest

from tests.support.certificates import self_signed
from tests.support.mail_server import MailServer
from tests.support.processes import free_port
from whenthen.engine.connections.trying import Trial, try_out
from whenthen.net import GuardedClient
from whenthen.services.email.connection import EmailAccount
from whenthen.services.email.manifest import SERVICE


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return self_signed(tmp_path_factory.mktemp("tls") / "mail.pem", "mail.test")


@pytest.fixture
def trusting(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[GuardedClient]:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    client = GuardedClient(
        allowed_networks=[ip_network("127.0.0.1/32")], timeout_seconds=5, resolve=lambda _: [ip_address("127.0.0.1")]
    )
    yield client
    client.close()


def tried(client: GuardedClient, port: int, **account: str) -> Trial:
    assert SERVICE.connection is not None
    fields = EmailAccount(sender="me@example.org", host="mail.test", port=port, **account)  # type: ignore[arg-type]
    return try_out(client, SERVICE.connection, fields)


@pytest.mark.parametrize("security", ["starttls", "tls"])
@pytest.mark.parametrize(("password", "state"), [("secret", "working"), ("wrong", "broken")])
def test_a_password_is_tried(
    trusting: GuardedClient, certificate: Path, security: str, password: str, state: str
) -> None:
    with MailServer(certificate, security == "tls", {"me": "secret"}) as server:
        trial = tried(trusting, server.port, security=security, user="me", password=password)
    assert (trial.state, trial.is_unauthorized) == (state, state == "broken")
    assert trial.account_name == ("me@example.org" if state == "working" else "")
    assert ("did not accept the user name and password" in trial.reason) == (state == "broken")
    assert server.received == []


def test_a_server_that_wants_a_password_is_told(trusting: GuardedClient, certificate: Path) -> None:
    with MailServer(certificate, logins={"me": "secret"}) as server:
        trial = tried(trusting, server.port)
    assert (trial.state, trial.is_unauthorized) == ("broken", True)


@pytest.mark.parametrize(("reply", "state"), [("450 later", "failing"), ("550 not yours", "broken")])
def test_a_sender_that_is_not_the_accounts_is_told(trusting: GuardedClient, reply: str, state: str) -> None:
    with MailServer(refusals={"sender": reply}) as server:
        trial = tried(trusting, server.port, security="none")
    assert (trial.state, reply in trial.reason) == (state, True)


def test_a_server_that_is_not_there_breaks_nothing(trusting: GuardedClient) -> None:
    trial = tried(trusting, free_port(), security="none")
    assert trial.state == "failing"
    assert trial.reason.startswith("The service could not be asked.")


def test_a_server_without_tls_is_told(trusting: GuardedClient) -> None:
    with MailServer() as server:
        trial = tried(trusting, server.port)
    assert trial.state == "broken"
    assert "does not offer" in trial.reason
