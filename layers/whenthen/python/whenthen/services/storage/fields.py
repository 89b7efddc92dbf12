"""Fields of the storage service."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, StringConstraints

from whenthen.model.encoding import Encoding, one_line
from whenthen.services.addresses import web_address
from whenthen.services.contract import Fields, unless_templated
from whenthen.services.texts import Text

MAX_KEY_BYTES = 1024
"""Longest key of an object, bytes of UTF-8 (Amazon S3 User Guide, Naming objects)."""


def check_key(text: str) -> str:
    """Return the key of an object, without slashes at its beginning: they would make folders without a name.

    Raises
    ------
    ValueError
        It is empty or too long, ends like a folder's, or has a part that a path would not keep.
    """
    key = text.strip().lstrip("/")
    if not key or key.endswith("/"):
        raise ValueError("must be the name of a file, such as house/log.csv")
    if len(key.encode()) > MAX_KEY_BYTES:
        raise ValueError(f"must not be longer than {MAX_KEY_BYTES} bytes")
    if any(part in (".", "..") for part in key.split("/")):
        raise ValueError("must not have . or .. between slashes")
    if one_line(key) != key:
        raise ValueError("must not hold control characters")
    return key


class _KeyFields(Fields):
    key: Annotated[
        str,
        StringConstraints(min_length=1, max_length=4096),
        unless_templated(check_key),
        Field(title="File", description="Its name in the bucket, with its folders, such as house/log.csv."),
    ]


class PutTextFields(_KeyFields):
    """The text to store."""

    text: Annotated[Text, Field(title="Text")]
    content_type: Annotated[
        str,
        StringConstraints(max_length=200, pattern=r"^[A-Za-z0-9.+-]+/[A-Za-z0-9.+_-]+$"),
        Field(title="Content type", description="Such as text/plain, text/html or application/json."),
    ] = "text/plain"


class PutFromUrlFields(_KeyFields):
    """The file to fetch and store."""

    url: Annotated[
        str,
        StringConstraints(min_length=1, max_length=8192, strip_whitespace=True),
        unless_templated(web_address),
        Field(title="URL", description="Where the file is now. At most 5 MiB."),
    ]

    def encodings(self) -> Mapping[str, Encoding]:
        """See `Fields.encodings`."""
        return {"url": Encoding.URL}


class AppendLineFields(_KeyFields):
    """The line to append."""

    line: Annotated[Text, Field(title="Line", description="Line breaks within it become spaces.")]


_Cell = Annotated[str, StringConstraints(max_length=32_767, pattern=r"^[^\x00]*$")]


class AppendCsvRowFields(_KeyFields):
    """The row to append."""

    row: Annotated[
        tuple[_Cell, ...],
        Field(
            title="Row",
            description="One text a column. An apostrophe is put before what a spreadsheet would take for a formula.",
            min_length=1,
            max_length=200,
        ),
    ]
    header: Annotated[
        tuple[_Cell, ...], Field(title="Header", description="The first row of a new file.", max_length=200)
    ] = ()
