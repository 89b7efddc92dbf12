"""What Discord needs to know of a webhook."""

import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, StringConstraints

from whenthen.net.messages import Request
from whenthen.services.addresses import web_address
from whenthen.services.connecting import ConnectionType, Test, Token
from whenthen.services.contract import Fields
from whenthen.services.discord.answers import read_webhook

_PATH = re.compile(r"/api(/v[0-9]+)?/webhooks/[0-9]+/[\w-]+", re.ASCII)


def _webhook_url(url: str) -> str:
    address = web_address(url)
    # Whatever stands behind a # is not sent, and what an action adds at the end would not be either.
    if "#" in address or not _PATH.fullmatch(urlsplit(address).path):
        raise ValueError("must be the URL of a Discord webhook: https://discord.com/api/webhooks/…/…")
    return address


class DiscordAccount(Fields):
    """A webhook of a channel."""

    webhook_url: Annotated[
        Token,
        StringConstraints(min_length=1),
        AfterValidator(_webhook_url),
        Field(
            title="Webhook URL",
            description="From the settings of the channel, Integrations. ?thread_id= and an ID at its end post to a "
            "thread.",
        ),
    ]


def test_account(account: DiscordAccount) -> Test:
    """Ask for the webhook's name."""
    return Test(Request("GET", account.webhook_url.partition("?")[0]), read_webhook)


CONNECTION = ConnectionType(
    fields=DiscordAccount, description="A webhook of a channel, which posts to that channel.", test=test_account
)
