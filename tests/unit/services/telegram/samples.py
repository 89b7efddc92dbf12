"""Samples of the Telegram service."""

from tests.support.samples import Sample

_ACCOUNT = {"token": "123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11"}

SAMPLES = {
    "send_message": Sample({"chat_id": "-1001234567890", "text": "<b>{{Value1}}</b>"}, account=_ACCOUNT),
    "send_photo": Sample(
        {"chat_id": "@news", "photo": "https://example.org/a.jpg", "formatting": "plain"}, account=_ACCOUNT
    ),
}
