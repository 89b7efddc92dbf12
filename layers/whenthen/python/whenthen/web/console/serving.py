"""How a page is served: who is signed in, is the form ours, what does an error look like."""

import hmac
from collections.abc import Awaitable, Callable
from contextlib import suppress
from http import HTTPStatus
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from whenthen.engine.users.sessions import VALID_MS
from whenthen.errors import WhenthenError
from whenthen.web.body import check_form_charset, read_body
from whenthen.web.console import cookies, language, reasons
from whenthen.web.console.visit import Page, Visit
from whenthen.web.problems import describe
from whenthen.wiring import Runtime

MAX_FORM_BYTES = 1024 * 1024
_MAX_FIELDS = 2000

SIGN_IN = "/sign-in"
WELCOME = "/welcome"

type Endpoint = Callable[[Request], Awaitable[Response]]


def endpoint(runtime: Runtime, pages: dict[str, Page], *, for_everybody: bool = False) -> Endpoint:
    """Return what answers at a path.

    Parameters
    ----------
    pages:
        By method, GET and POST.
    for_everybody:
        Whether the page is shown without a session, too.
    """

    async def answer(request: Request) -> Response:
        token = language.current.set(_language(request))
        try:
            form = await _read_form(request)
            try:
                # The language goes along: the pool's threads run in a copy of this context.
                return await run_in_threadpool(_serve, runtime, request, form, pages, for_everybody)
            finally:
                # Files that were sent are temporary ones.
                await form.close()
        except Exception as error:  # noqa: BLE001 - the one place where errors become pages
            return _before_known(runtime, request, error)
        finally:
            language.current.reset(token)

    return answer


def _language(request: Request) -> str:
    cookie = request.cookies.get(cookies.LANGUAGE_COOKIE)
    return language.choose(cookie, request.headers.get("accept-language"))


def _before_known(runtime: Runtime, request: Request, error: Exception) -> Response:
    """Return an error that came before it was known who asks."""
    return error_page(Visit(runtime, request, None, FormData(), cookies.with_visitor(request.cookies)), error)


async def _read_form(request: Request) -> FormData:
    if request.method != "POST":
        return FormData()
    check_form_charset(request)
    await read_body(request, MAX_FORM_BYTES)
    return await request.form(max_files=1, max_fields=_MAX_FIELDS, max_part_size=MAX_FORM_BYTES)


def _serve(runtime: Runtime, request: Request, form: FormData, pages: dict[str, Page], for_everybody: bool) -> Response:
    cookie = request.cookies.get(cookies.SESSION_COOKIE)
    session = runtime.users.read_session(cookie) if cookie else None
    visit = Visit(runtime, request, session, form, cookies.with_visitor(request.cookies))
    if session is None and not for_everybody:
        return _to_sign_in(visit, request)
    try:
        if request.method == "POST":
            _check_token(visit, request)
        # Starlette lets HEAD in where GET is.
        response = pages["GET" if request.method == "HEAD" else request.method](visit)
    except Exception as error:  # noqa: BLE001 - an error of a page, in its user's frame
        response = error_page(visit, error)
    if session is None and cookies.VISITOR_COOKIE not in request.cookies:
        cookies.put(response, cookies.VISITOR_COOKIE, visit.cookies[cookies.VISITOR_COOKIE], secure=visit.is_secure)
    if session is not None and session.is_old and "set-cookie" not in response.headers:
        # Whoever has just lost the session, or can't have it renewed now, keeps what they have.
        with suppress(WhenthenError):
            put_session(visit, response, runtime.users.renewed_cookie(session))
    return response


def put_session(visit: Visit, response: Response, cookie: str) -> None:
    """Sign the visitor in."""
    cookies.put(response, cookies.SESSION_COOKIE, cookie, secure=visit.is_secure, seconds=VALID_MS // 1000)


def _to_sign_in(visit: Visit, request: Request) -> Response:
    if visit.runtime.users.needs_first_user():
        return visit.redirect(WELCOME)
    if request.method != "GET" or visit.is_fragment:
        return visit.redirect(SIGN_IN)
    return visit.redirect(SIGN_IN) if visit.here == "/" else visit.redirect(f"{SIGN_IN}?next={quote(visit.here)}")


def _check_token(visit: Visit, request: Request) -> None:
    """Refuse a form that is not from a page of ours, for this session.

    Raises
    ------
    HTTPException
        403.
    """
    # Browsers say where a request comes from (W3C Fetch Metadata), and no page can make them say otherwise.
    site = request.headers.get("sec-fetch-site", "same-origin")
    expected = visit.session.csrf if visit.session else cookies.form_token(visit.cookies)
    given = request.headers.get("x-csrf-token") or visit.text("csrf")
    is_ours = hmac.compare_digest(given.encode(errors="replace"), expected.encode())
    if site not in ("same-origin", "none") or not is_ours:
        raise HTTPException(403, language.gettext("This form is too old, or is not from here. Go back and try again."))


def error_page(visit: Visit, error: Exception) -> Response:
    """Return what an error looks like."""
    problem = describe(error)
    title, detail = language.gettext(problem.title), reasons.translated(problem.detail)
    if isinstance(error, HTTPException) and error.detail == HTTPStatus(error.status_code).phrase:
        # The router says no more than the status.
        detail = language.gettext("There is no such page.")
    try:
        response = visit.page("error.html", status=problem.status, title=title, detail=detail)
    except Exception:  # noqa: BLE001 - the page needs the database for the owner's zone
        visit.session = None
        response = visit.page("error.html", status=problem.status, title=title, detail=detail)
    for name in ("Retry-After", "Allow"):
        if name in problem.headers:
            response.headers[name] = problem.headers[name]
    return response
