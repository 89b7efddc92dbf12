"""Samples of the Todoist service."""

from tests.support.samples import Sample

ACCOUNT = {"token": "0123456789abcdef"}

SAMPLES = {"create_task": Sample({"content": "Buy milk", "due": "tomorrow", "labels": ["food"]}, ACCOUNT)}
