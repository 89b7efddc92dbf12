"""Telegram: messages and photos by a bot."""
