"""Fields of the Todoist service."""

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from whenthen.model.encoding import Encoding
from whenthen.services.contract import Fields, unless_templated
from whenthen.services.texts import FilledText, Text

MAX_CONTENT_CHARACTERS = 500
MAX_DESCRIPTION_CHARACTERS = 16_383
MAX_LABEL_CHARACTERS = 60

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)


def check_project(text: str) -> str:
    """Return a project's id, which is opaque text, or empty text.

    Raises
    ------
    ValueError
        It is no id.
    """
    if text and not _ID.fullmatch(text):
        raise ValueError("must be the project's ID, the last part of its address, such as 6Jf8VQXxpwv56VQ7")
    return text


_Label = Annotated[str, StringConstraints(max_length=512, pattern=r"^[^\x00]*$", strip_whitespace=True)]


class CreateTaskFields(Fields):
    """The task to make."""

    content: Annotated[FilledText, Field(title="Task", description="Cut after 500 characters.")]
    description: Annotated[Text, Field(title="Description", description="Cut after 16,383 characters.")] = ""
    due: Annotated[
        str,
        StringConstraints(max_length=512, strip_whitespace=True),
        Field(
            title="Due",
            description="As you would say it, such as tomorrow at 10:00 or every Monday, or a date as 2026-12-24.",
        ),
    ] = ""
    priority: Annotated[
        Literal["p1", "p2", "p3", "p4"],
        Field(title="Priority", description="As Todoist shows it: p1 is the most urgent, p4 is none."),
    ] = "p4"
    labels: Annotated[
        tuple[_Label, ...],
        Field(title="Labels", description="Their names, without @.", max_length=100),
    ] = ()
    project: Annotated[
        str,
        StringConstraints(max_length=512, strip_whitespace=True),
        unless_templated(check_project),
        Field(title="Project", description="Its ID, the last part of its address; empty for the inbox."),
    ] = ""

    def encodings(self) -> Mapping[str, Encoding]:
        """See `Fields.encodings`. A name after an @ in the task would become a label."""
        return {"content": Encoding.NO_MENTIONS}
