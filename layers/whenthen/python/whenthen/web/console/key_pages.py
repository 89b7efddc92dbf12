"""The owner's keys, for programs that use the API or send webhooks."""

from collections.abc import Mapping
from typing import get_args

from starlette.responses import Response

from whenthen.engine import keys
from whenthen.store.keys import Key, KeyKind, list_keys
from whenthen.web.account_routes import NewKey, make_key
from whenthen.web.console.language import gettext as _
from whenthen.web.console.mistakes import MISTAKES, by_path, summary
from whenthen.web.console.visit import Visit


def show_keys(visit: Visit) -> Response:
    """The keys, without the keys themselves."""
    return _keys(visit, {})


def take_key(visit: Visit) -> Response:
    """Makes a key. The answer to the form itself shows it, this once."""
    try:
        wanted = NewKey.model_validate(
            {
                "kind": visit.text("kind"),
                "name": visit.text("name"),
                "delivery_id_header": visit.text("delivery_id_header") or None,
            }
        )
        made = make_key(visit.runtime.database, visit.owner, wanted)
    except MISTAKES as error:
        return _keys(visit, by_path(error), status=422)
    return _keys(visit, {}, made=made)


def take_revocation(visit: Visit) -> Response:
    """Revokes a key."""
    keys.revoke(visit.runtime.database, visit.owner, visit.path["id"])
    return visit.redirect("/settings/keys", revoked="1")


def _keys(
    visit: Visit, errors: Mapping[str, str], *, made: tuple[Key, str] | None = None, status: int = 200
) -> Response:
    labels = {
        "kind": _("What it is for"),
        "name": _("Name"),
        "delivery_id_header": _("Header with the delivery's id"),
    }
    return visit.page(
        "settings/keys.html",
        status=status,
        errors=errors,
        mistakes=summary(errors, labels),
        labels=labels,
        keys=list_keys(visit.runtime.database, visit.owner)[::-1],
        kinds=get_args(KeyKind.__value__),
        form={} if made else visit.form,
        made=made,
        base_url=visit.base_url,
        is_revoked="revoked" in visit.query,
    )
