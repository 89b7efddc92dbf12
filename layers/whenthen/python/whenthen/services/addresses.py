"""Web addresses that an owner gives."""

from whenthen.net.errors import InvalidUrl
from whenthen.net.urls import parse_url


def web_address(text: str) -> str:
    """Return the address as it came.

    Raises
    ------
    ValueError
        It is none that we can call: not of http or https, without a host, or with a user name or password.
    """
    if not text.lower().startswith(("http://", "https://")):
        raise ValueError("must begin with http:// or https://")
    try:
        parse_url(text)
    except InvalidUrl as error:
        raise ValueError(f"must be a web address, such as https://example.org. {error}".strip()) from error
    return text


def server_address(text: str) -> str:
    """Return the address of a server, to which paths can be added.

    Raises
    ------
    ValueError
        It is no web address, or has more than a path.
    """
    address = web_address(text.strip())
    if "?" in address or "#" in address:
        raise ValueError("must be the address of the server alone, such as https://example.org")
    return address.rstrip("/")
