"""What the buttons of the editor's form change in the draft."""

from collections.abc import Callable

from whenthen.model.applet import MAX_ACTIONS, MAX_QUERIES
from whenthen.web.console.editor.draft import Draft, Part, items_of


def change(draft: Draft, operation: str) -> str:
    """Do what a button asks for, and return the id of the element to go on with, empty to stay.

    Parameters
    ----------
    operation:
        The button's value, such as ``service.actions.0.email`` or ``remove-action.1``. What is none of these changes
        nothing.
    """
    name, _dot, rest = operation.partition(".")
    done = _CHANGES.get(name)
    return done(draft, rest) if done is not None else ""


def _choose_service(draft: Draft, rest: str) -> str:
    path, _dot, service = rest.rpartition(".")
    part = draft.parts().get(path)
    items = items_of(part.kind, service) if part is not None else ()
    if part is None or not items:
        return ""
    if len(items) == 1:
        return _choose(part, path, service, items[0].slug)
    part.service, part.slug = service, ""
    return f"{_id(path)}-option-0"


def _choose_item(draft: Draft, rest: str) -> str:
    place, _dot, slug = rest.rpartition(".")
    path, _dot, service = place.rpartition(".")
    part = draft.parts().get(path)
    if part is None or all(item.slug != slug for item in items_of(part.kind, service)):
        return ""
    return _choose(part, path, service, slug)


def _choose(part: Part, path: str, service: str, slug: str) -> str:
    part.service, part.slug = service, slug
    return f"{_id(path)}-first"


def _choose_again(draft: Draft, path: str) -> str:
    part = draft.parts().get(path)
    if part is None:
        return ""
    part.service = part.slug = part.connection = ""
    return f"{_id(path)}-search"


def _add_query(draft: Draft, _rest: str) -> str:
    if len(draft.queries) == MAX_QUERIES:
        return ""
    draft.queries.append(Part("query"))
    return f"queries-{len(draft.queries) - 1}-search"


def _add_action(draft: Draft, _rest: str) -> str:
    if len(draft.actions) == MAX_ACTIONS:
        return ""
    draft.actions.append(Part("action"))
    return f"actions-{len(draft.actions) - 1}-search"


def _remove_query(draft: Draft, rest: str) -> str:
    if (place := _place(rest, draft.queries)) is not None:
        del draft.queries[place]
    return "add-query"


def _remove_action(draft: Draft, rest: str) -> str:
    if (place := _place(rest, draft.actions)) is not None and len(draft.actions) > 1:
        del draft.actions[place]
    return "add-action"


def _move(by: int) -> Callable[[Draft, str], str]:
    def moved(draft: Draft, rest: str) -> str:
        place = _place(rest, draft.actions)
        if place is None or not 0 <= place + by < len(draft.actions):
            return ""
        draft.actions.insert(place + by, draft.actions.pop(place))
        return f"actions-{place + by}"

    return moved


def _place(text: str, parts: list[Part]) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 4 and int(text) < len(parts) else None


def _id(path: str) -> str:
    return path.replace(".", "-")


_CHANGES: dict[str, Callable[[Draft, str], str]] = {
    "service": _choose_service,
    "item": _choose_item,
    "change": _choose_again,
    "add-query": _add_query,
    "remove-query": _remove_query,
    "add-action": _add_action,
    "remove-action": _remove_action,
    "up-action": _move(-1),
    "down-action": _move(1),
}
