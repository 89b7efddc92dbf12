"""Applets that are not stored yet in the management API: what they would do, and what their triggers bring."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator
from starlette.responses import JSONResponse, Response

from whenthen.clock import isoformat, now_ms
from whenthen.engine import applets, test_calls, trying
from whenthen.engine.arrived import Arrived
from whenthen.engine.drafts import read_draft
from whenthen.engine.previews import preview
from whenthen.errors import FieldError
from whenthen.model.applet import Applet, TriggerRef
from whenthen.model.values import compact_json
from whenthen.services.zones import DEFAULT_ZONE
from whenthen.store.profiles import find_zone
from whenthen.web import views
from whenthen.web.call import Call
from whenthen.wiring import Runtime


class Try(BaseModel):
    """The body of POST /api/applets/{id}/try; it may be left out."""

    model_config = ConfigDict(extra="forbid")

    ingredients: dict[str, Any] = Field({}, description="By name; the others have the samples of the trigger.")

    @field_validator("ingredients", mode="before")
    @classmethod
    def _as_of_an_event(cls, given: object) -> object:
        # JSON as Python reads it has numbers that are none, and halves of characters.
        return json.loads(compact_json(given))


class TryDraft(Try):
    """The body of POST /api/try."""

    applet: dict[str, Any]


class OneTrigger(BaseModel):
    """The body of POST /api/preview and POST /api/test-calls."""

    model_config = ConfigDict(extra="forbid")

    trigger: TriggerRef


def try_applet(runtime: Runtime, owner: str, call: Call) -> Response:
    """What an applet would do with some ingredients. Nothing is sent."""
    applet = applets.parse(applets.get(runtime.database, owner, call.path["id"]))
    wanted = Try.model_validate(call.json_object() if call.has_body else {})
    return JSONResponse(_trial(runtime, owner, applet, wanted.ingredients))


def try_draft(runtime: Runtime, owner: str, call: Call) -> Response:
    """What an applet that is not stored would do with some ingredients. Nothing is sent or stored."""
    wanted = TryDraft.model_validate(call.json_object())
    draft = read_draft(runtime.database, owner, wanted.applet)
    trial = _trial(runtime, owner, draft.must_be_good("applet"), wanted.ingredients)
    return JSONResponse({**trial, "warnings": [_told(warning, "applet.") for warning in draft.warnings]})


def look_at_trigger(runtime: Runtime, owner: str, call: Call) -> Response:
    """When a trigger will run, or what its source shows. Nothing is stored."""
    wanted = OneTrigger.model_validate(call.json_object())
    found = preview(runtime.database, runtime.checks, owner, wanted.trigger, now=now_ms())
    return JSONResponse(
        {
            "next_runs": [isoformat(at) for at in found.next_runs],
            "zone": found.zone,
            "words": found.words,
            "is_checked": found.is_checked,
            "items": [
                {"occurred_at": isoformat(item.occurred_at), "ingredients": item.ingredients} for item in found.items
            ],
            "count": found.count,
            "title": found.title,
            "note": found.note,
            "failure": None if found.failure is None else {**_told(found.failure), "may_pass": found.may_pass},
        }
    )


def wait_for_call(runtime: Runtime, owner: str, call: Call) -> Response:
    """Waits for a test call of a trigger, or goes on waiting, and tells what has arrived."""
    wanted = OneTrigger.model_validate(call.json_object())
    waiting = test_calls.wait(runtime.database, owner, wanted.trigger, now_ms())
    arrived = None if waiting.arrived is None else _arrived(waiting.arrived)
    return JSONResponse({"waits_until": isoformat(waiting.waits_until), "arrived": arrived}, 202)


def _trial(runtime: Runtime, owner: str, applet: Applet, ingredients: Mapping[str, Any]) -> dict[str, Any]:
    zone = find_zone(runtime.database, owner) or DEFAULT_ZONE
    return views.trial(trying.try_applet(runtime.accounts, owner, applet, ingredients, zone))


def _arrived(arrived: Arrived) -> dict[str, Any]:
    return {
        "at": isoformat(arrived.at),
        "ingredients": dict(arrived.ingredients),
        "shortened": list(arrived.shortened),
    }


def _told(error: FieldError, prefix: str = "") -> dict[str, str]:
    return {"field": f"{prefix}{error.field}", "message": error.message}
