"""A request to a page: who asks, in what language, what the form says."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any
from urllib.parse import quote, urlencode

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from whenthen.engine.users.sessions import Session
from whenthen.services.zones import DEFAULT_ZONE
from whenthen.store.profiles import find_zone
from whenthen.web.console import rendering
from whenthen.web.console.cookies import THEME_COOKIE, THEMES, form_token
from whenthen.web.console.language import gettext as _
from whenthen.wiring import Runtime

_FORWARDED = ("forwarded", "x-forwarded-", "x-real-ip", "via")
"""How the names of headers begin that a proxy adds."""

_IN_ADDRESSES = ":/%#?=@[]!$&'()*+,;"
"""What stays as it is in the address of a redirect, as in Starlette's."""

type Page = Callable[["Visit"], Response]


class Visit:
    """A request to a page.

    Parameters
    ----------
    session:
        Of the user who is signed in, or None.
    form:
        What was posted; empty for a GET.
    cookies:
        With one for the tokens of forms.
    """

    def __init__(
        self,
        runtime: Runtime,
        request: Request,
        session: Session | None,
        form: FormData,
        cookies: Mapping[str, str],
    ) -> None:
        self.runtime = runtime
        self.query = request.query_params
        self.form = form
        self.path: dict[str, str] = request.path_params
        self.cookies = cookies
        self.session = session
        self.is_secure = request.url.scheme == "https" or runtime.settings.public_url.startswith("https:")
        self.base_url = (runtime.settings.public_url or str(request.base_url)).rstrip("/")
        self.client = request.client.host if request.client else ""
        self.host = request.url.hostname or ""
        # HTTP/1.0 is what nginx speaks unless it is told otherwise, without any of the headers; browsers don't.
        self.is_forwarded = request.scope.get("http_version") == "1.0" or any(
            name.startswith(_FORWARDED) for name in request.headers
        )
        self.is_fragment = "hx-request" in request.headers
        """Whether htmx asks, for a part of a page."""
        self.address = request.url.path
        self.here = self.address + (f"?{request.url.query}" if request.url.query else "")
        """The address with its query, to come back to."""

    @property
    def owner(self) -> str:
        """The id of the owner whose things are shown."""
        assert self.session is not None  # noqa: S101 - only pages for everybody are shown without
        return self.session.user.owner_id

    @cached_property
    def zone(self) -> str:
        """The owner's IANA time zone."""
        return find_zone(self.runtime.database, self.owner) or DEFAULT_ZONE

    def text(self, name: str) -> str:
        """Return a field of the form, see `text_of`."""
        return text_of(self.form, name)

    def page(self, template: str, *, status: int = 200, **context: Any) -> Response:
        """Return a page made of `template`."""
        return rendering.render(template, self._common() | context, status=status)

    def redirect(self, path: str, **query: str) -> Response:
        """Return a redirect to a page of ours, after a form was taken."""
        target = f"{path}?{urlencode(query)}" if query else path
        if self.is_fragment:
            # htmx would put the page that it is sent to into the place of the part.
            address = quote(target, safe=_IN_ADDRESSES)
            return Response(status_code=204, headers={**rendering.HEADERS, "HX-Redirect": address})
        return RedirectResponse(target, 303, rendering.HEADERS)

    def _common(self) -> dict[str, Any]:
        theme = self.cookies.get(THEME_COOKIE, "")
        return {
            "user": self.session.user if self.session else None,
            "csrf": self.session.csrf if self.session else form_token(self.cookies),
            "zone": self.zone if self.session else DEFAULT_ZONE,
            "theme": theme if theme in THEMES else "",
            "address": self.address,
            "back_to": self.here,
        }


def text_of(form: FormData, name: str) -> str:
    """Return a field of a form, without space around it; empty when it is missing."""
    value = form.get(name)
    return value.strip() if isinstance(value, str) else ""


def page_number(visit: Visit) -> int:
    """Return the number of the page that the query asks for, 1 or more.

    Raises
    ------
    HTTPException
        404: it is no number.
    """
    text = visit.query.get("page", "1")
    if not text.isascii() or not text.isdigit() or len(text) > 6 or text == "0":
        raise HTTPException(404, _("There is no such page."))
    return int(text)
