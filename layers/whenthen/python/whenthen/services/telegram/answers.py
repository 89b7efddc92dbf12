"""What the answers of Telegram's Bot API mean."""

from dataclasses import replace

from whenthen.net.messages import Answer
from whenthen.services.answers import json_object, not_from, read_status, said_by, shortened, wait_at_least
from whenthen.services.work import Meaning, Reading

# Errors have no codes of their own, so these are pieces of descriptions.
_WORDS = {
    "chat not found": "the chat does not exist, or the bot is not in it. A person has to write to the bot first",
    "bot was blocked by the user": "this person has blocked the bot",
    "user is deactivated": "this person's account was deleted",
    "bot was kicked": "the bot was removed from this chat",
    "bot is not a member": "the bot is not in this chat",
    "can't initiate conversation": "a person has to write to the bot before it may write to them",
    "can't send messages to bots": "a bot can't write to another bot",
    "have no rights to send": "the bot may not write in this chat",
    "not enough rights": "the bot may not do this in this chat",
    "need administrator rights": "the bot has to be an administrator of this channel",
    "chat_write_forbidden": "the bot may not write in this chat",
    "topic_closed": "this topic of the group is closed",
    "message text is empty": "the message is empty",
    "message is too long": "the message is too long",
    "can't parse entities": "it can't make sense of the formatting",
    "wrong file identifier/http url": "it could not get the photo from this address",
    "failed to get http url content": "it could not get the photo from this address",
    "wrong type of the web page content": "what is at this address is no photo",
    "photo_invalid_dimensions": "the photo is too large, or far too wide or high",
    "image_process_failed": "it could not read the photo",
}


def read_answer(answer: Answer) -> Reading:
    """Return what an answer means: `ok` and `error_code`, with the words of `description`.

    429 has its wait in `parameters.retry_after`. A token that is none at all is 404 instead of 401.
    """
    document = json_object(answer)
    description = said_by(answer, "description")
    reading = read_status(answer, description)
    if reading.meaning is Meaning.SUCCEEDED:
        return reading if document.get("ok") is True else not_from("Telegram")
    parameters = document.get("parameters")
    parameters = parameters if isinstance(parameters, dict) else {}
    if answer.status in (401, 404) and document.get("ok") is False:
        return Reading(
            Meaning.UNAUTHORIZED, f"Telegram says that the bot token is not valid ({shortened(description)})."
        )
    if isinstance(moved_to := parameters.get("migrate_to_chat_id"), int):
        reason = f"Telegram says that the group has a new chat ID, {moved_to}. Put it into the action."
        return Reading(Meaning.FAILED, reason)
    known = next((words for piece, words in _WORDS.items() if piece in description.lower()), None)
    if known:
        reading = replace(reading, reason=f"Telegram says that {known} ({shortened(description)}).")
    return wait_at_least(reading, parameters.get("retry_after"))


def read_bot(answer: Answer) -> str | Reading:
    """Return a bot's name (getMe)."""
    reading = read_answer(answer)
    if reading.meaning is not Meaning.SUCCEEDED:
        return reading
    bot = json_object(answer).get("result")
    name = bot.get("username") if isinstance(bot, dict) else None
    return f"@{name}" if isinstance(name, str) else not_from("Telegram")
