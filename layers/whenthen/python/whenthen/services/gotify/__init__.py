"""Gotify: push messages over a server of one's own."""
