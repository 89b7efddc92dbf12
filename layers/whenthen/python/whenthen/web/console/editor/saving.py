"""Saves a draft: as a new applet once, however often its form comes, or as a new version of a stored one."""

import hashlib
import re
import secrets

from whenthen.engine import applets
from whenthen.model.applet import Applet
from whenthen.services.connecting import secret_names
from whenthen.services.contract import Fields
from whenthen.store.applets import AppletRow, find_applet
from whenthen.web.console.editor.draft import Part
from whenthen.web.console.visit import Visit

_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,64}")
_ID_DIGITS = 16


class MadeAlready(Exception):
    """The form has made an applet before, which is another one than it says now."""

    def __init__(self, row: AppletRow) -> None:
        self.row = row


def new_token() -> str:
    """Return a name for a new draft."""
    return secrets.token_urlsafe(16)


def draft_token(visit: Visit) -> str:
    """Return the draft's name that the form has, or a new one."""
    written = visit.text("draft")
    return written if _TOKEN.fullmatch(written) else new_token()


def make(visit: Visit, applet: Applet, token: str) -> AppletRow:
    """Store a new applet, or return the one that the same form has made already.

    Raises
    ------
    MadeAlready
        The form has changed since.
    FieldError, StoreError
        See `engine.applets.create`.
    """
    # The id comes from the draft, so that of two clicks at the same time one finds what the other has made.
    applet_id = hashlib.sha256(f"{visit.owner} {token}".encode()).hexdigest()[:_ID_DIGITS]
    database = visit.runtime.database
    made = find_applet(database, applet_id)
    if made is None:
        return applets.create(database, visit.owner, applet, checks=visit.runtime.checks, applet_id=applet_id)
    if made.owner_id != visit.owner or made.deleted_at is not None:
        return applets.create(database, visit.owner, applet, checks=visit.runtime.checks)
    if applets.parse(made) != applet:
        raise MadeAlready(made)
    return made


def keep_secrets(part: Part, stored: Applet) -> None:
    """Keep the secrets of a stored trigger that the form leaves empty, unless they would go to another address.

    They are in the trigger's own fields only; those of connections are not in an applet.
    """
    trigger = stored.trigger
    item = part.item
    if item is None or (part.service, part.slug) != (trigger.service, trigger.trigger):
        return
    kept = {name: trigger.fields[name] for name in secret_names(item.fields) if trigger.fields.get(name)}
    if kept and _source(item.fields, {**trigger.fields, **part.fields}) == _source(item.fields, trigger.fields):
        part.stored = {**part.stored, **kept}


def _source(model: type[Fields], fields: dict[str, object]) -> object:
    try:
        read = model.model_validate(fields)
    except ValueError:
        return None
    return getattr(read, "source", lambda: "")()
