"""Where an execution stands: in its slot's table, or in `WAITING` when it has outlived that."""

from collections.abc import Collection

from whenthen.store.database import DEFAULT_TIMEOUT_SECONDS, Database
from whenthen.store.executions import WAITING, read_executions, slot_of
from whenthen.store.slots import may_have_moved
from whenthen.store.statements import Script


def find_places(
    database: Database,
    execution_ids: Collection[str],
    now: int,
    *,
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
) -> dict[str, str]:
    """Return `WAITING` for those that stand there, by id. Asks only about slots that are old enough to be closed.

    An execution may move right after the answer: whoever changes one in an old slot reads it back.

    Raises
    ------
    StoreError
        See `store.errors`.
    """
    old = [execution for execution in execution_ids if may_have_moved(slot_of(execution), now)]
    if not old:
        return {}
    waiting = dict.fromkeys(old, WAITING)
    rows = read_executions(database, Script(), old, places=waiting, timeout_seconds=timeout_seconds)
    return dict.fromkeys(rows, WAITING)
