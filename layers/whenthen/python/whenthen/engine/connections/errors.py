"""Why a connection can't be used."""

from whenthen.errors import WhenthenError
from whenthen.store.errors import StoreError


class ConnectionUnusable(WhenthenError):
    """The connection can't be used until its owner does something about it; the message says why, for the owner."""


class SecretsShut(ConnectionUnusable):
    """Its secrets don't open with the key that whenthen has now. With the right one they do."""


class RefreshFailed(WhenthenError):
    """New tokens can't be had now; a later try may do better. The message says why, for the owner."""


class KeyMissing(StoreError):
    """The key that opens secrets can't be had now. Without it a connection is as good as a database that is down."""
