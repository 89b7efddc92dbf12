"""Samples of the ntfy service."""

from tests.support.samples import Sample

SAMPLES = {"publish": Sample({"topic": "door", "message": "{{Value1}}", "click": "https://example.org"})}
