"""What can go wrong with sealed secrets."""

from whenthen.errors import WhenthenError


class SealBroken(WhenthenError):
    """What is sealed can't be opened: it was changed, moved here from elsewhere, or sealed with another key."""


class KeysUnavailable(WhenthenError):
    """The keys can't be had now; a later try may do better."""
