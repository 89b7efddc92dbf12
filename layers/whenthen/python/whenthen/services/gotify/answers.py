"""What the answers of a Gotify server mean."""

from whenthen.net.messages import Answer
from whenthen.services.answers import json_object, not_from, read_status, said_by
from whenthen.services.work import Meaning, Reading


def read_answer(answer: Answer) -> Reading:
    """Return what became of a message: the status decides, `errorDescription` says why."""
    reading = read_status(answer, said_by(answer, "errorDescription"))
    if reading.meaning is Meaning.SUCCEEDED and "id" not in json_object(answer):
        return not_from("Gotify")
    return reading
