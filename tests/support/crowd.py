"""An owner with very much: applets, checks, months of log with their rollups, open slots. For measuring."""

import json
import random
from collections.abc import Iterable
from typing import Any

from tests.support.history import attempt
from tests.support.scenario import OWNER
from whenthen.clock import Deadline, now_ms
from whenthen.engine.closer import merge_stats
from whenthen.engine.identity import trigger_id
from whenthen.model.applet import ActionRef, Applet, TriggerRef
from whenthen.store.applets import AppletRow, insert_applets
from whenthen.store.history import History
from whenthen.store.loads import make_tables
from whenthen.store.progress import Progress
from whenthen.store.slots import SLOT_MINUTES, open_slot, slot_at, slot_end
from whenthen.store.stat_parts import add_rollups
from whenthen.store.statements import Script, Statement
from whenthen.store.stats import Numbers

_SLOT_MS = SLOT_MINUTES * 60_000
_OPEN_SLOTS = 3

_CHECKS = Statement(
    "crowd",
    "INSERT INTO checks (check_id, offline, host, next_check_at, checked_at) "
    "SELECT value, FALSE, 'example.org', :next, :now FROM json_each(:ids)",
)
_TURN_ON = Statement("crowd", "UPDATE applets SET enabled = TRUE")
_FILL = Statement(
    "crowd",
    "INSERT INTO executions_{place} "
    "(execution_id, applet_id, owner_id, occurred_at, state, claim, ingredients, progress) "
    "SELECT json_extract(value,'$[0]'), json_extract(value,'$[1]'), :owner, "
    "CAST(json_extract(value,'$[2]') AS BIGINT), json_extract(value,'$[3]'), 'crowd', '{}', :progress "
    "FROM json_each(:rows)",
)
_LOAD = Statement(
    "crowd",
    "COPY (SELECT json_extract(value,'$[0]') AS execution_id, CAST(:slot AS BIGINT) AS slot, :owner AS owner_id, "
    "json_extract(value,'$[1]') AS applet_id, 'notifications' AS service, 'feed' AS trigger_service, "
    "CAST(json_extract(value,'$[2]') AS BIGINT) AS occurred_at, "
    "CAST(json_extract(value,'$[2]') AS BIGINT) AS finished_at, json_extract(value,'$[3]') AS state, '' AS reason, "
    "'' AS note, 1 AS attempts, 100 AS duration, 0 AS run FROM json_each(:rows)) TO :file WITH (FORMAT PARQUET)",
)
_TAKE = Statement("crowd", "COPY execution_log_{month} FROM :file WITH (FORMAT PARQUET)")


def make_crowd(history: History, *, applets: int = 1_000, executions: int = 100_000, days: int = 30) -> list[str]:
    """Fill a migrated database of the owner `OWNER`, and return the ids of the applets, newest first.

    The executions end in the log and in three open slots, evenly over all slots; one in fifty failed. The applets
    have triggers of their own, which are checked, on time.
    """
    chance = random.Random(7)
    ids = _make_applets(history, applets)
    now = now_ms()
    slots = days * 24 * 60 // SLOT_MINUTES
    made_days: set[str] = set()
    for ago in range(slots - 1, -2, -1):
        slot = slot_at(now - ago * _SLOT_MS)
        rows = [] if ago < 0 else _executions(chance, ids, slot, executions // slots)
        if ago < _OPEN_SLOTS:
            _open(history, slot, rows, now)
        else:
            if slot[:8] not in made_days:
                make_tables(history.log, slot[:8], parts=True)
                made_days.add(slot[:8])
            _load(history, slot, rows)
    merge_stats(history.log, now, Deadline(600))
    return ids


def _make_applets(history: History, count: int) -> list[str]:
    now = now_ms()
    rows = []
    for number in range(count):
        trigger = TriggerRef(
            service="feed", trigger="new_feed_item", fields={"feed_url": f"https://example.org/{number}"}
        )
        fields = {"title": "{{EntryTitle}}", "message": "{{EntryContent}} " * 10, "link": "{{EntryUrl}}"}
        action = ActionRef(service="notifications", action="send_notification", fields=fields)
        applet = Applet(name=f"Applet {number}", trigger=trigger, actions=(action,))
        identity = trigger_id(OWNER, trigger.service, trigger.trigger, trigger.fields)
        rows.append(
            AppletRow(
                f"{number:016x}", OWNER, identity, applet.model_dump_json(), True, 1, now + number, now + number, None
            )
        )
    for some in _pieces(rows, 200):
        script = Script()
        insert_applets(script, OWNER, some)
        ids = json.dumps([row.trigger_id for row in some])
        script.add(_CHECKS, next=now + 60_000, now=now, ids=ids)
        history.hot.execute(script.sql, timeout_seconds=60)
    history.hot.execute(_TURN_ON.text, timeout_seconds=60)
    return [row.applet_id for row in reversed(rows)]


def _executions(chance: random.Random, ids: list[str], slot: str, count: int) -> list[list[Any]]:
    begin = slot_end(slot) - _SLOT_MS
    rows = []
    for number in range(count):
        applet = chance.choice(ids)
        state = "failed" if number % 50 == 0 else "succeeded"
        rows.append([f"{slot}.{chance.getrandbits(128):032x}.{applet}", applet, begin + number, state])
    return rows


def _open(history: History, slot: str, rows: list[list[Any]], now: int) -> None:
    open_slot(history.hot, slot, now)
    request = {"method": "POST", "url": "https://example.org/", "headers": {}, "body": "x" * 600}
    answer = {"status": 200, "content_type": "text/plain", "body": "y" * 200, "truncated": False}
    tried = attempt("notifications", now, 100) | {"request": request, "answer": answer}
    progress = Progress(attempts=(tried,), finished_at=now, trigger_service="feed").to_json()
    for some in _pieces(rows, 500):
        script = Script().add(_FILL, place=slot, owner=OWNER, progress=progress, rows=json.dumps(some))
        history.hot.execute(script.sql, timeout_seconds=60)


def _load(history: History, slot: str, rows: list[list[Any]]) -> None:
    rollups: dict[tuple[str, ...], Numbers] = {}
    for _, applet, _, state in rows:
        group = {"state": state, "runs": 1, "attempts": 1, "duration": 100, "longest": 100}
        rollups.setdefault((OWNER, "applet", applet, slot[:8], ""), Numbers()).add(group)
        rollups.setdefault((OWNER, "service", "notifications", slot[:8], slot[8:10]), Numbers()).add(group)
    script = Script().add(_LOAD, slot=slot, owner=OWNER, file=history.copy_file, rows=json.dumps(rows))
    script.add(_TAKE, month=slot[:6], file=history.copy_file)
    history.log.execute(script.sql, timeout_seconds=60)
    script = Script()
    add_rollups(script, slot[:8], rollups, part_id=slot, file=history.copy_file)
    history.log.execute(script.sql, timeout_seconds=60)


def _pieces[T](items: list[T], size: int) -> Iterable[list[T]]:
    return (items[start : start + size] for start in range(0, len(items), size))
