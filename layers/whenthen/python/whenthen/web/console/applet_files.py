"""Applets as files: taking them along, and bringing them back."""

import json
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from starlette.datastructures import UploadFile
from starlette.responses import Response

from whenthen.clock import now_ms, to_datetime
from whenthen.engine.applets import parse
from whenthen.engine.exporting import export_applets
from whenthen.engine.importing import MAX_APPLETS, import_applets
from whenthen.errors import FieldError, FieldErrors, TooLarge
from whenthen.model.applet import Applet
from whenthen.model.values import compact_json
from whenthen.web.console import reasons
from whenthen.web.console.applet_words import problems
from whenthen.web.console.language import gettext as _
from whenthen.web.console.mistakes import worded
from whenthen.web.console.rendering import HEADERS
from whenthen.web.console.visit import Visit

_PATH = re.compile(r"applets\.([0-9]+)\.(.+)")


@dataclass(frozen=True, slots=True)
class Told:
    """What is to be told of an applet of a file: its place in it from 1, its name, words."""

    number: int
    name: str
    words: list[str]


def show_export(visit: Visit) -> Response:
    """All applets as a file, or the one of the query."""
    applet_id = visit.query.get("applet", "")
    document = export_applets(visit.runtime.database, visit.owner, applet_id)
    day = to_datetime(now_ms()).strftime("%Y-%m-%d")
    name = f"whenthen-applet-{day}.json" if applet_id else f"whenthen-applets-{day}.json"
    return Response(
        json.dumps(document, ensure_ascii=False, indent=2),
        headers={**HEADERS, "Content-Disposition": f'attachment; filename="{name}"'},
        media_type="application/json",
    )


def show_import(visit: Visit) -> Response:
    """The form."""
    return _form(visit)


def take_import(visit: Visit) -> Response:
    """Stores the applets of a file or of a text, all or none, and says what is left to do."""
    try:
        document = _document(visit)
        made = import_applets(
            visit.runtime.database, visit.owner, document, key=visit.text("once"), checks=visit.runtime.checks
        )
    except FieldErrors as error:
        return _form(visit, told=_told(document, error.errors), status=422)
    except ValidationError as error:
        return _form(visit, wrong=_wrong(error), status=422)
    except FieldError as error:
        return _form(visit, wrong=reasons.translated(error.message), status=422)
    except TooLarge as error:
        return _form(visit, wrong=reasons.translated(str(error)), status=413)
    rows = [(row.applet_id, parse(row).name) for row in made.rows]
    return visit.page("applets/imported.html", rows=rows, told=_told(document, made.notes))


def _form(visit: Visit, *, wrong: str = "", told: Sequence[Told] = (), status: int = 200) -> Response:
    return visit.page(
        "applets/import.html",
        status=status,
        text=visit.text("text"),
        # The same form sent twice stores once.
        once=visit.text("once") or secrets.token_hex(8),
        wrong=wrong,
        told=told,
        most=MAX_APPLETS,
    )


def _document(visit: Visit) -> dict[str, Any]:
    """Return what was uploaded, or else what was pasted.

    Raises
    ------
    FieldError
        It is neither, or no JSON.
    """
    upload = visit.form.get("file")
    content = upload.file.read() if isinstance(upload, UploadFile) and upload.filename else b""
    text = content.decode("utf-8-sig", "replace") if content else visit.text("text")
    if not text.strip():
        raise FieldError("file", _("Choose a file, or paste its text."))
    try:
        # As JSON has it: what Python reads may hold numbers that are none, and halves of characters.
        document = json.loads(compact_json(json.loads(text)))
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise FieldError("file", _("This is not a file that whenthen has exported."))
    return document


def _wrong(error: ValidationError) -> str:
    if any(item["loc"] == ("applets",) and item["type"] == "too_long" for item in error.errors()):
        return _("There are more than %(most)d applets in the file.") % {"most": MAX_APPLETS}
    return _("This is not a file that whenthen has exported.")


def _told(document: dict[str, Any], errors: Sequence[FieldError]) -> list[Told]:
    """Return what is told of the document's applets, by applet."""
    found: dict[int, list[FieldError]] = {}
    for error in errors:
        if match := _PATH.fullmatch(error.field):
            found.setdefault(int(match[1]), []).append(FieldError(match[2], error.message))
    return [_told_of(index, document["applets"][index], found[index]) for index in sorted(found)]


def _told_of(index: int, document: dict[str, Any], errors: list[FieldError]) -> Told:
    name = str(document.get("name", ""))
    try:
        applet = Applet.model_validate({key: value for key, value in document.items() if key != "id"})
    except ValidationError:
        return Told(index + 1, name, [f"{error.field}: {worded(error.message)}" for error in errors])
    return Told(index + 1, name, problems(applet, FieldErrors(errors)))
