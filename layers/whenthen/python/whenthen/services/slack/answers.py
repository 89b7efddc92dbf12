"""What Slack's answers mean: its API says with status 200 that something failed (case F20)."""

from dataclasses import replace

from whenthen.net.messages import Answer
from whenthen.services.answers import in_words, json_object, not_from, read_status, said_by
from whenthen.services.work import Meaning, Reading

_WORDS = {
    "account_inactive": "the bot or its workspace was deleted",
    "action_prohibited": "an administrator does not allow webhooks here",
    "channel_is_archived": "the channel is archived",
    "channel_not_found": "the channel does not exist, or the bot is not in it",
    "ekm_access_denied": "an administrator has stopped messages",
    "fatal_error": "something went wrong; look whether the message is there before you run it again",
    "internal_error": "something went wrong; look whether the message is there before you run it again",
    "invalid_auth": "the bot token is not valid",
    "invalid_payload": "it could not make sense of the message",
    "invalid_token": "the webhook URL is not valid",
    "is_archived": "the channel is archived",
    "missing_scope": "the bot lacks a permission: it needs chat:write",
    "missing_text_or_fallback_or_attachments": "the message has no text",
    "msg_too_long": "the message is too long",
    "no_permission": "the bot may not write to this channel",
    "no_service": "the webhook was removed or turned off",
    "no_service_id": "the webhook URL is not complete",
    "no_team": "the webhook's workspace does not exist",
    "no_text": "the message has no text",
    "not_authed": "no bot token was given",
    "not_in_channel": "the bot is not in the channel; invite it there",
    "posting_to_general_channel_denied": "this webhook may not write to the general channel",
    "rate_limited": "too many messages came; it wants to be left alone for a while",
    "ratelimited": "too many messages came; it wants to be left alone for a while",
    "request_timeout": "the message did not arrive as a whole",
    "restricted_action": "the workspace's rules do not let the bot write here",
    "service_unavailable": "it can't do this now",
    "team_added_to_org": "the workspace is being moved",
    "team_disabled": "the webhook's workspace was turned off",
    "token_expired": "the bot token has run out",
    "token_revoked": "the bot token was withdrawn, or the app was removed",
}

_UNAUTHORIZED = {
    "account_inactive", "invalid_auth", "invalid_token", "no_service", "no_service_id", "no_team", "not_authed",
    "team_disabled", "token_expired", "token_revoked",
}  # fmt: skip

# The message may have been posted (docs.slack.dev, chat.postMessage), so they are final whatever the status.
_HALF_DONE = {"fatal_error", "internal_error"}

_RETRIED = {"rate_limited", "ratelimited", "request_timeout", "service_unavailable", "team_added_to_org"}

# https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks: the rest of a text, when there is none.
_NO_TEXT = {"no_text", "missing_text_or_fallback_or_attachments"}


def read_api(answer: Answer) -> Reading:
    """Return what an answer of the Web API means."""
    if error := said_by(answer, "error"):
        return _refused(answer, error)
    reading = read_status(answer)
    if reading.meaning is Meaning.SUCCEEDED and json_object(answer).get("ok") is not True:
        return not_from("Slack")
    return reading


def read_identity(answer: Answer) -> str | Reading:
    """Return who a token belongs to (auth.test)."""
    reading = read_api(answer)
    if reading.meaning is not Meaning.SUCCEEDED:
        return reading
    return f"{said_by(answer, 'user')} in {said_by(answer, 'team')}"


def read_webhook(answer: Answer) -> Reading:
    """Return what an answer of an incoming webhook means: ``ok``, or an error's code as text."""
    said = _text(answer)
    if said in _WORDS:
        return _refused(answer, said)
    reading = read_status(answer, said)
    return not_from("Slack") if reading.meaning is Meaning.SUCCEEDED and said != "ok" else reading


def read_webhook_test(answer: Answer) -> str | Reading:
    """Return whether a webhook was there to miss the text of a message without one."""
    reading = read_webhook(answer)
    is_there = _text(answer) in _NO_TEXT or reading.meaning is Meaning.SUCCEEDED
    return "an incoming webhook" if is_there else reading


def _text(answer: Answer) -> str:
    return answer.body[:1000].decode("utf-8", "replace").strip()


def _refused(answer: Answer, error: str) -> Reading:
    reason = in_words("Slack", error, _WORDS)
    if error in _RETRIED:
        # As if it had said so by its status, for the sake of Retry-After.
        return replace(read_status(replace(answer, status=429)), reason=reason)
    if error in _UNAUTHORIZED:
        return Reading(Meaning.UNAUTHORIZED, reason)
    by_status = read_status(answer)
    if error not in _HALF_DONE and by_status.meaning in (Meaning.RETRY, Meaning.UNAUTHORIZED):
        return replace(by_status, reason=reason)
    return Reading(Meaning.FAILED, reason)
