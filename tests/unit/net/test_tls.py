"""Certificates are checked against the name in the URL, though the connection goes to an address."""

import ssl
from pathlib import Path

import pytest

from tests.support.certificates import self_signed
from whenthen.net import GuardedClient, NotSent, RedirectRefused, Request


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return self_signed(tmp_path_factory.mktemp("tls") / "service.pem", "service.test")


@pytest.fixture
def server(serve, reply, certificate: Path):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return serve({"/away": reply(302, {"Location": "https://127.0.0.2/"})}, tls=context)


def test_g04_certificate_that_nobody_vouches_for_is_refused(client: GuardedClient, server) -> None:
    with pytest.raises(NotSent) as raised:
        client.send(Request("POST", f"https://service.test:{server.port}/", (), b"x"))
    assert "certificate verify failed" in str(raised.value)
    assert server.received == []


@pytest.fixture
def trusting_client(make_client, certificate: Path, monkeypatch: pytest.MonkeyPatch) -> GuardedClient:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    return make_client()


def test_certificate_is_for_the_name(trusting_client: GuardedClient, server) -> None:
    answer = trusting_client.send(Request("POST", f"https://service.test:{server.port}/", (), b"x"))
    assert answer.status == 204
    assert server.received[0].headers["host"] == f"service.test:{server.port}"


@pytest.mark.parametrize("host", ["other.test", "127.0.0.1"])
def test_certificate_for_another_name_is_refused(trusting_client: GuardedClient, server, host: str) -> None:
    with pytest.raises(NotSent):
        trusting_client.send(Request("POST", f"https://{host}:{server.port}/", (), b"x"))
    assert server.received == []


def test_g04_trusted_roots_do_not_open_inner_hosts(trusting_client: GuardedClient, server) -> None:
    with pytest.raises(RedirectRefused):
        trusting_client.send(Request("GET", f"https://service.test:{server.port}/away"))
