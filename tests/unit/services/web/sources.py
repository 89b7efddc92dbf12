"""Checks of the web service, and what their source shows."""

from typing import Any

from tests.support.checking import Checks
from tests.support.sink import Reply, Sink


def json_checks(sink: Sink, expression: str = "a") -> Checks:
    return Checks("web", "json_value_changes", {"url": f"{sink.url}/doc", "expression": expression})


def condition_checks(sink: Sink, operator: str, value: str, expression: str = "a") -> Checks:
    fields = {"url": f"{sink.url}/doc", "expression": expression, "operator": operator, "value": value}
    return Checks("web", "json_value_meets", fields)


def page_checks(sink: Sink, selector: str = "") -> Checks:
    return Checks("web", "page_text_changes", {"url": f"{sink.url}/doc", "selector": selector})


def show(sink: Sink, body: str | bytes, *headers: tuple[str, str], **more: Any) -> None:
    """Answer with this document from now on."""
    content = body.encode() if isinstance(body, str) else body
    sink.reply("/doc", [Reply(body=content, headers=headers, **more)])
