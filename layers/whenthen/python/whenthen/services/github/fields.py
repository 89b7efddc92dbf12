"""Fields of the GitHub service."""

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from whenthen.model.encoding import Encoding
from whenthen.services.contract import Fields, unless_templated
from whenthen.services.texts import FilledText, Text

MAX_TITLE_CHARACTERS = 256
MAX_BODY_CHARACTERS = 65_536
MAX_LISTED = 30

_REPOSITORY = re.compile(r"[A-Za-z0-9_-]{1,100}/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}", re.ASCII)
_ISSUE = re.compile(r"#?[0-9]{1,18}")


def check_repository(text: str) -> str:
    """Return a repository's full name.

    Raises
    ------
    ValueError
        It is not of the form ``owner/name``.
    """
    if not _REPOSITORY.fullmatch(text):
        raise ValueError("must be a repository as owner/name, such as octocat/hello-world")
    return text


def check_issue(text: str) -> str:
    """Return the digits of an issue's number, which are never counted with: they may be many (case D09).

    Raises
    ------
    ValueError
        It is no number.
    """
    if not _ISSUE.fullmatch(text):
        raise ValueError("must be the number of an issue, such as 42")
    return text.removeprefix("#")


_Repository = Annotated[
    str,
    StringConstraints(min_length=1, max_length=512, strip_whitespace=True),
    unless_templated(check_repository),
]
_Item = Annotated[str, StringConstraints(max_length=256, pattern=r"^[^\x00]*$", strip_whitespace=True)]

_REPOSITORY_FIELD = Field(title="Repository", description="As owner/name, such as octocat/hello-world.")
_BODY_FIELD = Field(
    title="Text",
    description="Markdown. Ingredients are shown as they are: they can't format anything or call on people.",
)
_DETAILS_FIELD = Field(
    title="Details", description="Shown under the text, unchanged, in a block of code: a payload, a log."
)


class CreateIssueFields(Fields):
    """The issue to open."""

    repository: Annotated[_Repository, _REPOSITORY_FIELD]
    title: Annotated[FilledText, Field(title="Title", description="Cut after 256 characters.")]
    body: Annotated[Text, _BODY_FIELD] = ""
    details: Annotated[Text, _DETAILS_FIELD] = ""
    labels: Annotated[tuple[_Item, ...], Field(title="Labels", description="Their names.", max_length=100)] = ()
    assignees: Annotated[
        tuple[_Item, ...],
        Field(title="Assignees", description="Names of at most ten accounts, without @.", max_length=10),
    ] = ()

    def encodings(self) -> Mapping[str, Encoding]:
        """See `Fields.encodings`."""
        return {"title": Encoding.HEADER, "body": Encoding.GITHUB}


class CreateCommentFields(Fields):
    """The comment to write."""

    repository: Annotated[_Repository, _REPOSITORY_FIELD]
    issue: Annotated[
        str,
        StringConstraints(min_length=1, max_length=512, strip_whitespace=True),
        unless_templated(check_issue),
        Field(title="Issue", description="The number of an issue or a pull request."),
    ]
    body: Annotated[FilledText, _BODY_FIELD]
    details: Annotated[Text, _DETAILS_FIELD] = ""

    def encodings(self) -> Mapping[str, Encoding]:
        """See `Fields.encodings`."""
        return {"body": Encoding.GITHUB}


class ListIssuesFields(Fields):
    """Which issues to list."""

    repository: Annotated[_Repository, _REPOSITORY_FIELD]
    state: Annotated[Literal["open", "closed", "all"], Field(title="State")] = "open"
    limit: Annotated[
        int, Field(title="How many", description="At most; pull requests are left out.", ge=1, le=MAX_LISTED)
    ] = 10
