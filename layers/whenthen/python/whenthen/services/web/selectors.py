"""CSS selectors."""

import soupsieve
from bs4 import Tag
from soupsieve import SelectorSyntaxError


def check_selector(text: str) -> None:
    """Refuse what is not a selector.

    Raises
    ------
    ValueError
        It is none, in words for its author.
    """
    try:
        soupsieve.compile(text)
    except (SelectorSyntaxError, ValueError, RecursionError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"must be a CSS selector, such as #prices or main h2: {reason[:200]}") from error


def select(page: Tag, selector: str) -> list[Tag]:
    """Return the elements of `page` that match, in the page's order; time is linear in the page's size."""
    return soupsieve.select(selector, page)
