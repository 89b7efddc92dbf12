"""Web addresses that an owner gives."""

import pytest

from whenthen.services.addresses import web_address


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
