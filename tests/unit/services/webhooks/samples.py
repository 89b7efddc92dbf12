"""Samples of the webhooks service."""

from tests.support.samples import Sample

SAMPLES = {
    "event": Sample({"event": "door"}),
    "json_event": Sample({"event": "door"}),
    "make_web_request": Sample({"url": "https://example.org", "method": "POST", "body": "{}"}),
    "web_request": Sample({"url": "https://example.org"}),
}
