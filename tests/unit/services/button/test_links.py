"""Links of buttons."""

from urllib.parse import parse_qs, urlsplit

import pytest

from whenthen.services.button.connection import ButtonFields
from whenthen.services.button.links import BadLink, Link, LinkExpired, check_link, read_link

NOW = 1_795_976_400
KEY = "k" * 32
CONNECTION = "0" * 32


def taken_apart(url: str) -> tuple[Link, str]:
    """The link and the signature of a URL, as the route reads them."""
    parts = urlsplit(url)
    _, _, connection, expires, signature = parts.path.split("/")
    return read_link(connection, expires, parse_qs(parts.query)["label"][0]), signature


@pytest.mark.parametrize("label", ["Open the garage", "a/b?c&d=e#f", "ä 🚪", "..", "%2F", "<b>", "+"])
def test_a_link_opens(label: str) -> None:
    made = Link(CONNECTION, 0, label)
    link, signature = taken_apart(made.path(KEY))
    assert link == made
    check_link(link, signature, KEY, NOW)


def test_nothing_of_a_link_can_be_changed() -> None:
    link = Link(CONNECTION, NOW + 10, "Open")
    signature = link.signature(KEY)
    check_link(link, signature, KEY, NOW)
    for other in (Link("1" * 32, NOW + 10, "Open"), Link(CONNECTION, 0, "Open"), Link(CONNECTION, NOW + 10, "Close")):
        with pytest.raises(BadLink):
            check_link(other, signature, KEY, NOW)
    for forged in ("", "é", "\ud800", signature[:-1], signature + "=", signature.lower(), signature.swapcase()):
        with pytest.raises(BadLink):
            check_link(link, forged, KEY, NOW)
    with pytest.raises(BadLink):
        check_link(link, signature, "K" * 32, NOW)


def test_a_link_expires() -> None:
    link = Link(CONNECTION, NOW, "Open")
    check_link(link, link.signature(KEY), KEY, NOW - 0.5)
    with pytest.raises(LinkExpired):
        check_link(link, link.signature(KEY), KEY, NOW)
    # Whoever has no link is not told what has become of it.
    with pytest.raises(BadLink) as refused:
        check_link(link, "forged", KEY, NOW)
    assert not isinstance(refused.value, LinkExpired)


@pytest.mark.parametrize("expires", ["", "-1", "+1", "01", "1.0", "１", "x", "9" * 13, " 1"])
def test_a_time_is_written_in_one_way(expires: str) -> None:
    with pytest.raises(BadLink):
        read_link(CONNECTION, expires, "Open")


def test_a_key_is_made_for_each_connection() -> None:
    first, second = ButtonFields(), ButtonFields()
    assert len(first.signing_key) >= 43
    assert first.signing_key != second.signing_key
    assert first.signing_key not in repr(first)
