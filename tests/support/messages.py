"""The texts of the pages that want a translation, and the files of translations, kept in step.

Run as ``python -m tests.support.messages`` (``scripts/update-translations``): it adds what is new to each file, empty,
and takes out what is gone.
"""

import io
import re
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po
from pydantic import BaseModel

from tests.support.processes import ROOT
from whenthen.engine.users.errors import SignInRefused
from whenthen.services.registry import SERVICES
from whenthen.web import problems
from whenthen.web.console import field_forms, language, reasons
from whenthen.web.console.applet_templates import APPLET_TEMPLATES

_CONSOLE = ROOT / "layers/whenthen/python/whenthen/web/console"
LOCALE = _CONSOLE / "locale"
_METHODS = [("**.py", "python"), ("templates/**.html", "jinja2.ext.babel_extract")]
_OPTIONS = {"templates/**.html": {"trimmed": "true", "newstyle_gettext": "true", "silent": "false"}}
_PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|\{\w+\}|%%")


def _in_pages() -> Iterator[tuple[str | tuple[str, ...], str]]:
    for file, _line, message, _comments, _context in extract_from_dir(
        str(_CONSOLE),
        method_map=_METHODS,
        options_map=_OPTIONS,
        keywords={"_": None, "gettext": None, "ngettext": (1, 2)},
    ):
        yield message, f"console/{file}"


def _in_services() -> Iterator[tuple[str, str]]:
    for service in SERVICES.values():
        place = f"services/{service.slug}"
        yield service.name, place
        for item in (*service.triggers, *service.queries, *service.actions):
            yield item.name, place
            yield item.description, place
            for text in _in_fields(item.fields):
                yield text, place
        for part in (*service.triggers, *service.queries):
            for ingredient in part.ingredients:
                yield ingredient.name, place
        if service.connection is not None:
            yield service.connection.description, place
            for text in _in_fields(service.connection.fields):
                yield text, place


def _in_fields(model: type[BaseModel]) -> Iterator[str]:
    for item in field_forms.form_fields(model, {}, {}, ""):
        yield item.label
        yield item.help
        yield from (words for _, words in item.options if not re.search(r"[/A-Z0-9]", words))


def _in_templates() -> Iterator[tuple[str, str]]:
    for template in APPLET_TEMPLATES.values():
        yield template.name, "console/applet_templates.py"
        yield template.description, "console/applet_templates.py"


def _said_elsewhere() -> Iterator[tuple[str, str]]:
    for title in problems.TITLES.values():
        yield title, "problems"
    yield str(SignInRefused()), "users"
    for text in reasons.texts():
        yield text, "console/locale/reasons.txt"


def extract() -> Catalog:
    """All texts, sorted."""
    places: dict[str, list[str]] = {}
    plurals: dict[str, tuple[str, ...]] = {}
    for message, place in (*_in_pages(), *_in_services(), *_in_templates(), *_said_elsewhere()):
        key = message[0] if isinstance(message, tuple) else message
        if not key:
            continue
        if isinstance(message, tuple):
            plurals[key] = message
        if place not in places.setdefault(key, []):
            places[key].append(place)
    catalog = Catalog(fuzzy=False)
    for key in sorted(places):
        catalog.add(plurals.get(key, key), locations=[(place, None) for place in sorted(places[key])])
    return catalog


def read(code: str) -> Catalog:
    """The translations into a language."""
    with (LOCALE / f"{code}.po").open("rb") as file:
        return read_po(file, locale=code)


def update(code: str) -> str:
    """The text of a language's file as it should be: all texts, with the translations that there are."""
    known = {message.id if isinstance(message.id, str) else message.id[0]: message.string for message in read(code)}
    fresh = Catalog(locale=code, fuzzy=False)
    for message in extract():
        if not message.id:
            continue
        key = message.id if isinstance(message.id, str) else message.id[0]
        given = known.get(key, "")
        plural = (given,) if isinstance(given, str) else given
        string = plural[:1] if not isinstance(message.id, str) else plural[0] if plural else ""
        fresh.add(message.id, string, locations=message.locations)
    written = io.BytesIO()
    write_po(written, fresh, width=110, omit_header=True)
    header = (
        'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
        f'"Language: {code}\\n"\n"Plural-Forms: nplurals=1; plural=0;\\n"\n\n'
    )
    return header + written.getvalue().decode().strip() + "\n"


def placeholders(text: str) -> list[str]:
    """What is put into a text, sorted."""
    return sorted(_PLACEHOLDER.findall(text))


def main() -> None:
    """Bring every file of translations in step."""
    for code in language.LANGUAGES:
        path: Path = LOCALE / f"{code}.po"
        if code != language.DEFAULT_LANGUAGE:
            path.write_text(update(code))


if __name__ == "__main__":
    main()
