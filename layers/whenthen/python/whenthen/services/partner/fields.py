"""Fields of the partner service."""

import json
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints

from whenthen.services.addresses import web_address
from whenthen.services.checking import PolledFields
from whenthen.services.connecting import SECRET
from whenthen.services.contract import Fields
from whenthen.services.zones import Zone

MAX_LIMIT = 50

_PATH = "/ifttt/v1"

MAX_ROWS = 50
MAX_VALUES = 50


def api_prefix(url: str) -> str:
    """Return where a partner's API begins, without the path of the protocol. Raises ValueError for what is none."""
    if "?" in url or "#" in url:
        raise ValueError("must be the beginning of an address, without ? and #")
    return web_address(url).rstrip("/").removesuffix(_PATH).rstrip("/")


def readable_key(key: str) -> str:
    """Return a service key that can stand in a header. Raises ValueError for what can't."""
    if not (key.isascii() and key.isprintable()):
        raise ValueError("must hold letters, digits and signs of ASCII alone")
    return key


def _prefix(url: str) -> str:
    return api_prefix(url) if url else url


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


type _Slug = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,128}$")]
type _Values = Annotated[dict[_Slug, Annotated[str, StringConstraints(max_length=16384)]], Field(max_length=MAX_VALUES)]


class EventFields(PolledFields):
    """A trigger of a partner, and what it takes."""

    url: Annotated[
        str,
        StringConstraints(max_length=2048, strip_whitespace=True),
        AfterValidator(_prefix),
        Field(
            title="API URL prefix",
            description="Where the partner's API begins, for example https://api.example.com. Left out with a "
            "connection.",
        ),
    ] = ""
    trigger: Annotated[
        str,
        StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,128}$"),
        Field(title="Trigger", description="The trigger's slug at the partner, for example new_photo."),
    ]
    service_key: Annotated[
        str,
        StringConstraints(max_length=512, strip_whitespace=True),
        AfterValidator(readable_key),
        Field(
            title="Service key",
            description="The key by which the partner knows us; better kept in a connection.",
            json_schema_extra=SECRET,
            repr=False,
        ),
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
        return self.url


class RunActionFields(Fields):
    """An action of a partner, and what it takes."""

    action: Annotated[_Slug, Field(title="Action", description="The action's slug at the partner.")]
    action_fields: Annotated[
        _Values,
        Field(title="Action fields", description="The values that the action takes.", default_factory=dict),
    ]


class RunQueryFields(Fields):
    """A query of a partner, and what it takes."""

    query: Annotated[_Slug, Field(title="Query", description="The query's slug at the partner.")]
    query_fields: Annotated[
        _Values,
        Field(title="Query fields", description="The values that the query takes.", default_factory=dict),
    ]
    limit: Annotated[int, Field(title="Rows", description="How many rows at most.", ge=1, le=MAX_ROWS)] = 10
