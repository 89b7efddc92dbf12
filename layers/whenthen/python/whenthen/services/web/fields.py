"""Fields of the web service."""

from typing import Annotated, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from whenthen.services.addresses import web_address
from whenthen.services.checking import PolledFields
from whenthen.services.web.conditions import Operator, number_in

MAX_EXPRESSION_CHARACTERS = 1000
MAX_SELECTOR_CHARACTERS = 500


def _expression(text: str) -> str:
    # Imported where it is needed: the catalogue of all services is a part of each cold start.
    import jmespath
    from jmespath.exceptions import ParseError

    try:
        jmespath.compile(text)
    except ParseError as error:
        place = (error.lex_position or 0) + 1
        raise ValueError(f"must be a JMESPath expression; it can't be read from character {place} on") from error
    except RecursionError as error:
        raise ValueError("must not be nested so deeply") from error
    return text


def _selector(text: str) -> str:
    if text:
        import soupsieve

        try:
            soupsieve.compile(text)
        except (soupsieve.SelectorSyntaxError, ValueError, RecursionError) as error:
            reason = str(error).partition("\n")[0][:200]
            raise ValueError(f"must be a CSS selector, such as #prices or main h2: {reason}") from error
    return text


class WebFields(PolledFields):
    """A document on the web."""

    url: Annotated[
        str,
        StringConstraints(min_length=1, max_length=2048, strip_whitespace=True),
        AfterValidator(web_address),
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
