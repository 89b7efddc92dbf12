"""HTML as plain text, for mail programs that show no pages."""

import re
from html.parser import HTMLParser

_BREAKS = {"br", "li", "tr", "hr"}
_BLOCKS = {"p", "div", "ul", "ol", "table", "blockquote", "pre", "h1", "h2", "h3", "h4", "h5", "h6"}
_HIDDEN = {"script", "style", "title", "template"}


def plain_text(html: str) -> str:
    """Return the text that a page shows; links with their address behind them."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    lines = (line.strip() for line in "".join(reader.pieces).splitlines())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self._hidden = 0
        self._links: list[str] = []

    def parse_html_declaration(self, i: int) -> int:
        try:
            return super().parse_html_declaration(i)
        except AssertionError:
            # It knows a few words after <![ and raises at all others. To HTML it is a comment.
            return self.parse_bogus_comment(i)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _HIDDEN:
            self._hidden += 1
        elif tag in _BREAKS:
            self.pieces.append("\n")
        elif tag in _BLOCKS:
            self.pieces.append("\n\n")
        elif tag == "a":
            self._links.append(dict(attrs).get("href") or "")

    def handle_endtag(self, tag: str) -> None:
        if tag in _HIDDEN:
            self._hidden = max(self._hidden - 1, 0)
        elif tag in _BLOCKS:
            self.pieces.append("\n\n")
        elif tag == "a" and self._links and (link := self._links.pop()):
            self.pieces.append(f" ({link})")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.pieces.append(re.sub(r"\s+", " ", data))
