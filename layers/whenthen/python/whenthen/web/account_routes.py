"""The owner's keys and settings in the management API."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints
from starlette.responses import JSONResponse, Response

from whenthen.engine import keys
from whenthen.errors import FieldError
from whenthen.model.applet import Name
from whenthen.net.credentials import CREDENTIAL_HEADERS
from whenthen.services.zones import DEFAULT_ZONE, check_zone
from whenthen.store.database import Database
from whenthen.store.keys import Key, KeyKind, list_keys
from whenthen.store.profiles import find_zone, set_zone
from whenthen.store.retentions import DEFAULT_PAYLOAD_DAYS, MAX_PAYLOAD_DAYS, find_payload_days, set_payload_days
from whenthen.web import views
from whenthen.web.call import Call
from whenthen.wiring import Runtime


class NewKey(BaseModel):
    """The body of POST /api/keys."""

    model_config = ConfigDict(extra="forbid")

    kind: KeyKind
    name: Name
    delivery_id_header: (
        Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9-]+$")] | None
    ) = Field(None, description="Request header that names a delivery, for webhook keys.")


class Profile(BaseModel):
    """The body of PATCH /api/me."""

    model_config = ConfigDict(extra="forbid")

    zone: Annotated[str, AfterValidator(check_zone)] = DEFAULT_ZONE
    payload_days: int = Field(
        DEFAULT_PAYLOAD_DAYS,
        ge=1,
        le=MAX_PAYLOAD_DAYS,
        strict=True,
        description="For how many days inputs, requests and answers are kept.",
    )


def get_profile(runtime: Runtime, owner: str, _call: Call) -> Response:
    """The owner, with the time zone that new applets use, and for how long payloads are kept."""
    return JSONResponse(
        {
            "id": owner,
            "zone": find_zone(runtime.database, owner) or DEFAULT_ZONE,
            "payload_days": find_payload_days(runtime.database, owner),
        }
    )


def change_profile(runtime: Runtime, owner: str, call: Call) -> Response:
    """The owner with other settings. Applets that are stored keep their time zone."""
    save_profile(runtime.database, owner, Profile.model_validate(call.json_object()))
    return get_profile(runtime, owner, call)


def save_profile(database: Database, owner: str, profile: Profile) -> None:
    """Store the settings that the profile names."""
    if "zone" in profile.model_fields_set:
        set_zone(database, owner, profile.zone)
    if "payload_days" in profile.model_fields_set:
        set_payload_days(database, owner, profile.payload_days)


def list_all_keys(runtime: Runtime, owner: str, _call: Call) -> Response:
    """The owner's keys, without the keys themselves."""
    return JSONResponse({"items": [views.key(row) for row in list_keys(runtime.database, owner)], "next": None})


def create_key(runtime: Runtime, owner: str, call: Call) -> Response:
    """A new key, shown this once."""
    row, key = make_key(runtime.database, owner, NewKey.model_validate(call.json_object()))
    return JSONResponse({**views.key(row), "key": key}, 201)


def make_key(database: Database, owner: str, wanted: NewKey) -> tuple[Key, str]:
    """Store a new key and return it as stored and as it is.

    Raises
    ------
    FieldError
        Its header is one for another kind, or never kept.
    """
    if wanted.delivery_id_header and wanted.kind != "webhook":
        raise FieldError("delivery_id_header", "is for webhook keys")
    if (wanted.delivery_id_header or "").lower() in CREDENTIAL_HEADERS:
        raise FieldError("delivery_id_header", "holds a secret, which is never kept")
    return keys.create(database, owner, wanted.kind, wanted.name, delivery_id_header=wanted.delivery_id_header)


def revoke_key(runtime: Runtime, owner: str, call: Call) -> Response:
    """Revokes a key."""
    keys.revoke(runtime.database, owner, call.path["id"])
    return Response(status_code=204)
