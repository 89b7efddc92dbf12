"""Users of the console, for administrators."""

from starlette.responses import Response

from whenthen.engine.users.names import user_key
from whenthen.engine.users.user import User
from whenthen.errors import FieldError, NotFound
from whenthen.web.console.language import gettext as _
from whenthen.web.console.mistakes import by_path, summary
from whenthen.web.console.visit import Visit


def show_users(visit: Visit) -> Response:
    """All users."""
    return _users(visit, _admin(visit))


def take_invitation(visit: Visit) -> Response:
    """Invites somebody, or lets a user choose a new password. The answer to the form itself shows the link."""
    admin = _admin(visit)
    name = visit.text("name")
    try:
        if not visit.text("again"):
            _check_new(visit, name)
        token = visit.runtime.users.invite(admin, name)
    except FieldError as error:
        return _users(visit, admin, errors=by_path(error), status=422)
    return _users(visit, admin, invited=name, link=f"{visit.base_url}/invitations/{token}")


def _check_new(visit: Visit, name: str) -> None:
    """Whoever invites somebody new must not hand out the password of a user who is called the same.

    Raises
    ------
    FieldError
        There is such a user.
    """
    key = user_key(name)
    if any(user.user_key == key and user.has_password for user in visit.runtime.users.list_users()):
        raise FieldError(
            "name", _("There is a user of this name already. For a new password use the button beside it.")
        )


def take_disabling(visit: Visit) -> Response:
    """Keeps a user out."""
    return _set_disabled(visit, disabled=True)


def take_enabling(visit: Visit) -> Response:
    """Lets a user in again."""
    return _set_disabled(visit, disabled=False)


def _set_disabled(visit: Visit, *, disabled: bool) -> Response:
    admin = _admin(visit)
    try:
        visit.runtime.users.set_disabled(admin, visit.text("name"), disabled)
    except FieldError as error:
        return _users(visit, admin, errors=by_path(error), status=422)
    return visit.redirect("/settings/users", saved="1")


def _admin(visit: Visit) -> User:
    """Return the user. For everybody else but an administrator this page is not there."""
    assert visit.session is not None  # noqa: S101 - the page is for who is signed in
    if not visit.session.user.is_admin:
        raise NotFound(_("There is no such page."))
    return visit.session.user


def _users(
    visit: Visit,
    admin: User,
    *,
    errors: dict[str, str] | None = None,
    invited: str = "",
    link: str = "",
    status: int = 200,
) -> Response:
    errors = errors or {}
    return visit.page(
        "settings/users.html",
        status=status,
        users=visit.runtime.users.list_users(),
        own_key=admin.user_key,
        errors=errors,
        mistakes=summary(errors, {"name": _("Name")}),
        typed=visit.text("name") if errors else "",
        invited=invited,
        link=link,
        is_saved="saved" in visit.query,
    )
