"""What a service is: its triggers and actions, their fields and ingredients.

Each service has a folder with the same files: ``manifest.py`` (its `Service`), ``fields.py`` (field models),
``triggers.py`` (how what arrives becomes ingredients), ``checks.py`` (how what has happened is found) and
``actions.py`` (how fields become work).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, field_validator

from whenthen.model.encoding import Encoding
from whenthen.services.work import Ask, FindRows, Task, Work

if TYPE_CHECKING:
    from whenthen.services.checking import Check, Found
    from whenthen.services.connecting import ConnectionType


class Fields(BaseModel):
    """The fields of a trigger or an action. Text fields of actions may hold templates until they are rendered."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @field_validator("*")
    @classmethod
    def _storable(cls, value: Any) -> Any:
        # Also after rendering: what the database refuses must not get into an outcome.
        if _holds_nul(value):
            raise ValueError("must not hold a NUL character")
        return value

    def encodings(self) -> Mapping[str, Encoding]:
        """Return how ingredients are encoded, by field; a text field that is not named is plain text (R9)."""
        return {}


def _holds_nul(value: Any) -> bool:
    match value:
        case str():
            return "\x00" in value
        case dict():
            return any(_holds_nul(item) for pair in value.items() for item in pair)
        case list() | tuple():
            return any(map(_holds_nul, value))
    return False


def unless_templated(check: Callable[[str], str]) -> AfterValidator:
    """Return a validator that applies `check` to text without templates: with one, the value is not known yet."""
    return AfterValidator(lambda text: text if "{{" in text else check(text))


@dataclass(frozen=True, slots=True)
class Ingredient:
    """A value that a trigger gives to templates and filters."""

    slug: str
    name: str
    sample: str


@dataclass(frozen=True, slots=True)
class Trigger:
    """A kind of event.

    `check` finds events by itself; None for what arrives. It raises `CheckFailed` when its source can't be read.
    A check that is `offline` asks nobody: it needs the clock alone and is done in the tick itself, on time.
    `connects` and `may_connect` are as of `Action`.
    """

    slug: str
    name: str
    description: str
    fields: type[Fields]
    ingredients: tuple[Ingredient, ...]
    check: "Callable[[Check[Any]], Found] | None" = None
    offline: bool = False
    connects: str = ""
    may_connect: bool = False


@dataclass(frozen=True, slots=True)
class Action[F: Fields]:
    """A kind of work.

    `prepare` returns the work for a task, without doing any of it, and the same for the same task. It raises
    `FieldError`, naming the field, for what can't be done. `connects` is the service whose connections it takes,
    empty when it takes none; with `may_connect` it can also do without.
    """

    slug: str
    name: str
    description: str
    fields: type[F]
    prepare: Callable[[Task[F]], Work]
    connects: str = ""
    may_connect: bool = False


@dataclass(frozen=True, slots=True)
class Query[F: Fields]:
    """A kind of question. Its rows are ingredients of the filter and of the actions.

    `prepare`, `connects` and `may_connect` are as of `Action`. `ingredients` are those of a row.
    """

    slug: str
    name: str
    description: str
    fields: type[F]
    ingredients: tuple[Ingredient, ...]
    prepare: Callable[[Task[F]], Ask | FindRows]
    connects: str = ""
    may_connect: bool = False


@dataclass(frozen=True, slots=True)
class Service:
    """A service and what it offers. `connection` is what its connections are like, None when it has none."""

    slug: str
    name: str
    triggers: tuple[Trigger, ...] = ()
    actions: tuple[Action[Any], ...] = ()
    queries: tuple[Query[Any], ...] = ()
    connection: "ConnectionType[Any] | None" = None
