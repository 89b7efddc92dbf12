"""What Slack needs to know of an owner's account."""

from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from whenthen.services.addresses import web_address
from whenthen.services.connecting import ConnectionType, OAuth, Test, Token
from whenthen.services.contract import Fields
from whenthen.services.requests import bearer, post_json
from whenthen.services.slack.answers import read_identity, read_webhook_test

API = "https://slack.com/api"


class SlackAccount(Fields):
    """A bot in a workspace, or an incoming webhook of a channel."""

    token: Annotated[
        Token,
        Field(title="Bot token", description="Begins with xoxb-; of an app with the permission chat:write."),
    ] = ""
    webhook_url: Annotated[
        Token,
        Field(title="Webhook URL", description="Of an incoming webhook; begins with https://hooks.slack.com/."),
    ] = ""
    client_id: Annotated[
        str,
        StringConstraints(max_length=256, strip_whitespace=True),
        Field(
            title="Client ID",
            description="Of your Slack app, to get a bot token by logging in; PKCE must be on in its settings.",
        ),
    ] = ""
    client_secret: Annotated[Token, Field(title="Client secret", description="Of your Slack app.")] = ""

    @model_validator(mode="after")
    def _one_way_in(self) -> Self:
        if self.token and self.webhook_url:
            raise ValueError("give either a token or a webhook_url: they are two connections")
        if not (self.token or self.webhook_url or self.client_id):
            raise ValueError("give a token or a webhook_url")
        if self.webhook_url:
            try:
                web_address(self.webhook_url)
            except ValueError as error:
                raise ValueError(f"webhook_url {error}") from error
        return self


def test_account(account: SlackAccount) -> Test:
    """Ask whose token it is, or post nothing to the webhook: it misses the text if it is there."""
    if account.webhook_url:
        return Test(post_json(account.webhook_url, {"text": ""}), read_webhook_test)
    return Test(post_json(f"{API}/auth.test", {}, bearer(account.token)), read_identity)


def _authorize_url(_: SlackAccount) -> str:
    return "https://slack.com/oauth/v2/authorize"


def _token_url(_: SlackAccount) -> str:
    return f"{API}/oauth.v2.access"


CONNECTION = ConnectionType(
    fields=SlackAccount,
    description="A bot token, which can post to every channel that the bot is in, or the URL of an incoming webhook, "
    "which posts to one channel.",
    test=test_account,
    oauth=OAuth(authorize_url=_authorize_url, token_url=_token_url, scope="chat:write"),
)
