"""The owner's settings and password."""

from collections.abc import Mapping

from starlette.responses import Response

from whenthen.engine.users.errors import SignInThrottled
from whenthen.errors import FieldError
from whenthen.services.zones import list_zones
from whenthen.store.retentions import MAX_PAYLOAD_DAYS, find_payload_days
from whenthen.web.account_routes import Profile, save_profile
from whenthen.web.console.language import gettext as _
from whenthen.web.console.mistakes import MISTAKES, by_path, summary
from whenthen.web.console.passwords import password_in, throttled, words_for
from whenthen.web.console.serving import put_session
from whenthen.web.console.visit import Visit

_MAX_DIGITS = 9


def show_settings(visit: Visit) -> Response:
    """The settings."""
    return _settings(visit, {})


def take_settings(visit: Visit) -> Response:
    """Stores time zone and days."""
    try:
        profile = Profile(zone=visit.text("zone"), payload_days=_days(visit.text("payload_days")))
    except MISTAKES as error:
        return _settings(visit, by_path(error), status=422)
    save_profile(visit.runtime.database, visit.owner, profile)
    return visit.redirect("/settings", saved="profile")


def take_password(visit: Visit) -> Response:
    """Gives the user another password; other browsers have to sign in again."""
    assert visit.session is not None  # noqa: S101 - the page is for who is signed in
    current, new = password_in(visit, "current"), password_in(visit, "password")
    try:
        if new != password_in(visit, "repeated"):
            raise FieldError("repeated", _("The two passwords are not the same."))
        user = visit.runtime.users.change_password(visit.session.user, current, new, address=visit.client)
    except FieldError as error:
        return _settings(visit, by_path(error), status=422)
    except SignInThrottled as error:
        return throttled(_settings(visit, {"current": words_for(error)}, status=429), error)
    response = visit.redirect("/settings", saved="password")
    put_session(visit, response, visit.runtime.users.session_cookie(user))
    return response


def _settings(visit: Visit, errors: Mapping[str, str], *, status: int = 200) -> Response:
    labels = {
        "zone": _("Time zone"),
        "payload_days": _("Days to keep what was sent"),
        "current": _("Password now"),
        "password": _("New password"),
        "repeated": _("New password again"),
    }
    is_typed = "zone" in visit.form
    return visit.page(
        "settings/settings.html",
        status=status,
        errors=errors,
        mistakes=summary(errors, labels),
        labels=labels,
        zones=list_zones(),
        shown_zone=visit.text("zone") if is_typed else visit.zone,
        days=visit.text("payload_days") if is_typed else find_payload_days(visit.runtime.database, visit.owner),
        max_days=MAX_PAYLOAD_DAYS,
        saved=visit.query.get("saved", ""),
    )


def _days(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > _MAX_DIGITS:
        raise FieldError("payload_days", _("must be a number"))
    return int(text)
