"""Samples of the Slack service."""

from tests.support.samples import Sample

SAMPLES = {
    "post_message": Sample({"channel": "#general", "text": "*{{Value1}}*"}, account={"token": "xoxb-1-2-abc"}),
    "post_to_webhook": Sample(
        {"text": "{{Value1}}"}, account={"webhook_url": "https://hooks.slack.com/services/T0/B0/abcdef"}
    ),
}
