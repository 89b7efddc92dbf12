"""Owners' accounts at services: made, opened for use, and kept working."""
