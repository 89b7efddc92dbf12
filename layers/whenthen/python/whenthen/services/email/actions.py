"""Actions of the email service."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from whenthen.errors import FieldError
from whenthen.net.messages import Mail, Request
from whenthen.services.email.addresses import MAX_ADDRESSES, Address, read_addresses
from whenthen.services.email.answers import read_mail
from whenthen.services.email.connection import EmailAccount
from whenthen.services.email.fields import MAX_SUBJECT, SendEmailFields
from whenthen.services.email.ses import read_ses, send_request, signed
from whenthen.services.work import Reading, Steps, Task, Wire

if TYPE_CHECKING:
    from whenthen.services.email.message import Letter


def send_email(task: Task[SendEmailFields]) -> Steps:
    """Return the steps that get the attachment, if there is one, and send the mail. A repeat has the same Message-ID.

    Raises
    ------
    FieldError
        A field with addresses holds something else, there are too many, or the account can't send to one of them.
    """
    # The library's email package takes a while to load: only who sends needs it.
    from whenthen.services.email.message import Letter, compose

    fields, account = task.fields, task.account
    to, cc, bcc, reply_to = (_addresses(fields, name) for name in ("to", "cc", "bcc", "reply_to"))
    if not to:
        raise FieldError("to", "must hold an address")
    recipients = tuple(dict.fromkeys(address.spec for address in (*to, *cc, *bcc)))
    if len(recipients) > MAX_ADDRESSES:
        raise FieldError("to", f"has more than {MAX_ADDRESSES} recipients, copies included")
    subject = fields.subject if len(fields.subject) <= MAX_SUBJECT else fields.subject[: MAX_SUBJECT - 1] + "…"
    letter = Letter(
        key=task.key,
        sent_at=task.occurred_at,
        sender=Address(account.sender_name, account.sender),
        to=to,
        cc=cc,
        reply_to=reply_to,
        subject=subject,
        text=fields.body,
        html=fields.html,
    )
    if account.kind == "ses":
        _check_ascii(recipients)
        shown = send_request(account, recipients, compose(letter))
    else:
        shown = Request("MAIL", f"smtp://{account.host}:{account.port}", body=compose(letter))
    return Steps(shown, partial(_send, account, letter, recipients, fields.attachment_url), repeatable=False)


def _addresses(fields: SendEmailFields, name: str) -> tuple[Address, ...]:
    try:
        return read_addresses(getattr(fields, name))
    except ValueError as error:
        raise FieldError(name, str(error)) from error


def _check_ascii(recipients: Sequence[str]) -> None:
    for address in recipients:
        if not address.isascii():
            raise FieldError("to", f"has an address with letters that Amazon SES does not take: {address}")


def _send(
    account: EmailAccount, letter: "Letter", recipients: tuple[str, ...], attachment_url: str, wire: Wire
) -> Reading:
    from whenthen.services.email.attachments import fetch
    from whenthen.services.email.message import compose

    attachment = fetch(wire, attachment_url) if attachment_url else None
    if isinstance(attachment, Reading):
        return attachment
    content = compose(letter, attachment)
    if account.kind == "ses":
        request = signed(account, send_request(account, recipients, content))
        return read_ses(wire.send(request, repeatable=False))
    return read_mail(wire.mail(on_the_way(account, recipients, content)))


def on_the_way(account: EmailAccount, recipients: tuple[str, ...] = (), content: bytes = b"") -> Mail:
    """Return a message on its way to the account's mail server. Without recipients it is a log-in alone."""
    return Mail(
        host=account.host,
        port=account.port,
        security=account.security,
        sender=account.sender,
        recipients=recipients,
        content=content,
        user=account.user,
        password=account.password,
    )
