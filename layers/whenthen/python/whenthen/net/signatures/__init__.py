"""Signatures of webhooks: whether a request was made by somebody who knows the secret.

Pure functions over raw bytes; whatever is odd about a request is a forgery. The library ``standardwebhooks`` (1.1.0) is
not used: it decodes the body before it verifies it, so that bytes that are no text never pass, and one malformed
signature in the header spoils the good one beside it.
"""

from whenthen.net.signatures.message import WINDOW_SECONDS, Forged, Message
from whenthen.net.signatures.plain import GITHUB, SHOPIFY, SLACK, Algorithm, Coding, PlainScheme
from whenthen.net.signatures.standard import StandardScheme, read_standard_secret
from whenthen.net.signatures.stripe import StripeScheme

__all__ = [
    "GITHUB",
    "SHOPIFY",
    "SLACK",
    "WINDOW_SECONDS",
    "Algorithm",
    "Coding",
    "Forged",
    "Message",
    "PlainScheme",
    "StandardScheme",
    "StripeScheme",
    "read_standard_secret",
]
