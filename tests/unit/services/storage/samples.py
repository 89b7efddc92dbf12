"""Samples of the storage service."""

from tests.support.samples import Sample

ACCOUNT = {
    "bucket": "house",
    "region": "eu-central-1",
    "access_key_id": "AKIAIOSFODNN7EXAMPLE",
    "secret_access_key": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
}

SAMPLES = {
    "put_text": Sample({"key": "notes/door.txt", "text": "open"}, ACCOUNT),
    "put_from_url": Sample({"key": "photos/1.jpg", "url": "https://example.org/1.jpg"}, ACCOUNT),
    "append_line": Sample({"key": "log.txt", "line": "open"}, ACCOUNT),
    "append_csv_row": Sample({"key": "log.csv", "row": ["2026-11-30", "open"], "header": ["day", "door"]}, ACCOUNT),
}
