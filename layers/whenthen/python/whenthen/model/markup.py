"""How text is written into messages whose markup is not HTML, so that it means nothing but itself."""

import re
from urllib.parse import quote

_LINK = re.compile(r"https?://[^\s<>]+", re.IGNORECASE)
_MARKDOWN = re.compile(r"[\\`*_~|\[\]<>&]")
_MARKDOWN_IN_A_LINK = re.compile(r"[\\`*~|\[\]()]")
# What makes a heading, quotation, list or rule at the start of a line, which a carriage return ends, too.
_LINE_START = re.compile(r"(?:^|(?<=[\r\n]))([^\S\r\n]*)([#+=-]|\d{1,9}(?=[.)]))")
_LINE_END = re.compile(r"[\r\n]")
_MENTION = re.compile(r"(?<![\w/=])@(?=\w|$)")
# GitHub's html-pipeline: after all but ASCII letters, digits and _.
_GITHUB_MENTION = re.compile(r"(?<!\w)@(?=\w|$)", re.ASCII)

ZERO_WIDTH_SPACE = "\u200b"


def escape_mrkdwn(text: str) -> str:
    """Return `text` for a Slack message: ``&``, ``<`` and ``>`` are all that Slack lets anybody escape.

    Links and mentions, ``<!channel>`` too, need the brackets. Asterisks and underscores may still make a word bold or
    italic: Slack has no way to write them otherwise.
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def escape_markdown(text: str) -> str:
    """Return `text` for a Markdown document (CommonMark 2.4: a backslash before punctuation).

    A backslash within a web address would become a part of it, so there what has a meaning is percent-encoded.
    """
    pieces, position = [], 0
    for link in _LINK.finditer(text):
        pieces += [_plain_markdown(text[position : link.start()], position), _link_markdown(link[0])]
        position = link.end()
    return "".join([*pieces, _plain_markdown(text[position:], position)])


def _plain_markdown(text: str, position: int) -> str:
    escaped = _MARKDOWN.sub(r"\\\g<0>", text)
    # What follows a link does not start a line.
    head, rest = ("", escaped) if position == 0 else _first_line(escaped)
    return head + _LINE_START.sub(_escaped_start, rest)


def _first_line(text: str) -> tuple[str, str]:
    found = _LINE_END.search(text)
    return (text[: found.end()], text[found.end() :]) if found else (text, "")


def _escaped_start(found: re.Match[str]) -> str:
    indent, sign = found.groups()
    return f"{indent}{sign}\\" if sign.isdigit() else f"{indent}\\{sign}"


def _link_markdown(link: str) -> str:
    return _MARKDOWN_IN_A_LINK.sub(lambda found: quote(found[0], safe=""), link)


def without_mentions(text: str) -> str:
    """Return `text` with a zero-width space after each @ that would mention somebody.

    It looks the same and nobody is notified.
    """
    return _MENTION.sub(f"@{ZERO_WIDTH_SPACE}", text)


def escape_github(text: str) -> str:
    """Return `text` for GitHub's Markdown, mentioning nobody.

    In what looks like a web address an @ is percent-encoded: not all of it is a link to GitHub, and a slash before an @
    does not hinder it from being a mention.
    """
    without_links = _LINK.sub(lambda link: link[0].replace("@", "%40"), text)
    return _GITHUB_MENTION.sub(f"@{ZERO_WIDTH_SPACE}", escape_markdown(without_links))
