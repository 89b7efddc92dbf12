"""Samples of the Discord service."""

from tests.support.samples import Sample

SAMPLES = {
    "post_message": Sample(
        {"content": "**{{Value1}}**", "embed_url": "https://example.org"},
        account={"webhook_url": "https://discord.com/api/webhooks/123/abc-DEF_1"},
    )
}
