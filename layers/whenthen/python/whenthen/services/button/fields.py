"""Fields of the button service."""

from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from whenthen.services.contract import Fields


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("must not hold control characters")
    return text


class PressedFields(Fields):
    """Which button."""

    label: Annotated[
        str,
        StringConstraints(min_length=1, max_length=100, strip_whitespace=True),
        AfterValidator(_printable),
        Field(
            title="Label",
            description="What the button says. Who has the link reads it. A new label needs new links.",
        ),
    ]
