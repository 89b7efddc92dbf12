"""What a partner's answers mean for actions and queries (PROTOCOLS.md 3, B.4)."""

from collections.abc import Mapping, Sequence
from typing import Any

from whenthen.model.exact_json import write_exact
from whenthen.model.values import without_surrogates
from whenthen.net.messages import Answer
from whenthen.services.answers import json_object, read_status
from whenthen.services.partner.access import Access
from whenthen.services.partner.answers import read_json
from whenthen.services.partner.failures import said_in
from whenthen.services.work import Meaning, Reading, Row

_SKIP = "SKIP"


def read_partner(access: Access, answer: Answer) -> Reading:
    """Return what an answer means. Errors count whatever the status is (F20).

    Parameters
    ----------
    access:
        Its secrets do not get into the words.
    """
    reading = read_status(answer, said_in(answer.body, access))
    errors = json_object(answer).get("errors")
    if reading.meaning is Meaning.SUCCEEDED and errors:
        return Reading(Meaning.FAILED, f"The partner says: {said_in(answer.body, access) or 'something went wrong'}")
    return reading


def read_action(access: Access, answer: Answer) -> Reading:
    """Return what an answer to an action means; SKIP says that the event will never work. Else as `read_partner`."""
    errors = json_object(answer).get("errors")
    first = errors[0] if isinstance(errors, list) and errors else None
    if answer.status == 400 and isinstance(first, dict) and first.get("status") == _SKIP:
        return Reading(
            Meaning.SKIPPED, f"The partner skipped it: {said_in(answer.body, access) or 'it does not say why'}"
        )
    return read_partner(access, answer)


def read_rows(access: Access, answer: Answer) -> Sequence[Row] | Reading:
    """Return the rows of an answer to a query: their members as texts, and all of a row as JSON."""
    reading = read_partner(access, answer)
    if reading.meaning is not Meaning.SUCCEEDED:
        return reading
    if answer.truncated:
        return Reading(Meaning.FAILED, "The partner's answer is too long: ask for fewer rows.")
    try:
        document = read_json(answer.body)
    except (ValueError, RecursionError):
        document = None
    rows = document.get("data") if isinstance(document, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return Reading(Meaning.FAILED, 'The partner\'s answer has no list of rows, which is called "data".')
    try:
        return [_row(row) for row in rows]
    except RecursionError:
        return Reading(Meaning.FAILED, "The partner's answer is nested too deeply.")


def _row(row: Mapping[str, Any]) -> Row:
    members = {name: value if isinstance(value, str) else _json(value) for name, value in row.items()}
    return {**{name: without_surrogates(str(value)) for name, value in members.items()}, "RowJson": _json(row)}


def _json(value: Any) -> str:
    return without_surrogates(write_exact(value, (", ", ": ")))
