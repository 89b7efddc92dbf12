"""How often signing in has failed of late, as stored."""

from collections.abc import Sequence
from dataclasses import dataclass

from whenthen.store.database import Database
from whenthen.store.statements import Script, load

_S = load("users")


@dataclass(frozen=True, slots=True)
class Tries:
    """The tries that share a row. Times are epoch milliseconds: when the last one was, and when all are forgotten."""

    tries_key: str
    tried_at: int = 0
    eases_at: int = 0
    tries_revision: int = 0


def read_tries(database: Database, keys: Sequence[str]) -> list[Tries]:
    """Return the tries of each key, in order."""
    selects = [Script().add(_S["read_tries"], tries_key=key) for key in keys]
    found = {row["tries_key"]: Tries(**row) for row in database.execute(Script().union(selects).sql)}
    return [found.get(key, Tries(key)) for key in keys]


def count_try(script: Script, seen: Tries, *, now: int, eases_at: int) -> None:
    """Add to `script` that there is one more try, or refuse it when there was another since they were `seen`."""
    script.add(_S["insert_tries"], tries_key=seen.tries_key)
    script.add(_S["count_try"], tries_key=seen.tries_key, revision=seen.tries_revision, now=now, eases_at=eases_at)


def ease_tries(script: Script, key: str, eased: int) -> None:
    """Add to `script` that the tries of the key are forgotten so many milliseconds sooner."""
    script.add(_S["ease_tries"], tries_key=key, eased=eased)


def forget_tries(script: Script, key: str) -> None:
    """Add to `script` that the tries of the key are forgotten now."""
    script.add(_S["forget_tries"], tries_key=key)
