"""Passwords in forms, and what is said to who has tried too often."""

from starlette.responses import Response

from whenthen.engine.users.errors import SignInThrottled
from whenthen.web.console.language import gettext as _
from whenthen.web.console.visit import Visit


def password_in(visit: Visit, name: str) -> str:
    """Return a password as it was typed: spaces around it belong to it. Empty when it is missing."""
    value = visit.form.get(name)
    return value if isinstance(value, str) else ""


def words_for(error: SignInThrottled) -> str:
    """Return for how long to wait."""
    minutes = -(-error.retry_after_seconds // 60)
    return _("Too many tries. Wait %(minutes)d min and try again.") % {"minutes": minutes}


def throttled(response: Response, error: SignInThrottled) -> Response:
    """Return the response with what programs are told of the wait."""
    response.headers["Retry-After"] = str(error.retry_after_seconds)
    return response
