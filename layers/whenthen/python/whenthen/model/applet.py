"""The applet as its owner writes it (the JSON of DESIGN.md 6)."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

MAX_ACTIONS = 10

type Slug = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[a-z0-9_]+$")]
type Name = Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True)]


class Part(BaseModel):
    """What every part of an applet has: unknown keys are errors, and it does not change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class TriggerRef(Part):
    """When: a trigger of a service, with its fields."""

    service: Slug
    trigger: Slug
    fields: dict[str, Any] = {}


class QueryRef(Part):
    """A query whose answer becomes ingredients."""

    service: Slug
    query: Slug
    fields: dict[str, Any] = {}


class ActionRef(Part):
    """Then: an action of a service. The text in its fields may hold ``{{Ingredient}}`` templates."""

    service: Slug
    action: Slug
    fields: dict[str, Any] = {}


class Applet(Part):
    """When the trigger fires and the filter holds, then the actions run, in order.

    `filter` is an expression over the ingredients; None lets everything through.
    """

    name: Name
    trigger: TriggerRef
    queries: tuple[QueryRef, ...] = ()
    filter: Annotated[str, StringConstraints(max_length=4096)] | None = None
    actions: Annotated[tuple[ActionRef, ...], Field(min_length=1, max_length=MAX_ACTIONS)]
    enabled: bool = True
