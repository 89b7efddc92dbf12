"""A mail server, a client that may reach it, and mail as an owner sends it."""

from collections.abc import Callable, Iterator
from ipaddress import ip_network
from typing import Any

import pytest

from tests.support.mail_server import MailServer
from tests.support.sink import Sink
from whenthen.engine.wire import Sent, perform
from whenthen.net import GuardedClient
from whenthen.services.email.actions import send_email
from whenthen.services.email.connection import EmailAccount
from whenthen.services.email.fields import SendEmailFields
from whenthen.services.work import Steps, Task

SENT_AT = 1_764_440_400_000
"""29 November 2025, 18:20 UTC."""

type Send = Callable[..., Sent]


def prepared(account: EmailAccount, *, key: str = "execution.0", **fields: Any) -> Steps:
    """The work of a mail to Ada, with other fields as given."""
    given = SendEmailFields.model_validate({"to": "ada@example.org", **fields})
    return send_email(Task(given, key, account, SENT_AT))


@pytest.fixture
def server() -> Iterator[MailServer]:
    with MailServer() as running:
        yield running


@pytest.fixture
def sink() -> Iterator[Sink]:
    with Sink() as running:
        yield running


@pytest.fixture
def client() -> Iterator[GuardedClient]:
    made = GuardedClient(allowed_networks=[ip_network("127.0.0.1/32")], timeout_seconds=5)
    yield made
    made.close()


@pytest.fixture
def send(server: MailServer, client: GuardedClient) -> Send:
    """Send a mail by the server."""

    def sent(*, sender_name: str = "", **fields: Any) -> Sent:
        account = EmailAccount(
            sender="me@example.org", sender_name=sender_name, host="127.0.0.1", port=server.port, security="none"
        )
        return perform(client, prepared(account, **fields), timeout_seconds=5)

    return sent
