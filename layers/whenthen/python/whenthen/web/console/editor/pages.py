"""The pages of the applet editor."""

from collections.abc import Mapping

from starlette.responses import Response

from whenthen.engine import applets
from whenthen.engine.drafts import Draft as Looked
from whenthen.engine.drafts import read_draft
from whenthen.errors import FieldError, FieldErrors, Stale
from whenthen.model.applet import Applet
from whenthen.store.applets import AppletRow
from whenthen.web.console.applet_templates import APPLET_TEMPLATES
from whenthen.web.console.editor import saving
from whenthen.web.console.editor.changes import change
from whenthen.web.console.editor.draft import Draft, Part, find_item
from whenthen.web.console.editor.reading import read_form
from whenthen.web.console.editor.showing import Turn, show
from whenthen.web.console.language import gettext as _
from whenthen.web.console.visit import Visit


def show_new(visit: Visit) -> Response:
    """A new applet: empty, of a template, or with a trigger."""
    draft = _begun(visit.query)
    return show(visit, draft, _looked(visit, draft), Turn(token=saving.new_token()))


def take_new(visit: Visit) -> Response:
    """Changes the draft of a new applet, or makes it."""
    draft = read_form(visit.form)
    turn = Turn.of_form(visit)
    if turn.operation != "save":
        return _changed(visit, draft, turn)
    looked = _looked(visit, draft)
    if looked.applet is None:
        return _refused(visit, draft, looked, turn)
    try:
        row = saving.make(visit, looked.applet, turn.token)
    except saving.MadeAlready as made:
        turn.become_edit_of(made.row)
        turn.notice = _("This applet was made already. Save again to change it to what is here.")
        return show(visit, draft, looked, turn, status=422)
    except (FieldError, FieldErrors) as error:
        return _refused(visit, draft, looked, turn, error)
    return visit.redirect(f"/applets/{row.applet_id}", made="1")


def show_edit(visit: Visit) -> Response:
    """A stored applet."""
    row = applets.get(visit.runtime.database, visit.owner, visit.path["id"])
    stored = applets.parse(row)
    draft = Draft.of_json(applets.definition_json(stored))
    turn = Turn()
    turn.become_edit_of(row)
    return show(visit, draft, _looked(visit, draft, stored), turn)


def take_edit(visit: Visit) -> Response:
    """Changes the draft of a stored applet, or saves it."""
    row = applets.get(visit.runtime.database, visit.owner, visit.path["id"])
    stored = applets.parse(row)
    draft = read_form(visit.form)
    saving.keep_secrets(draft.trigger, stored)
    turn = Turn.of_form(visit)
    turn.applet_id = row.applet_id
    if turn.operation != "save":
        return _changed(visit, draft, turn, stored)
    looked = _looked(visit, draft, stored)
    if looked.applet is None:
        return _refused(visit, draft, looked, turn)
    try:
        _update(visit, row, looked.applet, turn.version)
    except Stale:
        row = applets.get(visit.runtime.database, visit.owner, row.applet_id)
        if applets.parse(row) == looked.applet:
            # A second click, or a first one whose answer was lost.
            return visit.redirect(f"/applets/{row.applet_id}")
        turn.become_edit_of(row)
        turn.is_stale = True
        return show(visit, draft, looked, turn, status=422)
    except (FieldError, FieldErrors) as error:
        return _refused(visit, draft, looked, turn, error)
    return visit.redirect(f"/applets/{row.applet_id}")


def _update(visit: Visit, row: AppletRow, applet: Applet, version: str) -> None:
    runtime = visit.runtime
    # A form without its version has seen none.
    seen = int(version) if version.isascii() and version.isdigit() and len(version) < 16 else 0
    applets.update(runtime.database, visit.owner, row.applet_id, applet, seen_version=seen, checks=runtime.checks)


def _begun(query: Mapping[str, str]) -> Draft:
    template = APPLET_TEMPLATES.get(query.get("template", ""))
    if template is not None:
        document = template.draft()
        return Draft.of_json({**document, "name": document.get("name") or _(template.name)})
    draft = Draft()
    service, trigger = query.get("service", ""), query.get("trigger", "")
    if find_item("trigger", service, trigger) is not None:
        draft.trigger = Part("trigger", service, trigger)
    elif service:
        change(draft, f"service.trigger.{service}")
    return draft


def _changed(visit: Visit, draft: Draft, turn: Turn, stored: Applet | None = None) -> Response:
    before = (draft.trigger.service, draft.trigger.slug)
    turn.focus = change(draft, turn.operation)
    if before != (draft.trigger.service, draft.trigger.slug):
        turn.samples = {}
    return show(visit, draft, _looked(visit, draft, stored), turn)


def _refused(
    visit: Visit, draft: Draft, looked: Looked, turn: Turn, error: FieldError | FieldErrors | None = None
) -> Response:
    turn.was_tried = True
    turn.focus = "problems"
    further = () if error is None else error.errors if isinstance(error, FieldErrors) else (error,)
    return show(visit, draft, looked, turn, further=further, status=422)


def _looked(visit: Visit, draft: Draft, stored: Applet | None = None) -> Looked:
    known = stored.trigger if stored is not None else None
    return read_draft(visit.runtime.database, visit.owner, draft.to_json(), known=known)
