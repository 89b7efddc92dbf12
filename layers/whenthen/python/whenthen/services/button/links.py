"""Links of buttons: signed, so that nobody makes one who was not given it.

``/button/<connection>/<expires>/<signature>?label=<label>``: nothing has to be looked up but the connection's key. The
label stands in the query, since gateways and browsers rewrite some paths.
"""

import base64
import hmac
import json
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from whenthen.errors import Refused


class BadLink(Refused):
    """This link is not valid."""


class LinkExpired(BadLink):
    """This link has expired. Ask whoever gave it to you for a new one."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a button. `expires` is in epoch seconds, 0 for never."""

    connection_id: str
    expires: int
    label: str

    def signature(self, key: str) -> str:
        """Return the link's HMAC-SHA256 with the connection's key, in URL-safe base64."""
        # With a name of its own: a signature for something else that this key may sign one day opens no button.
        content = json.dumps(["button", self.connection_id, self.expires, self.label])
        digest = hmac.digest(key.encode(), content.encode(), "sha256")
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")

    def path(self, key: str) -> str:
        """Return the link's path, percent-encoded."""
        query = urlencode({"label": self.label}, quote_via=quote)
        return f"/button/{self.connection_id}/{self.expires}/{self.signature(key)}?{query}"


def read_link(connection_id: str, expires: str, label: str) -> Link:
    """Return the link with these parts of a URL, decoded.

    Raises
    ------
    BadLink
        They are not those of a link.
    """
    # One way to write a number: what is signed is the number.
    if not (expires.isascii() and expires.isdigit() and len(expires) <= 12 and expires == str(int(expires))):
        raise BadLink
    return Link(connection_id, int(expires), label)


def check_link(link: Link, signature: str, key: str, now: float) -> None:
    """Check that the link was signed with `key` and is still good at `now`, epoch seconds.

    Raises
    ------
    LinkExpired
        It was, and is not any more.
    BadLink
        It was not.
    """
    if not hmac.compare_digest(link.signature(key).encode(), signature.encode("utf-8", "surrogatepass")):
        raise BadLink
    if 0 < link.expires <= now:
        raise LinkExpired
