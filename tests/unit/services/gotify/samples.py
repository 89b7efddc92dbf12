"""Samples of the Gotify service."""

from tests.support.samples import Sample

SAMPLES = {
    "send_message": Sample(
        {"message": "{{Value1}}", "markdown": True}, account={"server": "https://push.example.org", "token": "A0123"}
    )
}
