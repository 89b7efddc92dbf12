"""What the email service offers."""

from functools import partial

from whenthen.net.messages import Answer
from whenthen.services.connecting import ConnectionType, Test
from whenthen.services.contract import Action, Service
from whenthen.services.email.actions import send_email
from whenthen.services.email.connection import EmailAccount
from whenthen.services.email.fields import SendEmailFields
from whenthen.services.email.ses import account_request, read_account
from whenthen.services.work import Meaning, Reading


def _test(account: EmailAccount) -> Test | None:
    """Ask SES for the account; a mail server shows with the first mail whether it takes the password."""
    return Test(account_request(account), partial(_read, account.sender)) if account.kind == "ses" else None


def _read(sender: str, answer: Answer) -> str | Reading:
    reading = read_account(answer)
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
