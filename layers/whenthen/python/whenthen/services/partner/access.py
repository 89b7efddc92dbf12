"""The way in to a partner (PROTOCOLS.md 3, B.2)."""

import hashlib
from dataclasses import dataclass, field

from whenthen.net.messages import Request

_PATH = "/ifttt/v1"
_HIDDEN = "•••"
_REQUEST_ID_BYTES = 16


@dataclass(frozen=True, slots=True)
class Access:
    """Where a partner's API begins, and what opens it: a person's token, or the service key.

    `is_connected` says that this comes from a connection.
    """

    url: str
    service_key: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    is_connected: bool = False

    def endpoint(self, path: str) -> str:
        """Return the URL of a resource of the protocol, for example ``triggers/new_photo``."""
        return f"{self.url}{_PATH}/{path}"

    def headers(self) -> tuple[tuple[str, str], ...]:
        """Return what every request of the protocol has."""
        common = (("Accept", "application/json"), ("Accept-Charset", "utf-8"))
        if self.token:
            return (*common, ("Authorization", f"Bearer {self.token}"))
        if not self.service_key:
            return common
        # The second is the first one's former name, which many partners still look for.
        return (*common, *((name, self.service_key) for name in ("IFTTT-Service-Key", "IFTTT-Channel-Key")))

    def post(self, path: str, body: bytes, request_id: str) -> Request:
        """Return a request with a JSON body.

        Parameters
        ----------
        request_id:
            What makes the request this one, of any length.
        """
        digest = hashlib.blake2b(request_id.encode(), digest_size=_REQUEST_ID_BYTES).hexdigest()
        headers = (*self.headers(), ("Content-Type", "application/json"), ("X-Request-ID", digest))
        return Request("POST", self.endpoint(path), headers, body)

    def hide(self, text: str) -> str:
        """Return text of the partner without its secrets, which some partners repeat."""
        for secret in (self.token, self.service_key):
            text = text.replace(secret, _HIDDEN) if secret else text
        return text
