"""Samples of the Mastodon service."""

from tests.support.samples import Sample

SAMPLES = {
    "post_status": Sample(
        {"status": "{{Value1}}", "visibility": "unlisted", "language": "en"},
        account={"server": "https://social.example", "token": "ZA-Yj3aBD8U8Cm7lKUp-lm9O9BmDgdhHzDeqsY8tlL0"},
    )
}
