"""Fields of the partner service."""

import json
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints

from whenthen.services.addresses import web_address
from whenthen.services.checking import PolledFields
from whenthen.services.zones import Zone

MAX_LIMIT = 50

_PATH = "/ifttt/v1"


def _prefix(url: str) -> str:
    if "?" in url or "#" in url:
        raise ValueError("must be the beginning of an address, without ? and #")
    return web_address(url).rstrip("/").removesuffix(_PATH).rstrip("/")


def _key(key: str) -> str:
    if not (key.isascii() and key.isprintable()):
        raise ValueError("must hold letters, digits and signs of ASCII alone")
    return key


def _json_object(text: str) -> str:
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ValueError('must be a JSON object, such as {"city": "Paris"}') from error
    if not isinstance(value, dict):
        raise ValueError('must be a JSON object, such as {"city": "Paris"}')
    return text


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


class EventFields(PolledFields):
    """A trigger of a partner, and what it takes."""

    url: Annotated[
        str,
        StringConstraints(min_length=1, max_length=2048, strip_whitespace=True),
        AfterValidator(_prefix),
        Field(
            title="API URL prefix", description="Where the partner's API begins, for example https://api.example.com."
        ),
    ]
    trigger: Annotated[
        str,
        StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,128}$"),
        Field(title="Trigger", description="The trigger's slug at the partner, for example new_photo."),
    ]
    service_key: Annotated[
        str,
        StringConstraints(max_length=512, strip_whitespace=True),
        AfterValidator(_key),
        Field(title="Service key", description="The key by which the partner knows us; empty when it wants none."),
    ] = ""
    trigger_fields: Annotated[
        str,
        StringConstraints(max_length=16384, strip_whitespace=True),
        AfterValidator(_json_object),
        Field(title="Trigger fields", description="A JSON object with the values that the trigger takes."),
    ] = "{}"
    limit: Annotated[
        int,
        Field(title="Events a check", description="How many events the partner gives at most.", ge=1, le=MAX_LIMIT),
    ] = MAX_LIMIT
    zone: Zone = ""

    def source(self) -> str:
        """See `PolledFields.source`."""
        return self.endpoint()

    def endpoint(self) -> str:
        """Return the URL of the trigger."""
        return f"{self.url}{_PATH}/triggers/{self.trigger}"
