"""Reading URLs that people and redirects give us."""

import re

import httpx2

from whenthen.net.errors import InvalidUrl

# LDH labels (RFC 1123 2.1) plus the underscore, which container networks use in names. Anything else would
# not be found in DNS, or would make the `idna` codec under getaddrinfo and ssl raise.
_HOST_NAME = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*\.?")


def parse_url(text: str) -> httpx2.URL:
    """Read an absolute URL and drop its fragment.

    The host is only checked for its form. Odd spellings of an address (``127.1``, ``0x7f.1``) are left to
    the resolver, and what it makes of them is checked at connect time.

    Raises
    ------
    InvalidUrl
        No URL, a scheme other than http and https, credentials, or a bad host or port.
    """
    return _checked(_parsed(text))


def join_url(base: str, reference: str) -> httpx2.URL:
    """Resolve a redirect's `reference` against the absolute URL `base` (RFC 3986 5.2).

    Raises
    ------
    InvalidUrl
        As for `parse_url`.
    """
    try:
        joined = httpx2.URL(base).join(reference)
    except (httpx2.InvalidURL, ValueError):
        raise InvalidUrl from None
    return _checked(joined)


def same_origin(one: httpx2.URL, other: httpx2.URL) -> bool:
    """Say if scheme, host and port are the same (RFC 6454 5)."""
    # Default ports are normalized to None.
    return (one.scheme, one.raw_host, one.port) == (other.scheme, other.raw_host, other.port)


def _parsed(text: str) -> httpx2.URL:
    try:
        return httpx2.URL(text)
    except (httpx2.InvalidURL, ValueError):  # ValueError: lone surrogates
        # The cause quotes parts of the URL, which may hold secrets.
        raise InvalidUrl from None


def _checked(url: httpx2.URL) -> httpx2.URL:
    if url.scheme not in ("http", "https"):
        raise InvalidUrl("The URL must start with http:// or https://.")
    if url.userinfo:
        raise InvalidUrl("The URL must not contain a user name or password.")
    host = url.raw_host.decode("ascii")
    # A colon is in an IPv6 literal only, and the parser has checked that.
    if ":" not in host and not (_HOST_NAME.fullmatch(host) and len(host.rstrip(".")) <= 253):
        raise InvalidUrl("The host name in the URL is not valid.")
    if url.port is not None and not 0 < url.port < 65536:
        raise InvalidUrl("The port in the URL is not valid.")
    return url.copy_with(fragment=None)
