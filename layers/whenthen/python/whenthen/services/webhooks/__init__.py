"""Webhooks: the Maker-compatible triggers and the web request action (PROTOCOLS.md 1)."""
