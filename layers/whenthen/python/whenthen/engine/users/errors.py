"""Why somebody is not signed in."""

from whenthen.errors import Refused, WhenthenError


class SignInRefused(Refused):
    """The name or the password is not right."""


class SignInThrottled(WhenthenError):
    """There were too many tries.

    Parameters
    ----------
    retry_after_seconds:
        How long to wait before the next one; at least 1.
    """

    def __init__(self, retry_after_seconds: int) -> None:
        self.retry_after_seconds = retry_after_seconds
        super().__init__(f"There were too many tries. Try again in {retry_after_seconds} seconds.")
