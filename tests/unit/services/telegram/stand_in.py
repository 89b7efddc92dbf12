"""Telegram's Bot API as its documentation has it: it reads the HTML, counts what is to be seen and knows one chat."""

import json
from html.parser import HTMLParser

from tests.support.sink import Recorded, Reply
from tests.support.vendor import Vendor, is_json, json_reply

TOKEN = "123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11"
CHAT = "-1009007199254740993"
_TAGS = frozenset(
    ("b", "strong", "i", "em", "u", "ins", "s", "strike", "del", "tg-spoiler", "span", "a", "tg-emoji", "code", "pre")
) | {"blockquote"}


def error(status: int, description: str, **parameters: int) -> Reply:
    """An error as Telegram writes it."""
    document: dict[str, object] = {"ok": False, "error_code": status, "description": description}
    return json_reply({**document, "parameters": parameters} if parameters else document, status)


class _Reader(HTMLParser):
    """Reads a text as strictly as Telegram does; `seen` is what people see."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.seen = ""
        self._opened: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _TAGS:
            raise ValueError(f'Unsupported start tag "{tag}"')
        if tag == "span" and attrs != [("class", "tg-spoiler")]:
            raise ValueError('Tag "span" must have class "tg-spoiler"')
        self._opened.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self._opened or self._opened.pop() != tag:
            raise ValueError(f'Unmatched end tag "{tag}"')

    def handle_data(self, data: str) -> None:
        self.seen += data

    def handle_comment(self, data: str) -> None:
        raise ValueError(f'Unsupported start tag "!--{data}"')

    def read(self, text: str) -> str:
        """What is to be seen of a text. Raises ValueError if it can't be read."""
        if any(not self._is_tag(text, index) for index, sign in enumerate(text) if sign == "<"):
            raise ValueError("Unsupported start tag")
        self.feed(text)
        self.close()
        if self._opened:
            raise ValueError("Can't find end tag")
        return self.seen

    @staticmethod
    def _is_tag(text: str, index: int) -> bool:
        return text[index + 1 : index + 2].isalpha() or text[index + 1 : index + 2] == "/"


def seen(text: str, parse_mode: str | None) -> str:
    """What people see of a text. Raises ValueError if it can't be read."""
    return _Reader().read(text) if parse_mode == "HTML" else text


class Telegram(Vendor):
    """A bot and a chat."""

    def answer(self, request: Recorded) -> Reply:
        _, bot, method = request.path.split("/", 2)
        if bot != f"bot{TOKEN}":
            return error(401, "Unauthorized") if bot.partition(":")[0] == "bot123456" else error(404, "Not Found")
        if method == "getMe":
            return json_reply({"ok": True, "result": {"id": 123456, "is_bot": True, "username": "lamp_bot"}})
        if not is_json(request):
            return error(400, "Bad Request: message text is empty")
        fields = json.loads(request.body.decode())
        if str(fields["chat_id"]) not in (CHAT, "@news"):
            return error(400, "Bad Request: chat not found")
        name, limit = ("text", 4096) if method == "sendMessage" else ("caption", 1024)
        try:
            text = seen(fields[name], fields.get("parse_mode"))
        except ValueError as problem:
            return error(400, f"Bad Request: can't parse entities: {problem}")
        if name == "text" and not text.strip():
            return error(400, "Bad Request: message text is empty")
        if len(text.encode("utf-16-le")) // 2 > limit:
            return error(400, f"Bad Request: message {name} is too long")
        return json_reply({"ok": True, "result": {"message_id": 1, name: text}})
