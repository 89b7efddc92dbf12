"""The content lines of a calendar (RFC 5545, section 3.1), read as far as we need them.

Each event is on its own: what can't be read in one does not hide the others. A whole parser would also keep
what a calendar calls its time zones for all calendars to come.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from whenthen.services.checking import CheckFailed

MAX_EVENTS = 20_000

_KEPT = {
    "VEVENT": {
        "CREATED", "DESCRIPTION", "DTEND", "DTSTART", "DURATION", "EXDATE", "LOCATION", "RDATE", "RECURRENCE-ID",
        "RRULE", "SEQUENCE", "STATUS", "SUMMARY", "UID", "URL",
    },
    "VTIMEZONE": {"TZID", "X-LIC-LOCATION"},
    "STANDARD": {"DTSTART", "RDATE", "RRULE", "TZOFFSETFROM", "TZOFFSETTO"},
    "DAYLIGHT": {"DTSTART", "RDATE", "RRULE", "TZOFFSETFROM", "TZOFFSETTO"},
}  # fmt: skip
_DEEPEST = 4
"""An alarm in an event in a calendar, and one more."""

_NAME = re.compile(r"[A-Za-z0-9-]+(?=[;:])")
_HEAD = re.compile(r'(?:[^":]|"[^"]*")*+:')
_PARAMETER = re.compile(r';([A-Za-z0-9-]+)=("[^"]*"|[^;]*)')
_ESCAPED = re.compile(r"\\([\\;,nN])")


def cut(text: str, characters: int) -> str:
    """Return the text, or its beginning when it is longer than so many characters."""
    return text if len(text) <= characters else text[: characters - 1] + "…"


@dataclass(frozen=True, slots=True)
class Property:
    """The value of a property as it is written, and its parameters by upper-case name."""

    value: str
    parameters: dict[str, str]

    def text(self) -> str:
        """Return the value of a text property (section 3.3.11)."""
        return _ESCAPED.sub(lambda found: "\n" if found[1] in "nN" else found[1], self.value)


@dataclass(slots=True)
class Component:
    """An event, a time zone or a part of one."""

    name: str
    properties: dict[str, list[Property]] = field(default_factory=dict)
    parts: list["Component"] = field(default_factory=list)

    def first(self, name: str) -> Property | None:
        """Return the first property of this name."""
        found = self.properties.get(name)
        return found[0] if found else None

    def all(self, name: str) -> list[Property]:
        """Return all properties of this name."""
        return self.properties.get(name, [])

    def text(self, name: str, characters: int) -> str:
        """Return a text property, cut to so many characters; empty without one."""
        found = self.first(name)
        return cut(found.text().strip() if found else "", characters)


@dataclass(frozen=True, slots=True)
class Contents:
    """What a calendar holds. `complete` says that it ended as it should."""

    events: list[Component]
    zones: list[Component]
    complete: bool


def read_contents(body: bytes, charset: str) -> Contents:
    """Return the events and time zones of a calendar.

    Parameters
    ----------
    body:
        The calendar as it came.
    charset:
        What its Content-Type names, for what is not in UTF-8; may be empty.

    Raises
    ------
    CheckFailed
        It is not a calendar, or has more than `MAX_EVENTS` events.
    """
    events: list[Component] = []
    zones: list[Component] = []
    open_components: list[Component] = []
    begun = complete = False
    for line in _unfolded(body, charset):
        found = _NAME.match(line)
        if found is None:
            continue
        name = found[0].upper()
        if name == "BEGIN":
            kind = line[6:].strip().upper()
            begun = begun or kind == "VCALENDAR"
            if kind == "VEVENT" and any(component.name == "VEVENT" for component in open_components[-_DEEPEST:]):
                # The one before has no end.
                open_components.clear()
            component = Component(kind)
            if kind == "VEVENT":
                events.append(component)
                if len(events) > MAX_EVENTS:
                    raise CheckFailed(f"The calendar has more than {MAX_EVENTS} events.", field="url")
            elif kind == "VTIMEZONE":
                zones.append(component)
            elif kind in _KEPT and open_components:
                open_components[-1].parts.append(component)
            open_components.append(component)
        elif name == "END":
            kind = line[4:].strip().upper()
            complete = complete or kind == "VCALENDAR"
            # With it ends what is in it and has no end of its own.
            for depth in range(1, min(len(open_components), _DEEPEST) + 1):
                if open_components[-depth].name == kind:
                    del open_components[-depth:]
                    break
        elif open_components and name in _KEPT.get(open_components[-1].name, ()):
            open_components[-1].properties.setdefault(name, []).append(_property(line))
    if not begun:
        raise CheckFailed(_what_else(body), field="url")
    return Contents(events, zones, complete)


def _unfolded(body: bytes, charset: str) -> Iterator[str]:
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        body = body.decode("utf-16", "replace").encode()
    # As bytes: lines may be folded within a character (section 3.1).
    body = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n").replace(b"\n ", b"").replace(b"\n\t", b"")
    return iter(_decoded(body.removeprefix(b"\xef\xbb\xbf"), charset).split("\n"))


def _decoded(body: bytes, charset: str) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError:
        return body.decode("latin-1" if re.fullmatch(r"(?i)iso-?8859-1|latin-?1", charset) else "cp1252", "replace")


def _property(line: str) -> Property:
    head = _HEAD.match(line)
    # Without an end of its quotation marks, the first colon is as good as any.
    split = head.end() - 1 if head else line.index(":") if ":" in line else len(line)
    parameters = {name.upper(): value.strip('"') for name, value in _PARAMETER.findall(line[:split])}
    return Property(line[split + 1 :], parameters)


def _what_else(body: bytes) -> str:
    if body.lstrip()[:1] == b"<":
        return "The address gives a web page, not a calendar; it may need a login, or be the page that shows it."
    return "The source is not a calendar in iCal format."
