"""Samples of the Home Assistant service."""

from tests.support.samples import Sample

ACCOUNT = {"url": "http://192.168.1.20:8123", "token": "eyJhbGciOi.x.y"}

SAMPLES = {
    "call_service": Sample({"service": "light.turn_on", "data": '{"entity_id": "light.kitchen"}'}, ACCOUNT),
    "fire_webhook": Sample({"webhook_id": "-a1b2c3d4e5f6g7h8", "data": "{}"}, ACCOUNT),
    "get_state": Sample({"entity": "sensor.outside"}, ACCOUNT),
}
