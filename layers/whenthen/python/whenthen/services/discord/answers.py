"""What Discord's answers mean."""

from dataclasses import replace
from typing import Any

from whenthen.net.messages import Answer
from whenthen.services.answers import in_words, json_object, not_from, read_status, said_by, shortened, wait_at_least
from whenthen.services.work import Meaning, Reading

# https://docs.discord.com/developers/topics/opcodes-and-status-codes
_WORDS = {
    "10003": "the channel does not exist any more",
    "10015": "the webhook was deleted",
    "20016": "the channel is in slow mode",
    "20028": "too many messages came to this channel; it wants to be left alone for a while",
    "20029": "too many messages came to this server; it wants to be left alone for a while",
    "40005": "the message is too large",
    "50006": "the message is empty",
    "50013": "the webhook may not do this",
    "50027": "the webhook URL is not valid",
    "50083": "the thread is archived",
    "160005": "the thread is locked",
    "200000": "the server's automatic moderation has blocked the message",
    "200001": "the server's automatic moderation has blocked the title",
    "220001": "messages to a forum need a thread: add ?thread_id= and its ID to the webhook URL",
    "240000": "a link in the message was blocked as harmful",
}

_UNAUTHORIZED = {"10015", "50027"}


def read_answer(answer: Answer) -> Reading:
    """Return what an answer means: the status decides, the body's `code` and `message` say why.

    With ``wait=true`` a message that was posted comes back. The webhook itself, which has an id too, is none.
    """
    reading = _read(answer)
    is_posted = reading.meaning is not Meaning.SUCCEEDED or {"id", "content"} <= json_object(answer).keys()
    return reading if is_posted else not_from("Discord")


def _read(answer: Answer) -> Reading:
    document = json_object(answer)
    reading = read_status(answer)
    if reading.meaning is Meaning.SUCCEEDED:
        return reading
    code, message = str(document.get("code", "")), said_by(answer, "message")
    if code == "50035":
        return replace(reading, reason=f"Discord did not accept the message. It says: {_first_error(document)}")
    if code in _WORDS:
        reading = replace(reading, reason=in_words("Discord", code, _WORDS))
    elif message:
        reading = read_status(answer, message)
    if code in _UNAUTHORIZED:
        return replace(reading, meaning=Meaning.UNAUTHORIZED)
    # In the body it is more exact than in the header.
    return wait_at_least(reading, document.get("retry_after"))


def read_webhook(answer: Answer) -> str | Reading:
    """Return a webhook's name."""
    reading = _read(answer)
    if reading.meaning is not Meaning.SUCCEEDED:
        return reading
    return said_by(answer, "name") if "id" in json_object(answer) else not_from("Discord")


def _first_error(document: Any) -> str:
    """Return the first error of Discord's tree of them, ``embeds.0.url: Not a well formed URL.``."""
    path: list[str] = []
    node = document.get("errors")
    while isinstance(node, dict) and node:
        errors = node.get("_errors")
        if isinstance(errors, list) and errors and isinstance(errors[0], dict):
            return shortened(f"{'.'.join(path)}: {errors[0].get('message')}")
        name, node = next(iter(node.items()))
        path.append(str(name))
    return shortened(str(document.get("message")))
