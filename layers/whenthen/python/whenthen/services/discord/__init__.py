"""Discord: messages by a channel's webhook."""
