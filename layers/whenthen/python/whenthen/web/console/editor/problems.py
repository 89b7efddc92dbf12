"""What is wrong with a draft, in the places of the page."""

from collections.abc import Iterable
from typing import Any

from whenthen.errors import FieldError, FieldErrors
from whenthen.web.console import reasons
from whenthen.web.console.editor.draft import Draft
from whenthen.web.console.language import gettext as _
from whenthen.web.console.mistakes import by_path


def placed(draft: Draft, problems: Iterable[FieldError], *, all_of_them: bool) -> dict[str, str]:
    """Return the first problem of each field, by path.

    Parameters
    ----------
    all_of_them:
        Also what is only missing: who is still writing is not told about fields that are yet to come.
    """
    unchosen = {path: part for path, part in draft.parts().items() if part.item is None}
    errors: dict[str, str] = {}
    if all_of_them:
        errors = {path: _MISSING[part.kind]() for path, part in unchosen.items() if not part.slug}
    document = draft.to_json()
    for path, message in by_path(FieldErrors(list(problems))).items():
        # Of the list its model complains, too, when something in it is wrong.
        if path in ("queries", "actions") or any(_is_below(path, part) for part in errors if part in unchosen):
            continue
        if all_of_them or _value(document, path) not in (None, "", [], {}):
            errors.setdefault(path, message)
    return errors


def warnings_below(path: str, warnings: Iterable[FieldError]) -> list[str]:
    """Return what may be slips in a part, or in the filter."""
    return [reasons.translated(warning.message) for warning in warnings if _is_below(warning.field, path)]


def _is_below(field: str, path: str) -> bool:
    return field == path or field.startswith(f"{path}.")


def _value(document: Any, path: str) -> Any:
    """The value at a path; the path of what is no value, such as two fields at once, counts as one."""
    value = document
    for step in path.split("."):
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


_MISSING = {
    "trigger": lambda: _("Choose what starts the applet."),
    "query": lambda: _("Choose what to ask, or remove this."),
    "action": lambda: _("Choose what to do."),
}
