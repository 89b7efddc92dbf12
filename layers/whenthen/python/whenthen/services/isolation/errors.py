"""What a program that reads documents says when it can't."""

TOO_HARD = "The document takes too much time or memory to be read."

TOO_BUSY = "Too many documents are being read; this one is tried again."


class NotRead(Exception):
    """The document can't be read; the message is for the owner."""
