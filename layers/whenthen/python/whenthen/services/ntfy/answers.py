"""What the answers of an ntfy server mean."""

from dataclasses import replace

from whenthen.net.messages import Answer
from whenthen.services.answers import in_words, json_object, not_from, read_status, said_by
from whenthen.services.work import Meaning, Reading

# Codes of ntfy's server/errors.go that an owner can do something about.
_WORDS = {
    "40009": "there can't be a topic of this name",
    "40010": "this name is kept for the server itself and can't be a topic",
    "40014": "the message is too long for it",
    "40101": "the access token, or the user name and password, are not valid",
    "40301": "this account, or anybody without a connection, may not write to the topic",
    "41303": "the message is too long for it",
    "42901": "too many messages came from here; it wants to be left alone for a while",
    "42904": "it has no room for another topic",
    "42908": "the messages for today are used up",
}


def read_published(answer: Answer) -> Reading:
    """Return what became of a message."""
    reading = read_answer(answer)
    if reading.meaning is Meaning.SUCCEEDED and said_by(answer, "event") != "message":
        return not_from("ntfy")
    return reading


def read_answer(answer: Answer) -> Reading:
    """Return what an answer means: the status decides, the body's `code` says why."""
    reading = read_status(answer, said_by(answer, "error"))
    code = str(json_object(answer).get("code", ""))
    if reading.meaning is Meaning.SUCCEEDED or code not in _WORDS:
        return reading
    return replace(reading, reason=in_words("ntfy", code, _WORDS))
