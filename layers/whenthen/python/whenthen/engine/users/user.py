"""A user, as the console shows and knows them."""

from dataclasses import dataclass

from whenthen.store.users import UserRow


@dataclass(frozen=True, slots=True)
class User:
    """Who signs in, and whose data they see.

    Parameters
    ----------
    name:
        As shown.
    owner_id:
        Whose data it is; empty while they are invited to have data of their own.
    is_admin:
        Whether they may invite and disable others.
    is_disabled:
        Whether they are kept out.
    has_password:
        Whether they have accepted their first invitation.
    invited_until:
        When an invitation that is open ends, epoch milliseconds, or None.
    created_at:
        Epoch milliseconds.
    user_key, version:
        The row, and which state of it this is.
    """

    name: str
    owner_id: str
    is_admin: bool
    is_disabled: bool
    has_password: bool
    invited_until: int | None
    created_at: int
    user_key: str
    version: int


def to_user(row: UserRow) -> User:
    """Return what a row tells of a user; nothing secret."""
    return User(
        name=row.shown_name,
        owner_id=row.owner_id,
        is_admin=row.is_admin,
        is_disabled=row.disabled_at is not None,
        has_password=bool(row.password),
        invited_until=row.invited_until if row.invited_hash else None,
        created_at=row.created_at,
        user_key=row.user_key,
        version=row.user_version,
    )
