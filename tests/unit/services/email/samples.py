"""Samples of the email service."""

from tests.support.samples import Sample

ACCOUNT = {"sender": "me@example.org", "host": "mail.example.org", "user": "me", "password": "secret"}

SAMPLES = {
    "send_email": Sample(
        {
            "to": "Ada <ada@example.org>, grace@example.org",
            "subject": "hello",
            "html": "<p>hello</p>",
            "attachment_url": "https://example.org/photo.jpg",
        },
        account=ACCOUNT,
    )
}
