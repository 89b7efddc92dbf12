"""Web addresses that an owner gives."""

import pytest

from whenthen.services.addresses import server_address, web_address


@pytest.mark.parametrize(
    "address",
    ["https://example.org", "HTTP://example.org:8080/a?b=c#d", "http://[::1]/", "http://192.0.2.1/", "http://a_b/"],
)
def test_an_address_stays_as_it_came(address: str) -> None:
    assert web_address(address) == address


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("", "must begin with http:// or https://"),
        ("example.org", "must begin with http:// or https://"),
        ("ftp://example.org", "must begin with http:// or https://"),
        ("https:example.org", "must begin with http:// or https://"),
        ("https://", "host name"),
        ("https:///path", "host name"),
        ("https://exa mple.org", "must be a web address"),
        ("http://[::1", "must be a web address"),
        ("https://example.org:99999", "must be a web address"),
        ("https://user:word@example.org", "user name or password"),
        ("https://user@example.org", "user name or password"),
    ],
)
def test_what_is_no_address_is_told(address: str, said: str) -> None:
    with pytest.raises(ValueError, match=r"^must ") as raised:
        web_address(address)
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("address", "server"),
    [(" https://example.org/ ", "https://example.org"), ("http://[::1]:8080/a/b//", "http://[::1]:8080/a/b")],
)
def test_paths_can_be_added_to_a_server(address: str, server: str) -> None:
    assert server_address(address) == server


@pytest.mark.parametrize("address", ["https://example.org/?a=1", "https://example.org/#a", "example.org"])
def test_what_is_no_server_is_told(address: str) -> None:
    with pytest.raises(ValueError, match=r"^must "):
        server_address(address)
