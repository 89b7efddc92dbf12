"""The mail of a digest: what was collected, in order."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from whenthen.services.texts import utf8_bytes

MAX_LISTED = 200
"""The most entries that a mail lists; the others are counted."""

_MAX_BYTES = 200_000
"""Of HTML in UTF-8: within what an email may have, and its text within what a template may become."""

type Entry = Mapping[str, str]
"""Texts: `title`, `text` and `link`, each of which may be empty."""


def letter_fields(to: str, entries: Sequence[Entry], collected: int) -> tuple[dict[str, Any], dict[str, str]]:
    """Return fields of the action ``email.send_email``, and the ingredients of their templates but ``Subject``.

    Parameters
    ----------
    entries:
        The first `MAX_LISTED` at most.
    collected:
        How many there are in all.
    """
    pages: list[str] = []
    texts: list[str] = []
    room = _MAX_BYTES
    for entry in entries:
        page = _page(entry)
        room -= utf8_bytes(page)
        if room < 0:
            break
        pages.append(page)
        texts.append("\n".join(filter(None, (entry["title"], entry["text"], entry["link"]))))
    left = collected - len(pages)
    if left:
        more = f"… and {left} more."
        pages.append(f"<p>{more}</p>")
        texts.append(more)
    fields = {"to": to, "subject": "{{Subject}}", "body": "{{Text}}", "html": "\n".join(pages)}
    return fields, {"Text": "\n\n".join(texts)}


def _page(entry: Entry) -> str:
    """Return an entry as HTML that holds no template: its braces are written as references."""
    title, text, link = (_escaped(entry[name]) for name in ("title", "text", "link"))
    head = f'<a href="{link}">{title or link}</a>' if link else title
    body = text.replace("\n", "<br>")
    return "<p>" + "<br>".join(filter(None, (f"<b>{head}</b>" if head else "", body))) + "</p>"


def _escaped(text: str) -> str:
    return escape(text, quote=True).replace("{", "&#123;").replace("}", "&#125;")
