"""The applet editor, used as a browser without JavaScript does."""

from tests.support.embedded import Json
from tests.support.pages import Pages, Shown


def press(pages: Pages, page: Shown, operation: str, values: Json | None = None) -> Shown:
    """Press a button of the editor, with some fields filled in before; None leaves a field out."""
    return pages.submit(page, "#editor-form", **{"op": operation, **(values or {})})


def definition(pages: Pages, applet_id: str) -> Json:
    """What an applet does, as the API shows it."""
    document: Json = pages.house.call("GET", f"/applets/{applet_id}").json()
    return {
        name: document[name] for name in document if name not in ("id", "version", "created_at", "updated_at", "check")
    }


def problems(page: Shown) -> list[str]:
    """The lines of the summary."""
    return page.texts("#problems li")
