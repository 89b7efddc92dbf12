"""Samples of the email digest service."""

from tests.support.samples import Sample

SAMPLES = {
    "add_to_digest": Sample(
        {
            "to": "ada@example.org",
            "subject": "News",
            "title": "One",
            "text": "It says",
            "link": "https://example.org/one",
        },
        account={"sender": "me@example.org", "host": "mail.example.org"},
    )
}
