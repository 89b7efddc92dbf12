"""Mail addresses as people write them: ``ada@example.org`` or ``Ada <ada@example.org>``."""

import re
from dataclasses import dataclass

import idna

MAX_ADDRESSES = 50
"""The most recipients of one mail, as Amazon SES has it."""

_MAX_LOCAL_BYTES = 64
_MAX_DOMAIN = 253

# A dot-atom (RFC 5322, 3.2.3), beyond ASCII too (RFC 6531, 3.3). Quoted local parts are refused: nobody has them.
_LOCAL = re.compile(r"[^\s\x00-\x20\x7f-\x9f()<>\[\]:;@\\,\".]+(\.[^\s\x00-\x20\x7f-\x9f()<>\[\]:;@\\,\".]+)*")
_LABEL = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_ONE = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*"\s*|[^<>"]*)<([^<>]*)>|([^<>"]*))\s*')


@dataclass(frozen=True, slots=True)
class Address:
    """A mail address with a name, which may be empty. Its domain is in ASCII."""

    name: str
    spec: str

    @property
    def domain(self) -> str:
        """What stands behind the ``@``."""
        return self.spec.rpartition("@")[2]


def read_addresses(text: str) -> tuple[Address, ...]:
    """Return the addresses of text, which commas separate; none for empty text.

    Raises
    ------
    ValueError
        Something in it is not an address.
    """
    return tuple(read_address(piece) for piece in _pieces(text) if piece.strip())


def read_address(text: str) -> Address:
    """Return one address.

    Raises
    ------
    ValueError
        It is none.
    """
    found = None if _CONTROL.search(text) else _ONE.fullmatch(text)
    if found is None:
        raise ValueError(f"is not a mail address, such as ada@example.org: {text.strip()[:100]!r}")
    name, inner, plain = (group.strip() if group else "" for group in found.groups())
    if name.startswith('"'):
        name = re.sub(r"\\(.)", r"\1", name[1:-1])
    local, _, domain = (inner or plain).rpartition("@")
    if not _LOCAL.fullmatch(local) or len(local.encode()) > _MAX_LOCAL_BYTES:
        raise ValueError(f"is not a mail address, such as ada@example.org: {text.strip()[:100]!r}")
    return Address(name, f"{local}@{ascii_domain(domain)}")


def ascii_domain(domain: str) -> str:
    """Return a domain as DNS has it (IDNA 2008, RFC 5891).

    Raises
    ------
    ValueError
        It can't be the domain of a mail address.
    """
    try:
        name = domain if domain.isascii() else idna.encode(domain, uts46=True).decode()
    except idna.IDNAError:
        name = ""
    if not (all(map(_LABEL.fullmatch, name.split("."))) and len(name) <= _MAX_DOMAIN):
        raise ValueError(f"has a domain that can't be one: {domain[:100]!r}")
    return name


def _pieces(text: str) -> list[str]:
    """Split at the commas that are not in quotes."""
    pieces = [""]
    quoted = escaped = False
    for character in text:
        if character == "," and not quoted:
            pieces.append("")
            continue
        pieces[-1] += character
        if character == '"' and not escaped:
            quoted = not quoted
        escaped = character == "\\" and not escaped
    return pieces
