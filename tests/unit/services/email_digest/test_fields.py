"""When a digest is due, in its zone (R7)."""

from datetime import UTC, datetime
from typing import Any

import pytest

from whenthen.clock import from_datetime, isoformat
from whenthen.services.email_digest.fields import AddToDigestFields


@pytest.mark.parametrize(
    ("fields", "after", "expected"),
    [
        ({}, "2026-11-29T07:59:59", "2026-11-29T08:00:00"),
        ({}, "2026-11-29T08:00:00", "2026-11-30T08:00:00"),
        ({"time": "8:30", "zone": "Asia/Kolkata"}, "2026-11-29T03:00:00", "2026-11-30T03:00:00"),
        ({"schedule": "weekly"}, "2026-11-29T12:00:00", "2026-11-30T08:00:00"),
        ({"schedule": "weekly", "weekday": "sunday"}, "2026-11-29T12:00:00", "2026-12-06T08:00:00"),
        # Left out by the change of the clock: the first instant after the gap.
        ({"time": "02:30", "zone": "Europe/Paris"}, "2026-03-28T12:00:00", "2026-03-29T01:00:00"),
        # Twice: the first time alone.
        ({"time": "02:30", "zone": "Europe/Paris"}, "2026-10-24T12:00:00", "2026-10-25T00:30:00"),
        ({"time": "02:30", "zone": "Europe/Paris"}, "2026-10-25T00:30:00", "2026-10-26T01:30:00"),
    ],
)
def test_when_it_is_due(fields: dict[str, Any], after: str, expected: str) -> None:
    digest = AddToDigestFields.model_validate({"to": "ada@example.org", **fields})
    slot = digest.next_slot(from_datetime(datetime.fromisoformat(after).replace(tzinfo=UTC)))
    assert slot is not None
    assert isoformat(slot.at) == f"{expected}.000Z"


def test_the_owners_zone_is_kept() -> None:
    """Given that the owner moves later, then the mail still comes at the time it was made for."""
    written = {"to": "ada@example.org", "title": "x"}
    stored = AddToDigestFields.model_validate(written, context={"zone": "Europe/Paris"}).model_dump(mode="json")
    assert stored["zone"] == "Europe/Paris"
    assert AddToDigestFields.model_validate(stored, context={"zone": "Asia/Tokyo"}).zone == "Europe/Paris"
