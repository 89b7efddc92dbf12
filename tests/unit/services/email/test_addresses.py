"""Mail addresses as people write them."""

import pytest

from whenthen.services.email.addresses import Address, read_addresses


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" , ,", []),
        ("ada@example.org", [("", "ada@example.org")]),
        ("a@b.org,c@d.org , e@f.org", [("", "a@b.org"), ("", "c@d.org"), ("", "e@f.org")]),
        ("Ada Lovelace <ada@example.org>", [("Ada Lovelace", "ada@example.org")]),
        ('"Lovelace, Ada \\"A\\"" <ada@example.org>', [('Lovelace, Ada "A"', "ada@example.org")]),
        ("<ada@example.org>", [("", "ada@example.org")]),
        ("first.last+tag@sub.example.org", [("", "first.last+tag@sub.example.org")]),
        ("ada@bücher.example", [("", "ada@xn--bcher-kva.example")]),
        ("ada@straße.example", [("", "ada@xn--strae-oqa.example")]),
        ("gü@example.org", [("", "gü@example.org")]),
        ("me@localhost", [("", "me@localhost")]),
    ],
)
def test_what_is_an_address(text: str, expected: list[tuple[str, str]]) -> None:
    assert read_addresses(text) == tuple(Address(*parts) for parts in expected)


@pytest.mark.parametrize(
    "text",
    [
        "ada",
        "@example.org",
        "ada@",
        "ada@-example.org",
        "ada@example..org",
        "ada@[127.0.0.1]",
        "ada@exa mple.org",
        "a@b.org c@d.org",
        "a@b@c.org",
        ".ada@example.org",
        '"ada lovelace"@example.org',
        "Ada <ada@example.org",
        'Ada" <ada@example.org>',
        "<a@b.org> <c@d.org>",
        "<a@b.org>c@d.org",
        "a@b.org\r\nBcc: c@d.org",
        "a@b.org\0",
        "a@b.org;c@d.org",
        "friends: a@b.org;",
        f"{'a' * 65}@example.org",
        f"ada@{'a' * 64}.org",
        f"ada@{'a.' * 127}org",
    ],
)
def test_what_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a mail address|has a domain"):
        read_addresses(text)
