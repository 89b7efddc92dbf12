"""What can go wrong with a request: whether it left us, and whether an answer came.

The engine's states follow from these (R6 of the protocol rules): `NotSent` may be tried again or failed
at once, `NoAnswer` is ``unknown``, `RedirectRefused` is a definite failure.
"""

from typing import ClassVar

from whenthen.errors import WhenthenError


class NetError(WhenthenError):
    """The request failed."""


class NotSent(NetError):
    """The request could not be sent."""

    # Certainly nothing left us: no address, no connection or no TLS handshake. A later try may do better,
    # except where a subclass says otherwise.
    retryable: ClassVar[bool] = True


class AddressRefused(NotSent):
    """The address is not on the public internet and not among the allowed networks."""

    retryable = False


class InvalidUrl(NotSent):
    """The URL is not one that we can call."""

    retryable = False


class InvalidRequest(NotSent):
    """The request has a method or header that can't be sent."""

    retryable = False


class MailServerLacks(NotSent):
    """The mail server does not offer what this mail needs, for example STARTTLS."""

    retryable = False


class NoAnswer(NetError):
    """The request may have been received, but no answer came."""


class RedirectRefused(NetError):
    """The answer was a redirect that we do not follow.

    Parameters
    ----------
    message:
        Why the redirect was not followed.
    status:
        HTTP status of the answer that redirected: the request before it was answered.
    """

    def __init__(self, message: str, status: int) -> None:
        self.status = status
        super().__init__(message)
