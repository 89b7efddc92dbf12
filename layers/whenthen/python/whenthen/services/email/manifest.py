"""What the email service offers."""

from collections.abc import Callable
from functools import partial

from whenthen.services.connecting import ConnectionType, MailTest, Test
from whenthen.services.contract import Action, Service
from whenthen.services.email.actions import on_the_way, send_email
from whenthen.services.email.answers import read_login
from whenthen.services.email.connection import EmailAccount
from whenthen.services.email.fields import SendEmailFields
from whenthen.services.email.ses import account_request, read_account
from whenthen.services.work import Meaning, Reading


def _test(account: EmailAccount) -> Test | MailTest:
    if account.kind == "ses":
        return Test(account_request(account), partial(_name, account.sender, read_account))
    return MailTest(on_the_way(account), partial(_name, account.sender, read_login))


def _name[A](sender: str, read: Callable[[A], Reading], answer: A) -> str | Reading:
    reading = read(answer)
    return sender if reading.meaning is Meaning.SUCCEEDED else reading


SERVICE = Service(
    slug="email",
    name="Email",
    actions=(
        Action(
            slug="send_email",
            name="Send an email",
            description="Sends a mail from your account, with an attachment if you like.",
            fields=SendEmailFields,
            prepare=send_email,
            connects="email",
        ),
    ),
    connection=ConnectionType(
        fields=EmailAccount,
        description="A mail server with your address and password, or Amazon SES with an access key.",
        test=_test,
    ),
)
