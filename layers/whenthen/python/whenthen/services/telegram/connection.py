"""What Telegram needs to know of a bot."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from whenthen.net.messages import Request
from whenthen.services.addresses import server_address
from whenthen.services.connecting import ConnectionType, Test, Token
from whenthen.services.contract import Fields
from whenthen.services.telegram.answers import read_bot

_TOKEN = re.compile(r"[0-9]+:[\w-]{20,}", re.ASCII)


def _bot_token(token: str) -> str:
    if not _TOKEN.fullmatch(token):
        raise ValueError("must be a bot's token, such as 123456:ABC-DEF…, which @BotFather gives")
    return token


class TelegramAccount(Fields):
    """A bot."""

    token: Annotated[
        Token,
        StringConstraints(min_length=1),
        AfterValidator(_bot_token),
        Field(title="Bot token", description="From @BotFather in Telegram."),
    ]
    server: Annotated[
        str,
        StringConstraints(max_length=2048),
        AfterValidator(server_address),
        Field(title="Server", description="Another one only for a Bot API server of your own."),
    ] = "https://api.telegram.org"

    def method(self, name: str) -> str:
        """Return the URL of a method of the Bot API. The token is in its path."""
        return f"{self.server}/bot{self.token}/{name}"


def test_account(account: TelegramAccount) -> Test:
    """Ask for the bot's name."""
    return Test(Request("GET", account.method("getMe")), read_bot)


CONNECTION = ConnectionType(
    fields=TelegramAccount, description="A bot of your own; @BotFather in Telegram makes one.", test=test_account
)
