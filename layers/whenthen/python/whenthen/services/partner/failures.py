"""Why a partner gave no events (PROTOCOLS.md 3, B.4)."""

from urllib.parse import urlsplit

from whenthen.model.values import without_surrogates
from whenthen.net.messages import Answer
from whenthen.net.retry_after import retry_after_seconds
from whenthen.services.checking import CheckFailed, Refused
from whenthen.services.documents import MAX_RETRY_AFTER_SECONDS, is_temporary
from whenthen.services.partner.access import Access
from whenthen.services.partner.answers import read_json
from whenthen.services.partner.fields import EventFields

MAX_MESSAGES = 3
MAX_MESSAGE_CHARACTERS = 300

_FIELDS = {400: "trigger_fields", 401: "service_key", 404: "trigger"}


def failure(answer: Answer, access: Access, fields: EventFields, now: int) -> CheckFailed:
    """Return what an answer other than 200 means.

    Parameters
    ----------
    answer:
        The answer.
    access:
        What it was asked with. Its secrets do not get into the words, though some partners repeat them.
    fields:
        The trigger's.
    now:
        Epoch milliseconds.

    Returns
    -------
    CheckFailed
        `Refused` when it was a connection's secret that was refused.
    """
    messages = said_in(answer.body, access)
    secret = "token" if access.token else "service key"
    words = f"The {secret} was refused" if answer.status == 401 else f"The partner answered {answer.status}"
    words += f": {messages}" if messages else "."
    if answer.url != access.endpoint(f"triggers/{fields.trigger}"):
        words += " The address leads to another one, and what was asked got lost: use the one that it leads to."
    wait = retry_after_seconds(answer.headers.get("retry-after"), now / 1000)
    is_refused = answer.status == 401 and access.is_connected
    return (Refused if is_refused else CheckFailed)(
        words,
        field="" if is_refused else _FIELDS.get(answer.status, "url"),
        retry_at=now + round(min(wait, MAX_RETRY_AFTER_SECONDS) * 1000) if wait else None,
        host=urlsplit(answer.url).hostname or "",
        temporary=is_temporary(answer.status),
    )


def said_in(body: bytes, access: Access) -> str:
    """Return what the errors of an answer say, in a bounded line without the secrets of `access`."""
    try:
        document = read_json(body)
    except (ValueError, RecursionError):
        return ""
    errors = document.get("errors") if isinstance(document, dict) else None
    entries = errors if isinstance(errors, list) else []
    found = [entry.get("message") for entry in entries if isinstance(entry, dict)]
    texts = [access.hide(text) for text in found if isinstance(text, str)]
    line = " ".join(" ".join(texts[:MAX_MESSAGES]).split())[:MAX_MESSAGE_CHARACTERS]
    return without_surrogates("".join(character for character in line if character.isprintable()))
