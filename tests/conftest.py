"""Fixtures for every folder of tests."""

pytest_plugins = ["tests.support.fixtures"]
