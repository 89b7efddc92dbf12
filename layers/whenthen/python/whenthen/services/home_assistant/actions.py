"""Actions of the Home Assistant service. None is repeatable: a service may toggle or announce something."""

from whenthen.net.messages import Request
from whenthen.services.home_assistant.answers import read_called, read_webhook
from whenthen.services.home_assistant.connection import headers
from whenthen.services.home_assistant.fields import CallServiceFields, FireWebhookFields, check_data, check_service
from whenthen.services.rendered import checked
from whenthen.services.work import Send, Task


def call_service(task: Task[CallServiceFields]) -> Send:
    """Return the request that calls a service.

    Raises
    ------
    FieldError
        The service's name is none or the data is no JSON object, after rendering.
    """
    domain, _, service = checked("service", check_service, task.fields.service).partition(".")
    url = f"{task.account.url}/api/services/{domain}/{service}"
    return Send(_posted(url, task.fields.data, task.key, *headers(task.account)), repeatable=False, read=read_called)


def fire_webhook(task: Task[FireWebhookFields]) -> Send:
    """Return the request that fires a webhook. Its ID is all that Home Assistant asks for, so the token stays here.

    Raises
    ------
    FieldError
        The data is no JSON object after rendering.
    """
    url = f"{task.account.url}/api/webhook/{task.fields.webhook_id}"
    return Send(_posted(url, task.fields.data, task.key), repeatable=False, read=read_webhook)


def _posted(url: str, data: str, key: str, *others: tuple[str, str]) -> Request:
    # As it is written: the digits of its numbers are nobody's to round (case D09).
    body = checked("data", check_data, data).encode()
    headers = (("Content-Type", "application/json"), *others, ("Idempotency-Key", key))
    # A POST that a redirect turns into a GET fires nothing, and may be answered with 200.
    return Request("POST", url, headers, body, may_move=False)
