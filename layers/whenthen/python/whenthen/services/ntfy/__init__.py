"""ntfy: push messages to phones, over ntfy.sh or a server of one's own."""
