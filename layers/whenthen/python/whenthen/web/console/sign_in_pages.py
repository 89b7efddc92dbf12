"""First run, signing in and out, invitations."""

import ipaddress

from starlette.exceptions import HTTPException
from starlette.responses import Response

from whenthen.engine.users.errors import SignInRefused, SignInThrottled
from whenthen.errors import FieldError, Stale
from whenthen.services.zones import list_zones
from whenthen.web.console import cookies, reasons
from whenthen.web.console.language import gettext as _
from whenthen.web.console.passwords import password_in, throttled, words_for
from whenthen.web.console.serving import SIGN_IN, WELCOME, put_session
from whenthen.web.console.visit import Visit

_HOME = "/applets"


def show_welcome(visit: Visit) -> Response:
    """The first run: nobody has an account yet."""
    if not visit.runtime.users.needs_first_user():
        return visit.redirect(SIGN_IN)
    return _welcome(visit, {})


def take_welcome(visit: Visit) -> Response:
    """Makes the first user, who owns what there is, and signs in."""
    if not visit.runtime.users.needs_first_user():
        return visit.redirect(SIGN_IN)
    try:
        password = password_in(visit, "password")
        api_key = None if _is_here(visit) else visit.text("api_key")
        zone = visit.text("zone")
        user = visit.runtime.users.create_first(visit.text("name"), password, zone=zone, api_key=api_key)
    except FieldError as error:
        return _welcome(visit, {error.field: reasons.translated(error.message)}, status=422)
    except Stale:
        return visit.redirect(SIGN_IN)
    response = visit.redirect(_HOME)
    put_session(visit, response, visit.runtime.users.session_cookie(user))
    return response


def _welcome(visit: Visit, errors: dict[str, str], status: int = 200) -> Response:
    return visit.page(
        "welcome.html",
        status=status,
        errors=errors,
        form=visit.form,
        zones=list_zones(),
        needs_key=not _is_here(visit),
    )


def _is_here(visit: Visit) -> bool:
    """Whether the visitor sits at this machine; who comes over a network shows a key that the owner was given."""
    # Behind a proxy of this machine everybody seems to.
    if visit.is_forwarded or visit.runtime.settings.public_url:
        return False
    return _is_loopback(visit.client) and (visit.host == "localhost" or _is_loopback(visit.host))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def show_sign_in(visit: Visit) -> Response:
    """The form to sign in."""
    if visit.runtime.users.needs_first_user():
        return visit.redirect(WELCOME)
    if visit.session is not None:
        return visit.redirect(_HOME)
    return visit.page("sign_in.html", error="", name="", next=_local_path(visit.query.get("next", "")))


def take_sign_in(visit: Visit) -> Response:
    """Signs in."""
    target = _local_path(visit.text("next"))
    try:
        user = visit.runtime.users.sign_in(visit.text("name"), password_in(visit, "password"), address=visit.client)
    except SignInRefused as error:
        return visit.page("sign_in.html", status=401, error=_(str(error)), name=visit.text("name"), next=target)
    except SignInThrottled as error:
        page = visit.page("sign_in.html", status=429, error=words_for(error), name=visit.text("name"), next=target)
        return throttled(page, error)
    response = visit.redirect(target or _HOME)
    put_session(visit, response, visit.runtime.users.session_cookie(user))
    return response


def take_sign_out(visit: Visit) -> Response:
    """Signs out here, or everywhere."""
    if visit.text("everywhere") and visit.session is not None:
        visit.runtime.users.sign_out_everywhere(visit.session.user)
    response = visit.redirect(SIGN_IN)
    cookies.drop(response, cookies.SESSION_COOKIE, secure=visit.is_secure)
    return response


def show_invitation(visit: Visit) -> Response:
    """Somebody was invited, or sets a new password."""
    return _invitation(visit, {})


def take_invitation(visit: Visit) -> Response:
    """Sets the password and signs in."""
    try:
        password = password_in(visit, "password")
        user = visit.runtime.users.accept_invitation(visit.path["token"], password, visit.text("zone"))
    except FieldError as error:
        return _invitation(visit, {error.field: reasons.translated(error.message)}, status=422)
    response = visit.redirect(_HOME)
    put_session(visit, response, visit.runtime.users.session_cookie(user))
    return response


def _invitation(visit: Visit, errors: dict[str, str], status: int = 200) -> Response:
    name = visit.runtime.users.invitation(visit.path["token"])
    if name is None:
        raise HTTPException(404, _("This invitation is not valid any more. Ask for another one."))
    return visit.page("invitation.html", status=status, errors=errors, form=visit.form, zones=list_zones(), name=name)


def take_preferences(visit: Visit) -> Response:
    """Sets language and theme of this browser."""
    response = visit.redirect(_local_path(visit.text("next")) or _HOME)
    for name, cookie in (("language", cookies.LANGUAGE_COOKIE), ("theme", cookies.THEME_COOKIE)):
        if name in visit.form:
            cookies.put(response, cookie, _plain(visit.text(name)), secure=visit.is_secure)
    return response


def _plain(value: str) -> str:
    return value if value.isascii() and value.isalpha() and len(value) < 10 else ""


def _local_path(path: str) -> str:
    """Return a path of ours, or nothing: a link to the sign-in form must not lead away afterwards."""
    is_ours = path.startswith("/") and path[1:2] not in ("/", "\\") and path.isprintable() and "\\" not in path
    return path if is_ours else ""
