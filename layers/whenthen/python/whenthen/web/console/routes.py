"""The addresses of all pages."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from whenthen.web.console import (
    activity_pages,
    applet_files,
    applet_page,
    applet_pages,
    applet_trial,
    dashboard_pages,
    execution_pages,
    inbox_pages,
    key_pages,
    service_pages,
    settings_pages,
    static_files,
    table_pages,
    user_pages,
)
from whenthen.web.console import connection_pages as connections
from whenthen.web.console import sign_in_pages as sign_in
from whenthen.web.console.editor import pages as editor
from whenthen.web.console.rendering import HEADERS
from whenthen.web.console.serving import SIGN_IN, WELCOME, endpoint
from whenthen.web.console.visit import Page, Visit
from whenthen.wiring import Runtime

_FOR_EVERYBODY: tuple[tuple[str, str, Page], ...] = (
    ("GET", WELCOME, sign_in.show_welcome),
    ("POST", WELCOME, sign_in.take_welcome),
    ("GET", SIGN_IN, sign_in.show_sign_in),
    ("POST", SIGN_IN, sign_in.take_sign_in),
    ("POST", "/sign-out", sign_in.take_sign_out),
    ("GET", "/invitations/{token}", sign_in.show_invitation),
    ("POST", "/invitations/{token}", sign_in.take_invitation),
    ("POST", "/preferences", sign_in.take_preferences),
)

_PAGES: tuple[tuple[str, str, Page], ...] = (
    # Applets
    ("GET", "/applets", applet_pages.show_list),
    ("GET", "/applets/templates", applet_pages.show_templates),
    ("GET", "/applets/export", applet_files.show_export),
    ("GET", "/applets/import", applet_files.show_import),
    ("POST", "/applets/import", applet_files.take_import),
    # The editor
    ("GET", "/applets/new", editor.show_new),
    ("POST", "/applets/new", editor.take_new),
    ("GET", "/applets/{id}/edit", editor.show_edit),
    ("POST", "/applets/{id}/edit", editor.take_edit),
    # Activity, dashboard
    ("GET", activity_pages.PATH, activity_pages.show_list),
    ("GET", "/activity/applets", activity_pages.show_applets),
    ("GET", "/activity/{execution_id:path}", execution_pages.show),
    ("POST", "/activity/{execution_id:path}", execution_pages.take_rerun),
    ("GET", dashboard_pages.PATH, dashboard_pages.show),
    # Services, connections
    ("GET", "/services", service_pages.show_list),
    ("GET", "/services/{slug}", service_pages.show_service),
    ("GET", "/connections", connections.show_list),
    ("GET", "/connections/new", connections.show_new),
    ("POST", "/connections/new", connections.take_new),
    ("GET", "/connections/{id}", connections.show_connection),
    ("POST", "/connections/{id}", connections.take_connection),
    ("POST", "/connections/{id}/test", connections.take_test),
    ("POST", "/connections/{id}/authorize", connections.take_authorize),
    ("POST", "/connections/{id}/delete", connections.take_deletion),
    ("POST", "/connections/{id}/link", connections.take_link),
    # Inbox, settings, users, tables
    ("GET", "/inbox", inbox_pages.show_inbox),
    ("GET", "/settings", settings_pages.show_settings),
    ("POST", "/settings", settings_pages.take_settings),
    ("POST", "/settings/password", settings_pages.take_password),
    ("GET", "/settings/keys", key_pages.show_keys),
    ("POST", "/settings/keys", key_pages.take_key),
    ("POST", "/settings/keys/{id}/revoke", key_pages.take_revocation),
    ("GET", "/settings/users", user_pages.show_users),
    ("POST", "/settings/users", user_pages.take_invitation),
    ("POST", "/settings/users/disable", user_pages.take_disabling),
    ("POST", "/settings/users/enable", user_pages.take_enabling),
    ("GET", "/tables", table_pages.show_list),
    ("GET", "/tables/{name}", table_pages.show_table),
    ("GET", "/tables/{name}/csv", table_pages.download_table),
    ("POST", "/tables/{name}/delete", table_pages.take_deletion),
    # An applet: after what else is below /applets
    ("GET", "/applets/{id}", applet_page.show_applet),
    ("GET", "/applets/{id}/recent", applet_page.show_recent),
    ("GET", "/applets/{id}/numbers", applet_page.show_numbers),
    ("POST", "/applets/{id}/check", applet_page.take_check),
    ("POST", "/applets/{id}/key", applet_page.take_key),
    ("POST", "/applets/{id}/switch", applet_pages.take_switch),
    ("POST", "/applets/{id}/duplicate", applet_pages.take_duplicate),
    ("POST", "/applets/{id}/delete", applet_pages.take_delete),
    ("POST", "/applets/{id}/restore", applet_pages.take_restore),
    ("GET", "/applets/{id}/try", applet_trial.show_trial),
    ("POST", "/applets/{id}/try", applet_trial.take_trial),
)


def _show_above(visit: Visit) -> Response:
    """Where forms are sent only: who loads such an address again comes to the page above."""
    return RedirectResponse(visit.address.rpartition("/")[0] or "/", 303, HEADERS)


async def _home(_request: Request) -> Response:
    return RedirectResponse("/applets", 303)


def routes(runtime: Runtime) -> list[Route]:
    """Return the pages' routes, one a path."""
    found = [Route("/", _home, methods=["GET"]), static_files.route()]
    for table, for_everybody in ((_FOR_EVERYBODY, True), (_PAGES, False)):
        pages: dict[str, dict[str, Page]] = {}
        for method, path, page in table:
            pages.setdefault(path, {})[method] = page
        for path, methods in pages.items():
            above = path.rpartition("/")[0]
            if not above or "GET" in pages.get(above, {}):
                methods.setdefault("GET", _show_above)
        found += [
            Route(path, endpoint(runtime, methods, for_everybody=for_everybody), methods=list(methods))
            for path, methods in pages.items()
        ]
    return found
