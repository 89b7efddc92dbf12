"""What is wrong with a form that was sent, for its fields and for the summary above them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from whenthen.errors import FieldError, FieldErrors
from whenthen.web.console import reasons
from whenthen.web.console.field_forms import FormField
from whenthen.web.console.plain_words import plain
from whenthen.web.problems import describe

MISTAKES = (FieldError, FieldErrors, ValidationError)
"""What the engine raises for what people have typed."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """A line of the summary. `anchor` is the id of the field, empty when it is none in particular."""

    anchor: str
    label: str
    message: str


def by_path(error: Exception) -> dict[str, str]:
    """Return what is wrong by the path of the field, in words, of one of `MISTAKES`."""
    return {item["field"]: worded(item["message"]) for item in describe(error).errors}


def worded(message: str) -> str:
    """Return what is wrong with a field in the page's language; pydantic's words are those of a programmer."""
    return plain(message) or reasons.translated(message)


def summary(errors: Mapping[str, str], labels: Mapping[str, str], fields: Iterable[FormField] = ()) -> list[Mistake]:
    """Return the lines of the summary.

    Parameters
    ----------
    errors:
        See `by_path`.
    labels:
        Of the form's own fields, by path, which is their id, too.
    fields:
        Those of a model.
    """
    known = [(item.name, item.id, item.label) for item in fields]
    known += [(path, path, label) for path, label in labels.items()]
    found = []
    for path, message in errors.items():
        anchor, label = next(
            ((anchor, label) for name, anchor, label in known if path == name or path.startswith(f"{name}.")), ("", "")
        )
        found.append(Mistake(anchor, label, message))
    return found
