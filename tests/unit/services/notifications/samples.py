"""Samples of the notifications service."""

from tests.support.samples import Sample

SAMPLES = {"send_notification": Sample({"message": "hello"})}
