"""Samples of the partner service."""

import json

from tests.support.samples import Sample
from tests.support.sink import Reply
from tests.unit.services.partner.stand_in import PATH, event


def _reply(*ids: str) -> dict[str, Reply]:
    return {PATH: Reply(body=json.dumps({"data": [event(identity) for identity in ids]}).encode())}


SAMPLES = {
    "event": Sample(
        {"url": "{url}", "trigger": "new_photo", "service_key": "key", "zone": "Asia/Tokyo"},
        before=_reply("a"),
        after=_reply("b", "a"),
    )
}
