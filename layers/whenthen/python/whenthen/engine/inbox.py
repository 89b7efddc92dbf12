"""The owner's notifications, page by page."""

from whenthen.engine import cursors
from whenthen.store.database import Database
from whenthen.store.inbox import MAX_READ, Message, list_messages


def page(database: Database, owner_id: str, *, before: str | None, limit: int) -> tuple[list[Message], str | None]:
    """Return a page of the inbox, newest first, and the cursor of the next one, or None when it is the last.

    Parameters
    ----------
    before:
        A cursor of an earlier page, or None for the first one.
    limit:
        At most 200.

    Raises
    ------
    FieldError
        The cursor is none of ours.
    StoreError
        See `store.errors`.
    """
    rows = list_messages(database, owner_id, before=cursors.decode_cursor(before) if before else (cursors.LATEST, ""))
    found = rows[:limit]
    # As many rows as the store reads at once may have more behind them.
    more = len(rows) > limit or len(rows) == MAX_READ
    return found, cursors.encode_cursor(found[-1].created_at, found[-1].message_id) if more else None
