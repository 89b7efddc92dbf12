"""Asking Open-Meteo's forecast API (https://open-meteo.com/en/docs)."""

import json
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from whenthen.net.messages import Answer, Request
from whenthen.services.checking import Check, CheckFailed
from whenthen.services.documents import Source, read_document

_MAX_REASON = 200


def forecast_url(latitude: float, longitude: float) -> str:
    """Return the page where people see the forecast of a place."""
    return "https://open-meteo.com/en/docs?" + urlencode({"latitude": latitude, "longitude": longitude})


def ask(check: Check[Any], latitude: float, longitude: float, **parameters: str) -> dict[str, Any]:
    """Return the answer to a question about a place: degrees Celsius, km/h and Unix seconds.

    Raises
    ------
    CheckFailed
        There is none; with the reason that the service gave.
    """
    if not check.service_url:
        raise CheckFailed("The address of the weather service is not set.")
    query = {
        "latitude": latitude,
        "longitude": longitude,
        "temperature_unit": "celsius",
        "wind_speed_unit": "kmh",
        "timeformat": "unixtime",
        **parameters,
    }
    url = f"{check.service_url}/v1/forecast?{urlencode(query)}"
    answers: list[Answer] = []

    def fetch(request: Request) -> Answer:
        answers.append(check.fetch(request))
        return answers[-1]

    request = Request("GET", url, (("Accept", "application/json"),))
    try:
        document = read_document(replace(check, fetch=fetch), Source(url), field="", request=request)
    except CheckFailed as error:
        reason = _reason(_read_json(answers[-1].body)) if answers else ""
        if not reason:
            raise
        words = f"The weather service refused: {reason}"
        raise CheckFailed(words, retry_at=error.retry_at, host=error.host, temporary=error.temporary) from error
    found = _read_json(document.body) if document else None
    if not isinstance(found, dict):
        raise CheckFailed("The weather service's answer is not the JSON object it should be.")
    if found.get("error"):
        raise CheckFailed(f"The weather service refused: {_reason(found) or 'it does not say why'}")
    return found


def _read_json(body: bytes) -> Any:
    """Return the value of JSON text, or None when it is none."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _reason(found: Any) -> str:
    """Return what ``{"error": true, "reason": "…"}`` says, or nothing for another shape."""
    reason = found.get("reason") if isinstance(found, dict) else None
    if not isinstance(reason, str):
        return ""
    return "".join(character for character in reason if character.isprintable())[:_MAX_REASON]
