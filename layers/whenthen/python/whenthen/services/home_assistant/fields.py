"""Fields of the Home Assistant service."""

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, StringConstraints

from whenthen.model.encoding import Encoding
from whenthen.model.exact_json import read_exact
from whenthen.services.contract import Fields, unless_templated

# Domains, services and objects are slugs: homeassistant.core.valid_entity_id.
_DOTTED = re.compile(r"[a-z0-9_]{1,64}\.[a-z0-9_]{1,255}")
_WEBHOOK_ID = re.compile(r"[A-Za-z0-9_-]{1,255}", re.ASCII)


def check_service(text: str) -> str:
    """Return a service's full name.

    Raises
    ------
    ValueError
        It is not of the form ``domain.service``.
    """
    if not _DOTTED.fullmatch(text):
        raise ValueError("must be a service with its domain, such as light.turn_on")
    return text


def check_entity(text: str) -> str:
    """Return an entity's id.

    Raises
    ------
    ValueError
        It is not of the form ``domain.object``.
    """
    if not _DOTTED.fullmatch(text):
        raise ValueError("must be an entity, such as light.kitchen")
    return text


def check_data(text: str) -> str:
    """Return a JSON object as it is written: the digits of its numbers are kept (case D09).

    Raises
    ------
    ValueError
        It is no JSON object.
    """
    try:
        document = read_exact(text)
    except (ValueError, RecursionError) as error:
        raise ValueError('must be a JSON object, such as {"entity_id": "light.kitchen"}') from error
    if not isinstance(document, dict):
        raise ValueError('must be a JSON object, such as {"entity_id": "light.kitchen"}')
    return text


def _webhook_id(text: str) -> str:
    if not _WEBHOOK_ID.fullmatch(text):
        raise ValueError("must be the webhook's ID alone: letters, digits, - and _")
    return text


_DATA = (StringConstraints(max_length=262144, strip_whitespace=True), unless_templated(check_data))


class CallServiceFields(Fields):
    """The service to call."""

    service: Annotated[
        str,
        StringConstraints(min_length=1, max_length=512, strip_whitespace=True),
        unless_templated(check_service),
        Field(title="Service", description="With its domain, such as light.turn_on or script.good_night."),
    ]
    data: Annotated[
        str, *_DATA, Field(title="Data", description='A JSON object, such as {"entity_id": "light.kitchen"}.')
    ] = "{}"

    def encodings(self) -> Mapping[str, Encoding]:
        """See `Fields.encodings`."""
        return {"data": Encoding.JSON}


class FireWebhookFields(Fields):
    """The webhook to fire."""

    webhook_id: Annotated[
        str,
        StringConstraints(min_length=1, max_length=255, strip_whitespace=True),
        unless_templated(_webhook_id),
        Field(title="Webhook ID", description="As the trigger of your automation shows it."),
    ]
    data: Annotated[
        str, *_DATA, Field(title="Data", description="A JSON object, in the automation as trigger.json.")
    ] = "{}"

    def encodings(self) -> Mapping[str, Encoding]:
        """See `Fields.encodings`. An ingredient in the ID can't leave the path."""
        return {"webhook_id": Encoding.URL, "data": Encoding.JSON}


class GetStateFields(Fields):
    """The entity to look at."""

    entity: Annotated[
        str,
        StringConstraints(min_length=1, max_length=512, strip_whitespace=True),
        unless_templated(check_entity),
        Field(title="Entity", description="Such as sensor.outside_temperature."),
    ]
