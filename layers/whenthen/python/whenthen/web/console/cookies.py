"""The cookies of the pages. None of them can be read by a program in the browser, or is sent along from elsewhere."""

import hashlib
import secrets
from collections.abc import Mapping

from starlette.responses import Response

SESSION_COOKIE = "whenthen_session"
LANGUAGE_COOKIE = "whenthen_language"
THEME_COOKIE = "whenthen_theme"
VISITOR_COOKIE = "whenthen_visitor"

THEMES = ("light", "dark")

_YEAR_SECONDS = 365 * 24 * 3600


def put(response: Response, name: str, value: str, *, secure: bool, seconds: int = _YEAR_SECONDS) -> None:
    """Set a cookie."""
    # Lax: a link from a mail opens the page signed in. Forms are protected by their token besides.
    response.set_cookie(name, value, max_age=seconds, secure=secure, httponly=True, samesite="lax")


def drop(response: Response, name: str, *, secure: bool) -> None:
    """Delete a cookie."""
    response.delete_cookie(name, secure=secure, httponly=True, samesite="lax")


def with_visitor(cookies: Mapping[str, str]) -> dict[str, str]:
    """Return the cookies with one for the tokens of forms, made when there is none."""
    return {VISITOR_COOKIE: secrets.token_urlsafe(24), **cookies}


def form_token(cookies: Mapping[str, str]) -> str:
    """Return the token that forms carry before there is a session: who can't read the cookie can't know it."""
    visitor = cookies[VISITOR_COOKIE].encode("utf-8", "surrogatepass")
    return hashlib.sha256(b"whenthen form " + visitor).hexdigest()
