"""What every service promises."""

import re
import socket
from typing import Any

import pytest
from pydantic import ValidationError

from whenthen.model.encoding import Encoding
from whenthen.services.contract import Action, Fields, Notify, Send, Service, Trigger
from whenthen.services.registry import SERVICES, find_action, find_trigger

SLUG = re.compile(r"[a-z][a-z0-9_]{0,63}")
INGREDIENT = re.compile(r"[A-Z][A-Za-z0-9]*")

SAMPLES: dict[tuple[str, str], dict[str, Any]] = {
    ("webhooks", "event"): {"event": "door"},
    ("webhooks", "json_event"): {"event": "door"},
    ("webhooks", "make_web_request"): {"url": "https://example.org", "method": "POST", "body": "{}"},
    ("notifications", "send_notification"): {"message": "hello"},
}
"""Fields that each trigger and action takes: a new one has to be added here."""

services = pytest.mark.parametrize("service", SERVICES.values(), ids=lambda item: item.slug)
actions = pytest.mark.parametrize(
    ("service", "action"), [(s, a) for s in SERVICES.values() for a in s.actions], ids=lambda item: item.slug
)


def parts(service: Service) -> list[Trigger | Action[Any]]:
    return [*service.triggers, *service.actions]


@services
def test_slugs_and_names(service: Service) -> None:
    assert SERVICES[service.slug] is service
    assert service.name
    for slugs in ([item.slug for item in service.triggers], [item.slug for item in service.actions]):
        assert len(slugs) == len(set(slugs))
        assert all(SLUG.fullmatch(slug) for slug in [service.slug, *slugs])
    for item in parts(service):
        assert item.name
        assert item.description.endswith(".")


@services
def test_fields_are_strict_and_have_a_schema(service: Service) -> None:
    for item in parts(service):
        sample = SAMPLES[service.slug, item.slug]
        schema = item.fields.model_json_schema()
        assert schema["additionalProperties"] is False
        assert all(member.get("title") for member in schema["properties"].values())
        fields = item.fields.model_validate(sample)
        assert fields.model_dump(mode="json").items() >= sample.items()
        # Once more: what is stored is what was validated.
        assert item.fields.model_validate(fields.model_dump(mode="json")) == fields
        with pytest.raises(ValidationError):
            item.fields.model_validate({**sample, "surprise": 1})
        for name, value in sample.items():
            if isinstance(value, str):
                with pytest.raises(ValidationError):
                    item.fields.model_validate({**sample, name: f"{value}\x00"})


@services
def test_ingredients_have_samples(service: Service) -> None:
    for trigger in service.triggers:
        slugs = [ingredient.slug for ingredient in trigger.ingredients]
        assert len(slugs) == len(set(slugs)) > 0
        for ingredient in trigger.ingredients:
            assert INGREDIENT.fullmatch(ingredient.slug)
            assert ingredient.name
            assert ingredient.sample


@services
def test_the_registry_finds_them(service: Service) -> None:
    for trigger in service.triggers:
        assert find_trigger(service.slug, trigger.slug) is trigger
        assert find_action(service.slug, trigger.slug) is None
    for action in service.actions:
        assert find_action(service.slug, action.slug) is action
    assert find_trigger(service.slug, "nothing") is None
    assert find_action("nothing", "nothing") is None


@actions
def test_encodings_name_fields(service: Service, action: Action[Any]) -> None:
    fields = action.fields.model_validate(SAMPLES[service.slug, action.slug])
    assert set(fields.encodings()) <= set(action.fields.model_fields)
    assert all(isinstance(encoding, Encoding) for encoding in fields.encodings().values())


@actions
def test_preparing_does_nothing(service: Service, action: Action[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("no input or output while preparing")

    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)
    monkeypatch.setattr("builtins.open", refuse)
    fields: Fields = action.fields.model_validate(SAMPLES[service.slug, action.slug])
    first, second = action.prepare(fields, "key"), action.prepare(fields, "key")
    assert isinstance(first, Send | Notify)
    assert first == second
    if isinstance(first, Send):
        assert ("Idempotency-Key", "key") in first.request.headers
