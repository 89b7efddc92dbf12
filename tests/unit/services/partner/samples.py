"""Samples of the partner service."""

import json

from tests.support.samples import Sample
from tests.support.sink import Reply
from tests.unit.services.partner.stand_in import PATH, event


def _reply(*ids: str) -> dict[str, Reply]:
    return {PATH: Reply(body=json.dumps({"data": [event(identity) for identity in ids]}).encode())}


ACCOUNT = {"url": "https://api.example.com", "service_key": "key"}

SAMPLES = {
    "event": Sample(
        {"url": "{url}", "trigger": "new_photo", "service_key": "key", "zone": "Asia/Tokyo"},
        before=_reply("a"),
        after=_reply("b", "a"),
    ),
    "run_action": Sample({"action": "new_note", "action_fields": {"title": "Door"}}, ACCOUNT),
    "run_query": Sample({"query": "notes", "query_fields": {"tag": "house"}, "limit": 3}, ACCOUNT),
}
