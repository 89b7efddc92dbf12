"""Mastodon: posts on any server that speaks its API."""
