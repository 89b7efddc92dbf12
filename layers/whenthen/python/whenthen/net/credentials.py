"""Where a request carries its sender's credentials."""

CREDENTIAL_HEADERS = frozenset(("authorization", "cookie", "proxy-authorization", "x-api-key"))
"""Headers, in lower case, that are never kept."""
