"""Queries of the Home Assistant service."""

import json
from collections.abc import Sequence
from typing import Any

from whenthen.net.messages import Answer, Request
from whenthen.services.contract import Ingredient
from whenthen.services.home_assistant.answers import document_of, read_home_assistant, read_other_than
from whenthen.services.home_assistant.connection import headers
from whenthen.services.home_assistant.fields import GetStateFields, check_entity
from whenthen.services.rendered import checked
from whenthen.services.work import Ask, Meaning, Reading, Row, Task

STATE = (
    Ingredient("Entity", "The entity", "sensor.outside_temperature"),
    Ingredient("State", "Its state", "21.5"),
    Ingredient("FriendlyName", "Its name", "Outside temperature"),
    Ingredient("LastChanged", "When the state changed", "2026-11-30T07:40:18.123456+00:00"),
    Ingredient("Attributes", "All attributes as JSON", '{"unit_of_measurement": "°C"}'),
)


def get_state(task: Task[GetStateFields]) -> Ask:
    """Return the request for an entity's state.

    Raises
    ------
    FieldError
        The entity's name is none after rendering.
    """
    entity = checked("entity", check_entity, task.fields.entity)
    return Ask(Request("GET", f"{task.account.url}/api/states/{entity}", headers(task.account)), _read_state)


def _read_state(answer: Answer) -> Sequence[Row] | Reading:
    if answer.status == 404:
        return Reading(Meaning.FAILED, "Home Assistant knows no such entity, or the connection's address is not right.")
    reading = read_home_assistant(answer)
    if reading.meaning is not Meaning.SUCCEEDED:
        return reading
    document = document_of(answer)
    if not isinstance(document, dict) or not isinstance(document.get("state"), str):
        return read_other_than("a state")
    attributes = document.get("attributes")
    known: dict[str, Any] = attributes if isinstance(attributes, dict) else {}
    return [
        {
            "Entity": _text(document.get("entity_id")),
            "State": document["state"],
            "FriendlyName": _text(known.get("friendly_name")),
            "LastChanged": _text(document.get("last_changed")),
            "Attributes": json.dumps(known, ensure_ascii=False),
        }
    ]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
