"""Fields of the web service."""

from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from whenthen.services.checking import PolledFields

MAX_EXPRESSION_CHARACTERS = 1000
MAX_SELECTOR_CHARACTERS = 500
MAX_SELECTOR_BRACKETS = 10

type Operator = Literal["equals", "not_equals", "greater_than", "less_than", "contains"]


def _web_address(url: str) -> str:
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError as error:
        raise ValueError("must be a web address, such as https://example.org/data.json") from error
    if parts.scheme not in ("http", "https") or not host:
        raise ValueError("must be a web address that begins with http:// or https://")
    if parts.username is not None or parts.password is not None:
        raise ValueError("must not hold a user name or password")
    return url


def _expression(text: str) -> str:
    # Imported where it is needed: the catalogue of all services is a part of each cold start.
    from whenthen.services.web.expressions import check_expression

    check_expression(text)
    return text


def _selector(text: str) -> str:
    if not text:
        return text
    # Brackets within brackets are what costs most: each may look at the whole page again.
    if text.count("(") > MAX_SELECTOR_BRACKETS:
        raise ValueError(f"must not have more than {MAX_SELECTOR_BRACKETS} brackets")
    from whenthen.services.web.selectors import check_selector

    check_selector(text)
    return text


class WebFields(PolledFields):
    """A document on the web."""

    url: Annotated[
        str,
        StringConstraints(min_length=1, max_length=2048, strip_whitespace=True),
        AfterValidator(_web_address),
        Field(title="URL", description="The address to read, with http:// or https://."),
    ]

    def source(self) -> str:
        """See `PolledFields.source`."""
        return self.url


class JsonValueFields(WebFields):
    """A value in a JSON document."""

    expression: Annotated[
        str,
        StringConstraints(min_length=1, max_length=MAX_EXPRESSION_CHARACTERS, strip_whitespace=True),
        AfterValidator(_expression),
        Field(
            title="Expression",
            description="JMESPath: where the value is in the document, for example main.temp or items[0].price.",
        ),
    ]


class JsonConditionFields(JsonValueFields):
    """A condition that a value in a JSON document meets or does not meet."""

    operator: Annotated[
        Operator,
        Field(
            title="Condition",
            description="How the value is compared. A text or list contains regardless of upper and lower case.",
        ),
    ]
    value: Annotated[
        str,
        StringConstraints(max_length=1000),
        Field(title="Compared with", description="A number, a text, true or false."),
    ]

    @model_validator(mode="after")
    def _comparable(self) -> Self:
        from whenthen.services.web.numbers import number_in

        if self.operator in ("greater_than", "less_than") and number_in(self.value) is None:
            raise ValueError("value must be a number to be more or less than")
        return self


class PageFields(WebFields):
    """The text of a web page or of a part of it."""

    selector: Annotated[
        str,
        StringConstraints(max_length=MAX_SELECTOR_CHARACTERS, strip_whitespace=True),
        AfterValidator(_selector),
        Field(
            title="Part of the page",
            description="A CSS selector such as #prices or main h2; the whole page when left out.",
        ),
    ] = ""
