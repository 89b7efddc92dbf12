"""Actions of the Telegram service. The Bot API knows no idempotency key, so no request is repeatable."""

from typing import Any

from whenthen.services.addresses import web_address
from whenthen.services.rendered import checked
from whenthen.services.requests import post_json
from whenthen.services.telegram.answers import read_answer
from whenthen.services.telegram.connection import TelegramAccount
from whenthen.services.telegram.fields import Formatting, SendMessageFields, SendPhotoFields, check_chat
from whenthen.services.telegram.markup import fitted_html
from whenthen.services.texts import fitted, utf16_units
from whenthen.services.work import Send, Task

# https://core.telegram.org/bots/api#sendmessage and #sendphoto, counted in UTF-16 units (#messageentity).
MAX_TEXT = 4096
MAX_CAPTION = 1024


def send_message(task: Task[SendMessageFields]) -> Send:
    """Return the message.

    Raises
    ------
    FieldError
        The chat's ID can't be used.
    """
    fields = task.fields
    document: dict[str, Any] = {
        "chat_id": checked("chat_id", check_chat, fields.chat_id),
        "text": _fitted(fields.text, fields.formatting, MAX_TEXT),
    }
    if not fields.link_preview:
        document["link_preview_options"] = {"is_disabled": True}
    return _send(task.account, "sendMessage", fields.formatting, document)


def send_photo(task: Task[SendPhotoFields]) -> Send:
    """Return the photo's address and caption.

    Raises
    ------
    FieldError
        The chat's ID or the photo's address can't be used.
    """
    fields = task.fields
    document: dict[str, Any] = {
        "chat_id": checked("chat_id", check_chat, fields.chat_id),
        "photo": checked("photo", web_address, fields.photo),
        "caption": _fitted(fields.caption, fields.formatting, MAX_CAPTION),
    }
    return _send(task.account, "sendPhoto", fields.formatting, document)


def _fitted(text: str, formatting: Formatting, limit: int) -> str:
    return fitted_html(text, limit) if formatting == "html" else fitted(text, limit, utf16_units)


def _send(account: TelegramAccount, method: str, formatting: Formatting, document: dict[str, Any]) -> Send:
    if formatting == "html":
        document["parse_mode"] = "HTML"
    return Send(post_json(account.method(method), document), repeatable=False, read=read_answer)
