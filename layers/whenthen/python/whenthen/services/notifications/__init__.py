"""Notifications: messages in the owner's inbox inside whenthen; no account anywhere is needed."""
