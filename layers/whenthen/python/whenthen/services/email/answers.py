"""What a mail server's answer means, in words for people who are no programmers."""

from whenthen.net.messages import MailAnswer, MailStep
from whenthen.services.answers import shortened
from whenthen.services.work import Meaning, Reading

_WORDS = {
    MailStep.GREETING: "The mail server did not take the connection",
    MailStep.LOGIN: "The mail server did not accept the user name and password",
    MailStep.SENDER: "The mail server did not accept the sender",
    MailStep.RECIPIENTS: "The mail server did not accept the recipients",
    MailStep.CONTENT: "The mail server did not accept the mail",
}

_LOGIN_NEEDED = {530, 534, 535, 538}
"""RFC 4954, 6: authentication is required, too weak, or failed."""


def read_login(answer: MailAnswer) -> Reading:
    """Return what the answer to a log-in without a mail means; it has succeeded when the sender was accepted."""
    if answer.step is MailStep.SENDER and 200 <= answer.code < 300:
        return Reading(Meaning.SUCCEEDED)
    return read_mail(answer)


def read_mail(answer: MailAnswer) -> Reading:
    """Return what the answer means: 4xx may pass, 5xx is final (RFC 5321, 4.2.1), and some are about the login.

    A mail that reached some of its recipients is sent: another try would send it to those again. The others are named.
    """
    if answer.step is MailStep.CONTENT and 200 <= answer.code < 300:
        refused = ", ".join(f"{address} ({code} {said})" for address, (code, said) in answer.refused.items())
        return Reading(
            Meaning.SUCCEEDED, shortened(f"The mail server did not take it for {refused}.") if refused else ""
        )
    reason = f"{_WORDS[answer.step]}. It says: {answer.code} {shortened(answer.said)}"
    if 400 <= answer.code < 500:
        return Reading(Meaning.RETRY, reason)
    if answer.code in _LOGIN_NEEDED or answer.step is MailStep.LOGIN:
        return Reading(Meaning.UNAUTHORIZED, reason)
    return Reading(Meaning.FAILED, reason)
