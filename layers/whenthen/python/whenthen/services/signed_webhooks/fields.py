"""Fields of the signed webhooks service."""

from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from whenthen.services.contract import Fields


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("must not hold control characters")
    return text


class ReceivedFields(Fields):
    """Which events to listen for."""

    event_type: Annotated[
        str,
        StringConstraints(max_length=128, strip_whitespace=True),
        AfterValidator(_printable),
        Field(
            title="Type of event",
            description="As the sender names it, for example push, invoice.paid or orders/create. Empty for all.",
        ),
    ] = ""
