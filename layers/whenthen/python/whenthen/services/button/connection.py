"""What a connection of the button service holds: the key that signs the links of its buttons."""

import secrets
from typing import Annotated

from pydantic import Field, StringConstraints

from whenthen.services.connecting import ConnectionType, Secret, Test
from whenthen.services.contract import Fields

_KEY_BYTES = 32


def _new_key() -> str:
    return secrets.token_urlsafe(_KEY_BYTES)


class ButtonFields(Fields):
    """The key. Without one of the owner's own it is made, and nobody needs to see it."""

    signing_key: Annotated[
        Secret,
        StringConstraints(min_length=32),
        Field(
            title="Signing key",
            description="Leave it out: it is made for you. A new one ends all links that were made before.",
            default_factory=_new_key,
        ),
    ]


def _no_test(_fields: ButtonFields) -> Test | None:
    """There is nobody to ask."""
    return None


CONNECTION = ConnectionType(
    fields=ButtonFields,
    description="Signs the links of your buttons. Deleting it ends them all.",
    test=_no_test,
)
