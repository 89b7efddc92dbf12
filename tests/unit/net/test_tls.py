"""Certificates are checked against the name in the URL, though the connection goes to an address."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from whenthen.net import GuardedClient, NotSent, RedirectRefused, Request


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for service.test that is its own authority, with its key in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "service.test")])
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    usage = dict.fromkeys(
        ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "crl_sign"), False
    )
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(datetime.now(UTC) - timedelta(hours=1))
        .not_valid_after(datetime.now(UTC) + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("service.test")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(
            x509.KeyUsage(
                digital_signature=True, key_cert_sign=True, encipher_only=False, decipher_only=False, **usage
            ),
            critical=True,
        )
        .add_extension(identifier, critical=False)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "service.pem"
    path.write_bytes(
        certificate.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return path


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
