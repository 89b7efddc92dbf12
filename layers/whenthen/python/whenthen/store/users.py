"""Users of the console as stored. Owners and their keys are in `store.keys`."""

from dataclasses import asdict, dataclass, field

from whenthen.store.database import Database
from whenthen.store.statements import Script, load

_S = load("users")


@dataclass(frozen=True, slots=True)
class UserRow:
    """A user. Times are epoch milliseconds.

    `owner_id` is empty until an invitation to have an owner of one's own is accepted. `password` is a hash, or empty.
    `session_key` opens with `vault.Keyring` for this row alone; it is empty while there is no password. `invited_hash`
    is that of an invitation that is open until `invited_until`, or empty. `user_version` is 0 before the row is stored.
    """

    user_key: str
    owner_id: str
    shown_name: str
    is_admin: bool
    password: str = field(default="", repr=False)
    session_key: str = field(default="", repr=False)
    invited_hash: str = field(default="", repr=False)
    invited_until: int = 0
    disabled_at: int | None = None
    user_version: int = 0
    created_at: int = 0


def has_users(database: Database) -> bool:
    """Say if some user has, or had, a password."""
    return bool(database.execute(Script().add(_S["read_first_user"]).sql))


def claim_first(script: Script, now: int) -> None:
    """Add to `script` that its user is the first; it is refused as a `Duplicate` of `first_user` when there was one."""
    script.add(_S["insert_first_user"], now=now)


def note_first(script: Script, now: int) -> None:
    """Add to `script` that there is a user with a password."""
    script.add(_S["note_first_user"], now=now)


def find_user(database: Database, user_key: str) -> UserRow | None:
    """Return the user, whatever their state, or None."""
    rows = database.execute(Script().add(_S["read_console_user"], user_key=user_key).sql)
    return UserRow(**rows[0]) if rows else None


def list_users(database: Database) -> list[UserRow]:
    """Return all users that are not erased, oldest first."""
    rows = database.execute(Script().add(_S["list_console_users"]).sql)
    return [UserRow(**row) for row in rows if row["shown_name"]]


def put_user(script: Script, row: UserRow) -> None:
    """Add to `script` that there is a new user, or that one becomes `row`.

    The script is refused as a `Duplicate` of `user_key` when the new one is there already, and as a failed guard when
    the version is not that of `row` any more.
    """
    values = asdict(row)
    version = values.pop("user_version")
    if version:
        del values["created_at"]
        script.add(_S["update_console_user"], version=version, **values)
    else:
        script.add(_S["insert_console_user"], **values)
