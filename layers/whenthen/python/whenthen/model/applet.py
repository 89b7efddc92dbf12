"""The applet as its owner writes it (the JSON of DESIGN.md 6)."""

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

MAX_NAME = 200
"""The most characters of a name."""

MAX_ACTIONS = 10
MAX_QUERIES = 5
MAX_COOL_DOWN_MINUTES = 7 * 24 * 60
DEFAULT_OFF_AFTER_FAILURES = 20
MAX_DELAY_SECONDS = 366 * 24 * 3600

type Slug = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[a-z0-9_]+$")]


def _storable(text: str) -> str:
    if "\x00" in text:
        raise ValueError("must not hold a NUL character")
    return text


type Name = Annotated[
    str, StringConstraints(min_length=1, max_length=MAX_NAME, strip_whitespace=True), AfterValidator(_storable)
]

type ConnectionId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
type IngredientName = Annotated[str, StringConstraints(max_length=64, pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]


class Part(BaseModel):
    """What every part of an applet has: unknown keys are errors, and it does not change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class TriggerRef(Part):
    """When: a trigger of a service, with its fields. `connection` is the id of one of the owner's connections."""

    service: Slug
    trigger: Slug
    fields: dict[str, Any] = {}
    connection: ConnectionId | None = None


class QueryRef(Part):
    """A query whose rows become the ingredient `name`, a list; by default ``query1`` and so on, by their order.

    The text in its fields may hold ``{{Ingredient}}`` templates, of queries before it, too.
    """

    service: Slug
    query: Slug
    name: IngredientName | None = None
    fields: dict[str, Any] = {}
    connection: ConnectionId | None = None


class Delay(Part):
    """How long to wait: `seconds`, or `until` an instant, a template that gives ISO 8601 or epoch seconds."""

    seconds: Annotated[int, Field(ge=1, le=MAX_DELAY_SECONDS, strict=True)] | None = None
    until: Annotated[str, StringConstraints(min_length=1, max_length=1024)] | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.seconds is None) == (self.until is None):
            raise ValueError("needs either seconds or until")
        return self


class ActionRef(Part):
    """Then: an action of a service, after `delay`. The text in its fields may hold ``{{Ingredient}}`` templates."""

    service: Slug
    action: Slug
    fields: dict[str, Any] = {}
    connection: ConnectionId | None = None
    delay: Delay | None = None


class Applet(Part):
    """When the trigger fires, the queries are asked, and if the filter holds then the actions run, in order.

    Parameters
    ----------
    filter:
        An expression over the ingredients; None lets everything through.
    on_failure:
        What becomes of the actions after one that failed or whose outcome is unknown.
    cool_down_minutes:
        An event within this time after the last one that ran is skipped; None to run for each.
    off_after_failures:
        After so many failed executions in a row the applet is turned off; None never.
    """

    name: Name
    trigger: TriggerRef
    queries: Annotated[tuple[QueryRef, ...], Field(max_length=MAX_QUERIES)] = ()
    filter: Annotated[str, StringConstraints(max_length=4096), AfterValidator(_storable)] | None = None
    actions: Annotated[tuple[ActionRef, ...], Field(min_length=1, max_length=MAX_ACTIONS)]
    on_failure: Literal["continue", "stop"] = "continue"
    cool_down_minutes: Annotated[int, Field(ge=1, le=MAX_COOL_DOWN_MINUTES, strict=True)] | None = None
    off_after_failures: Annotated[int, Field(ge=1, le=1000, strict=True)] | None = DEFAULT_OFF_AFTER_FAILURES
    enabled: bool = True


def query_name(applet: Applet, index: int) -> str:
    """Return the name of the ingredient that the rows of a query become."""
    return applet.queries[index].name or default_query_name(index)


def default_query_name(index: int) -> str:
    """Return the name that a query has without one of its own."""
    return f"query{index + 1}"
