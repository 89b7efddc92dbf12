"""Which addresses the client lets through, whatever way leads there."""

import inspect
import subprocess
import sys
from ipaddress import IPv4Network, IPv6Network, ip_address

import pytest

from whenthen.net import AddressRefused, GuardedClient, InvalidUrl, NotSent, RedirectRefused, Request


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "2130706433",
        "0x7f.1",
        "0x7f000001",
        "127.1",
        "0",
        "0.0.0.0",
        "169.254.169.254",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[fd00:ec2::254]",
        "[fe80::1%25lo]",
        "１２７.0.0.1",
    ],
)
def test_g02_g06_inner_hosts_are_refused_in_any_spelling(serve, host: str) -> None:
    """With the system's resolver, which knows more spellings of an address than we do."""
    server = serve()
    with pytest.raises((AddressRefused, InvalidUrl)) as raised:
        GuardedClient().send(Request("GET", f"http://{host}:{server.port}/"))
    assert not raised.value.retryable
    assert server.received == []


def test_g06_trailing_dot_is_no_way_in(serve) -> None:
    """Systems differ in whether they find the name, but none may connect."""
    server = serve()
    with pytest.raises(NotSent):
        GuardedClient().send(Request("GET", f"http://localhost.:{server.port}/"))
    assert server.received == []


def test_g02_name_of_an_inner_host_is_refused(client: GuardedClient, serve) -> None:
    server = serve(host="127.0.0.2")
    with pytest.raises(AddressRefused):
        client.send(Request("GET", f"http://inner.test:{server.port}/"))
    assert server.received == []


def test_allowed_network_opens_the_address_and_its_mapped_form(serve) -> None:
    server = serve()
    client = GuardedClient(allowed_networks=[IPv4Network("127.0.0.0/8")])
    for host in ("127.0.0.1", "[::ffff:127.0.0.1]"):
        assert client.send(Request("GET", f"http://{host}:{server.port}/")).status == 204


def test_allowed_ipv6_network_does_not_open_ipv4(serve) -> None:
    server = serve()
    client = GuardedClient(allowed_networks=[IPv6Network("::/0")])
    with pytest.raises(AddressRefused):
        client.send(Request("GET", f"http://[::ffff:127.0.0.1]:{server.port}/"))


def test_name_with_refused_and_allowed_addresses_leads_to_the_allowed(client: GuardedClient, serve) -> None:
    server = serve()
    assert client.send(Request("GET", f"http://mixed.test:{server.port}/")).status == 204


def test_name_without_addresses_is_not_found_rather_than_refused(client: GuardedClient) -> None:
    with pytest.raises(NotSent) as raised:
        client.send(Request("GET", "http://nowhere.test/"))
    assert raised.value.retryable


def test_g03_the_address_checked_is_the_address_connected_to(serve) -> None:
    """A name that changes its address: one look-up a connection, and what it said is where we go."""
    outer, inner = serve(), serve(host="127.0.0.2")
    answers = [["127.0.0.1"], ["127.0.0.2"], ["127.0.0.1"]]
    asked = []

    def resolve(host: str):
        asked.append(host)
        return [ip_address(address) for address in answers[len(asked) - 1]]

    client = GuardedClient(allowed_networks=[IPv4Network("127.0.0.1/32")], resolve=resolve)
    url = f"http://rebinding.test:{outer.port}/"
    assert client.send(Request("GET", url)).status == 204
    assert asked == ["rebinding.test"]
    with pytest.raises(AddressRefused):
        client.send(Request("GET", f"http://rebinding.test:{inner.port}/"))
    assert client.send(Request("GET", url)).status == 204
    assert len(asked) == 3
    assert [len(outer.received), len(inner.received)] == [2, 0]
    assert outer.received[0].headers["host"] == f"rebinding.test:{outer.port}"


def test_g03_name_that_changes_between_hops_is_checked_again(serve, reply) -> None:
    inner = serve(host="127.0.0.2")
    outer = serve({"/": reply(302, {"Location": f"http://rebinding.test:{inner.port}/"})})
    answers = iter(["127.0.0.1", "127.0.0.2"])
    client = GuardedClient(
        allowed_networks=[IPv4Network("127.0.0.1/32")], resolve=lambda _host: [ip_address(next(answers))]
    )
    with pytest.raises(RedirectRefused):
        client.send(Request("GET", f"http://rebinding.test:{outer.port}/"))
    assert inner.received == []


@pytest.mark.parametrize("host", ["127.0.0.2", "inner.test", "[::ffff:127.0.0.2]", "[64:ff9b::7f00:2]", "[::1]"])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_g02_redirect_to_an_inner_host_is_refused(client, serve, reply, host: str, status: int) -> None:
    inner = serve(host="127.0.0.2")
    outer = serve({"/": reply(status, {"Location": f"http://{host}:{inner.port}/"})})
    with pytest.raises(RedirectRefused) as raised:
        client.send(Request("POST", f"http://service.test:{outer.port}/", (), b"x"))
    assert raised.value.status == status
    assert inner.received == []


def test_g04_no_option_turns_the_check_off() -> None:
    """Beyond the list of networks there is nothing to set, for TLS and transport in particular."""
    assert set(inspect.signature(GuardedClient).parameters) == {
        "allowed_networks",
        "timeout_seconds",
        "connect_timeout_seconds",
        "max_response_bytes",
        "max_redirects",
        "resolve",
    }
    send, mail = (set(inspect.signature(method).parameters) for method in (GuardedClient.send, GuardedClient.mail))
    assert send == {"self", "request", "timeout_seconds", "max_response_bytes"}
    assert mail == {"self", "mail", "timeout_seconds"}


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_g04_every_scheme_is_checked(client: GuardedClient, serve, scheme: str) -> None:
    server = serve(host="127.0.0.2")
    with pytest.raises(AddressRefused):
        client.send(Request("GET", f"{scheme}://127.0.0.2:{server.port}/"))


def test_g04_proxy_of_the_environment_is_ignored(serve, monkeypatch) -> None:
    proxy, server = serve(), serve()
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setenv(name.lower(), f"http://127.0.0.1:{proxy.port}")
    client = GuardedClient(allowed_networks=[IPv4Network("127.0.0.1/32")])
    assert client.send(Request("GET", f"http://127.0.0.1:{server.port}/")).status == 204
    with pytest.raises(AddressRefused):
        client.send(Request("GET", f"http://127.0.0.2:{server.port}/"))
    assert [len(proxy.received), len(server.received)] == [0, 1]


def test_netrc_is_ignored(serve, monkeypatch, tmp_path) -> None:
    server = serve()
    netrc = tmp_path / ".netrc"
    netrc.write_text("default login user password hunter2")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HOME", str(tmp_path))
    client = GuardedClient(allowed_networks=[IPv4Network("127.0.0.1/32")])
    client.send(Request("GET", f"http://127.0.0.1:{server.port}/"))
    assert "authorization" not in server.received[0].headers


def test_the_package_loads_without_the_client() -> None:
    """The trigger function's cold start must not pay for a client that it never uses."""
    code = "import sys, whenthen.net; sys.exit('httpcore2' in sys.modules or 'httpx2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
