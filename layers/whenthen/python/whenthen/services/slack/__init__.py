"""Slack: messages by a bot or by an incoming webhook."""
