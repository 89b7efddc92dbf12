"""The owner's notifications."""

from dataclasses import asdict, dataclass

from whenthen.store.database import Database
from whenthen.store.deletions import count_deleted
from whenthen.store.keys import list_users
from whenthen.store.statements import Script, load

_S = load("inbox")

KEPT_MESSAGES = 1000
"""How many messages an owner keeps at least; older ones go when the table is trimmed."""

MAX_READ = 200
"""How many messages are read at once; the LIMIT of the statement."""

_TRIM_AT = 2 * KEPT_MESSAGES


@dataclass(frozen=True, slots=True)
class Message:
    """A notification. `message_id` is the action's idempotency key; the time is epoch milliseconds."""

    message_id: str
    owner_id: str
    applet_id: str
    execution_id: str
    created_at: int
    title: str
    body: str
    link: str


def insert_message(script: Script, message: Message) -> None:
    """Add the message to `script`; one that is there already stays as it is."""
    script.add(_S["insert_message"], **asdict(message))


def list_messages(database: Database, owner_id: str, *, before: tuple[int, str]) -> list[Message]:
    """Return up to 200 messages older than `before` (creation time, id), newest first."""
    script = Script().add(_S["list_messages"], owner_id=owner_id, before_at=before[0], before_id=before[1])
    return [Message(**row) for row in database.execute(script.sql)]


def trim(database: Database) -> None:
    """Delete each owner's messages beyond the newest `KEPT_MESSAGES`, once there are twice as many in all."""
    messages = int(database.execute(Script().add(_S["count_messages"]).sql)[0]["messages"])
    if messages <= _TRIM_AT:
        return
    for owner_id in list_users(database):
        rows = database.execute(Script().add(_S["find_trim_point"], owner_id=owner_id).sql)
        if rows:
            script = Script().add(_S["trim_messages"], owner_id=owner_id, before=rows[0]["created_at"])
            database.execute(script.sql)
    left = int(database.execute(Script().add(_S["count_messages"]).sql)[0]["messages"])
    script = Script()
    count_deleted(script, "inbox", messages - left)
    database.execute(script.sql)
