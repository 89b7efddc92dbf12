"""Samples of the button service."""

from tests.support.samples import Sample

SAMPLES = {"pressed": Sample({"label": "Open the garage"}, account={})}
