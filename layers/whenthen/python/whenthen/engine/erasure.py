"""Erasing an owner on request: nothing of them is started any more, and what they had goes as far as it can.

What can't go: ids of events and triggers, which are hashes and make sure that nothing runs twice; what others have
received; and, until the database is rebuilt and old exports are deleted, the bytes in its files (docs/operating.md).
"""

import logging
from contextlib import suppress

from whenthen.clock import now_ms
from whenthen.engine import applets, keys, sheets
from whenthen.engine.digests import erase_digests
from whenthen.engine.retention import erase_payloads
from whenthen.errors import NotFound
from whenthen.model.applet import ActionRef, Applet, TriggerRef
from whenthen.store import owners
from whenthen.store.applets import list_applets
from whenthen.store.database import Database
from whenthen.store.digests import bring_forward
from whenthen.store.erasing import FACTS, drop_day, erase, list_days, list_owners, list_waiting
from whenthen.store.errors import MissingTable
from whenthen.store.executions import WAITING
from whenthen.store.history import History
from whenthen.store.keys import list_keys, list_users
from whenthen.store.log import list_months
from whenthen.store.phones import blank_phones
from whenthen.store.slots import list_slots
from whenthen.store.stat_parts import list_part_days, merge_day
from whenthen.store.stats import delete_stats
from whenthen.store.test_calls import delete_awaited

logger = logging.getLogger(__name__)

_NOTHING = Applet(
    name="erased",
    enabled=False,
    trigger=TriggerRef(service="webhooks", trigger="event", fields={"event": "erased"}),
    actions=(ActionRef(service="notifications", action="send_notification", fields={"message": "erased"}),),
).model_dump_json()


def request_erasure(database: Database, owner_id: str) -> None:
    """Keep the owner's users out, revoke the keys, delete applets and connections, and ask for the rest to be erased.

    Raises
    ------
    NotFound
        There is no such owner.
    StoreError
        It broke off; it may be asked for again.
    """
    if owner_id not in list_users(database):
        raise NotFound(f"There is no owner {owner_id}.")
    owners.request_erasure(database, owner_id)
    owners.forget_users(database, owner_id)
    for key in list_keys(database, owner_id):
        keys.revoke(database, owner_id, key.key_hash)
    for row in list_applets(database, owner_id):
        applets.delete(database, owner_id, row.applet_id)
    owners.forget_connections(database, owner_id)


def erase_owners(history: History) -> list[str]:
    """Erase the data of those owners for whom that was asked and none of whose executions is under way or new.

    Executions stay in their slots' tables for about an hour and a half: until then they wait.

    Returns
    -------
    list
        The owners that are done.

    Raises
    ------
    StoreError
        The database can't do it now; the next time goes on.
    """
    done = []
    for owner_id in owners.list_erasures(history.hot):
        owners.blank_settings(history.hot, owner_id, _NOTHING)
        sheets.empty_sheets(history.hot, owner_id)
        blank_phones(history.hot, owner_id)
        erase_digests(history.hot, owner_id)
        delete_awaited(history.hot, owner_id)
        # Nothing of them runs any more: they must not wait for a delay of months.
        for execution in list_waiting(history.hot, owner_id):
            bring_forward(history.hot, execution, now_ms())
        if _has_executions(history.hot, owner_id):
            continue
        for day in list_days(history.log):
            if owner_id in list_owners(history.log, day):
                erase_payloads(history, day, owner_id)
                if not list_owners(history.log, day):
                    drop_day(history, day)
        # A row of a columnar table can't be deleted.
        for day in list_part_days(history.log):
            merge_day(history.log, day)
        # A month that another tick has set aside is missing for the moment: the next time goes on.
        for month in list_months(history.log):
            erase(history, FACTS, month, owner_id)
            delete_stats(history.log, month, owner_id)
        owners.finish_erasure(history.hot, owner_id)
        done.append(owner_id)
        logger.info("the data of an owner was erased")
    return done


def _has_executions(hot: Database, owner_id: str) -> bool:
    for place in (*(row.slot for row in list_slots(hot)), WAITING):
        with suppress(MissingTable):
            if owners.count_executions(hot, place, owner_id):
                return True
    return False
