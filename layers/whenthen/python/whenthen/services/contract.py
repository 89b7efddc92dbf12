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
from whenthen.net.messages import Request

if TYPE_CHECKING:
    from whenthen.services.checking import Check, Found


class Fields(BaseModel):
    """The fields of a trigger or an action. Text fields of actions may hold templates until they are rendered."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @field_validator("*")
    @classmethod
    def _storable(cls, value: Any) -> Any:
        # Also after rendering: what the database refuses must not get into an outcome.
        if isinstance(value, str) and "\x00" in value:
            raise ValueError("must not hold a NUL character")
        return value

    def encodings(self) -> Mapping[str, Encoding]:
        """Return how ingredients are encoded, by field; a text field that is not named is plain text (R9)."""
        return {}


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
class Send:
    """Work: send `request`.

    `repeatable` says that the target does nothing new when the same request comes again, so that one without
    an answer may be sent again (R6).
    """

    request: Request
    repeatable: bool


@dataclass(frozen=True, slots=True)
class Notify:
    """Work: put a message in the owner's inbox, in the transaction that records the outcome."""

    title: str
    body: str
    link: str


type Work = Send | Notify


@dataclass(frozen=True, slots=True)
class Trigger:
    """A kind of event.

    `check` finds events by itself; None for what arrives. It raises `CheckFailed` when its source can't be read.
    A check that is `offline` asks nobody: it needs the clock alone and is done in the tick itself, on time.
    """

    slug: str
    name: str
    description: str
    fields: type[Fields]
    ingredients: tuple[Ingredient, ...]
    check: "Callable[[Check[Any]], Found] | None" = None
    offline: bool = False


@dataclass(frozen=True, slots=True)
class Action[F: Fields]:
    """A kind of work.

    `prepare` takes the rendered fields and the action's idempotency key and returns the work, without doing
    any of it. It raises `FieldError`, naming the field, for what can't be done.
    """

    slug: str
    name: str
    description: str
    fields: type[F]
    prepare: Callable[[F, str], Work]


@dataclass(frozen=True, slots=True)
class Service:
    """A service and what it offers."""

    slug: str
    name: str
    triggers: tuple[Trigger, ...] = ()
    actions: tuple[Action[Any], ...] = ()
