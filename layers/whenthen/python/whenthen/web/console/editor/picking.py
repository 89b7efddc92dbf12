"""What can be chosen for a part: services as tiles, then what one of them offers, or what a search finds."""

from collections.abc import Iterator
from dataclasses import dataclass

from whenthen.services.contract import Service
from whenthen.services.registry import SERVICES
from whenthen.web.console.editor.draft import Item, Kind, Part, items_of
from whenthen.web.console.language import gettext as _

_MAX_SEARCH = 100


@dataclass(frozen=True, slots=True)
class Option:
    """A button: `operation` is what it asks for below the part's path, see `changes`."""

    operation: str
    service: Service
    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Picker:
    """What is offered. `service` is the one that was chosen, if it offers more than one item."""

    search: str
    service: Service | None
    options: tuple[Option, ...]


def pick(path: str, part: Part, search: str) -> Picker:
    """Return what is offered for a part.

    Parameters
    ----------
    path:
        The part's.
    search:
        Words that are looked for in the names and descriptions, in any language that they are shown in.
    """
    words = search[:_MAX_SEARCH].casefold().split()
    if words:
        return Picker(search, None, tuple(_found(path, part.kind, words)))
    items = items_of(part.kind, part.service)
    if items:
        service = SERVICES[part.service]
        return Picker("", service, tuple(_item(path, service, item) for item in items))
    return Picker("", None, tuple(_services(path, part.kind)))


def _services(path: str, kind: Kind) -> Iterator[Option]:
    for slug, service in SERVICES.items():
        if items_of(kind, slug):
            yield Option(f"service.{path}.{slug}", service, _(service.name))


def _found(path: str, kind: Kind, words: list[str]) -> Iterator[Option]:
    for slug, service in SERVICES.items():
        for item in items_of(kind, slug):
            own = (service.name, item.name, item.description, slug)
            written = " ".join((*own, *map(_, own))).casefold()
            if all(word in written for word in words):
                yield _item(path, service, item)


def _item(path: str, service: Service, item: Item) -> Option:
    return Option(f"item.{path}.{service.slug}.{item.slug}", service, _(item.name), _(item.description))
