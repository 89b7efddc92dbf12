"""Templates become pages. Everything that is put into a template is escaped; nothing is marked as safe."""

from collections.abc import Mapping
from contextvars import ContextVar
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

from whenthen.clock import now_ms, to_datetime
from whenthen.model.exact_json import write_exact
from whenthen.services.zones import DEFAULT_ZONE
from whenthen.web.console import language, reasons
from whenthen.web.console.static_files import address

_FOLDER = Path(__file__).parent / "templates"
_zone: ContextVar[str] = ContextVar("zone", default=DEFAULT_ZONE)
_HUES = 12

HEADERS = {
    # Scripts and styles are files of ours; nothing inline, nothing from elsewhere.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
    "Cache-Control": "no-store",
}


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    made.install_gettext_callables(  # type: ignore[attr-defined]  # the extension adds it
        language.gettext, language.ngettext, newstyle=True
    )
    made.globals["static"] = address
    made.globals["languages"] = language.LANGUAGES
    made.tests["past"] = _is_past
    made.filters |= {
        "time": _time,
        "iso": _iso,
        "ago": ago,
        "number": _number,
        "percent": _percent,
        "exact": _exact,
        "hue": _hue,
        # For names and descriptions of services, which are data to a template.
        "translated": language.gettext,
        # For what the engine and the services say.
        "reason": reasons.translated,
    }
    return made


def render(template: str, context: Mapping[str, Any], *, status: int = 200) -> Response:
    """Return a page.

    Parameters
    ----------
    template:
        Its file in ``templates/``.
    context:
        What the template names. ``zone`` is the IANA time zone in which times are shown.
    """
    _zone.set(context["zone"])
    text = _environment().get_template(template).render(language=language.current.get(), **context)
    # Half a character, of which JSON can be full, is no reason for no page.
    return HTMLResponse(text.encode("utf-8", "replace"), status, HEADERS)


def _time(ms: int) -> str:
    """An instant in the page's zone, ``2026-11-30 14:05``."""
    return _local(ms).strftime("%Y-%m-%d %H:%M")


def _iso(ms: int) -> str:
    """An instant as the ``datetime`` of a <time>, with its offset."""
    return _local(ms).isoformat(timespec="seconds")


def _local(ms: int) -> datetime:
    return to_datetime(ms).astimezone(ZoneInfo(_zone.get()))


def _is_past(ms: int) -> bool:
    return ms < now_ms()


def ago(ms: int) -> str:
    """How long ago an instant was, or in how long it will be, in words."""
    seconds = (now_ms() - ms) // 1000
    if -60 < seconds < 60:
        return language.gettext("less than a minute ago") if seconds >= 0 else language.gettext("within a minute")
    past, seconds = seconds > 0, abs(seconds)
    if days := seconds // 86400:
        forms = (
            language.ngettext("%(num)d day ago", "%(num)d days ago", days)
            if past
            else language.ngettext("in %(num)d day", "in %(num)d days", days)
        )
        return forms % {"num": days}
    if hours := seconds // 3600:
        forms = (
            language.ngettext("%(num)d hour ago", "%(num)d hours ago", hours)
            if past
            else language.ngettext("in %(num)d hour", "in %(num)d hours", hours)
        )
        return forms % {"num": hours}
    minutes = seconds // 60
    forms = (
        language.ngettext("%(num)d minute ago", "%(num)d minutes ago", minutes)
        if past
        else language.ngettext("in %(num)d minute", "in %(num)d minutes", minutes)
    )
    return forms % {"num": minutes}


def _number(value: float) -> str:
    return f"{value:,}"


def _percent(share: float | None) -> str:
    """A share of 1 in per cent. What is not all is never shown as 100, nor what is not nothing as 0."""
    if share is None:
        return "–"
    rounded = round(share * 100, 1)
    if rounded == 100 and share < 1:
        rounded = 99.9
    if rounded == 0 and share > 0:
        rounded = 0.1
    return f"{rounded:g} %"


def _exact(value: Any) -> str:
    """A JSON value as text, its numbers as they are."""
    if isinstance(value, str):
        return value
    return write_exact(value, (", ", ": "))


def _hue(slug: str) -> int:
    """One of a few colours for a service, always the same."""
    return sum(slug.encode()) % _HUES
