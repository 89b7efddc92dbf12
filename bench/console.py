"""Every page of the console at 1,000 applets and 100,000 executions, against the same pages at a hundredth of both.

An eighth of the executions is of the present half hour, the others are in the log of the last days, with the rollups of
each applet and day. The pages are asked for as a browser does, one after the other, over the app itself.
"""

import json
import secrets
import tempfile
import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from starlette.testclient import TestClient

from bench.history import FILL, LOAD, TAKE
from bench.house import fresh_server, open_slots, p50_ms
from tests.support.alopex import AlopexServer
from tests.support.recording import RecordingDatabase
from tests.support.scenario import OWNER, prepare
from whenthen.clock import now_ms, to_datetime
from whenthen.engine import applets
from whenthen.model.applet import Applet
from whenthen.queues.memory import MemoryQueue
from whenthen.settings import Settings
from whenthen.store.database import ServerDatabase
from whenthen.store.history import History
from whenthen.store.loads import make_tables
from whenthen.store.progress import Progress
from whenthen.store.slots import SLOT_MINUTES, slot_at
from whenthen.store.stat_parts import add_rollups, merge_day
from whenthen.store.statements import Script
from whenthen.store.stats import Numbers
from whenthen.vault import make_key_file
from whenthen.web import site
from whenthen.wiring import Runtime

DAYS = 14
_SLOT_MS = SLOT_MINUTES * 60_000
_TIMES = 9

PAGES = (
    ("applets", "/applets"),
    ("applets, the last page", "/applets?page={last}"),
    ("applets, searched", "/applets?q=applet+9"),
    ("an applet", "/applets/{applet}"),
    ("the editor", "/applets/{applet}/edit"),
    ("a new applet", "/applets/new"),
    ("templates", "/applets/templates"),
    ("activity", "/activity"),
    ("activity of an applet", "/activity?applet={applet}"),
    ("activity, failed", "/activity?state=failed"),
    ("activity of a day", "/activity?day={day}"),
    ("an execution", "/activity/{execution}"),
    ("dashboard", "/dashboard"),
    ("dashboard of 90 days", "/dashboard?days=90"),
    ("services", "/services"),
    ("a service", "/services/webhooks"),
    ("connections", "/connections"),
    ("inbox", "/inbox"),
    ("settings", "/settings"),
    ("keys", "/settings/keys"),
    ("users", "/settings/users"),
    ("tables", "/tables"),
)
"""Name and path of the pages."""


@dataclass(frozen=True)
class Timing:
    """Of one page: the median in milliseconds, and the tables of the statements that scan."""

    ms: float
    scans: list[str]


def _make_applets(database: RecordingDatabase, count: int) -> list[str]:
    made = []
    for number in range(count):
        trigger = (
            {"service": "webhooks", "trigger": "event", "fields": {"event": f"event{number}"}}
            if number % 2
            else {"service": "date_time", "trigger": "every_hour_at", "fields": {"minute": number % 60}}
        )
        document = {
            "name": f"Applet {number}",
            "trigger": trigger,
            "actions": [
                {"service": "notifications", "action": "send_notification", "fields": {"message": f"It is {number}"}}
            ],
        }
        made.append(applets.create(database, OWNER, Applet.model_validate(document)).applet_id)
    return made


def _progress(at: int) -> str:
    attempt = {
        "action": 0, "service": "notifications", "name": "send_notification", "number": 1, "started_at": at,
        "finished_at": at + 100, "outcome": "succeeded", "reason": "", "notes": [], "request": None, "answer": None,
    }  # fmt: skip
    return Progress(
        step=1, attempts=(attempt,), finished_at=at + 100, actions="0123456789abcdef", trigger_service="webhooks"
    ).to_json()


def _fill_slot(database: RecordingDatabase, ids: list[str], count: int) -> str:
    """Put final executions into the present slot; the id of one."""
    now = now_ms()
    slot = slot_at(now)
    rows = [[f"{slot}.{secrets.token_hex(16)}.{ids[n % len(ids)]}", ids[n % len(ids)]] for n in range(count)]
    for start in range(0, count, 500):
        sql = FILL.render(
            place=slot,
            owner=OWNER,
            now=now,
            ingredients=json.dumps({"EventName": "door", "Value1": "x" * 50}),
            progress=_progress(now),
            rows=json.dumps(rows[start : start + 500]),
        )
        database.execute(sql, timeout_seconds=60)
    return str(rows[0][0])


def _load_days(history: History, ids: list[str], count: int) -> None:
    """Load `count` executions into the log of the days before, with their rollups."""
    today = to_datetime(now_ms()).replace(hour=0, minute=0, second=0, microsecond=0)
    slots = DAYS * 48
    number = 0
    for day in (today - timedelta(days=back) for back in range(DAYS, 0, -1)):
        make_tables(history.log, f"{day:%Y%m%d}", parts=True)
        month = f"{day:%Y%m}"
        for half in range(48):
            at = int(day.timestamp() * 1000) + half * _SLOT_MS
            slot = slot_at(at)
            done, rows = count * number // slots, count * (number + 1) // slots - count * number // slots
            each_in_turn = [ids[(done + n) % len(ids)] for n in range(rows)]
            values = [[f"{slot}.{secrets.token_hex(16)}.{one}", one, at + n] for n, one in enumerate(each_in_turn)]
            number += 1
            file = history.copy_file
            sql = LOAD.render(slot=slot, owner=OWNER, rows=json.dumps(values, separators=(",", ":")), file=file)
            history.log.execute(f"{sql}; {TAKE.render(month=month, file=file)}", timeout_seconds=60)
        each = Numbers(succeeded=max(count // DAYS // len(ids), 1))
        rollups: dict[tuple[str, ...], Numbers] = {
            (OWNER, "applet", applet, f"{day:%Y%m%d}", ""): each for applet in ids
        }
        for hour in range(24):
            total = Numbers(succeeded=count // DAYS // 24)
            rollups[OWNER, "service", "notifications", f"{day:%Y%m%d}", f"{hour:02}"] = total
        script = Script()
        add_rollups(script, f"{day:%Y%m%d}", rollups, part_id=f"{day:%Y%m%d}", file=history.copy_file)
        history.log.execute(script.sql, timeout_seconds=60)
        merge_day(history.log, f"{day:%Y%m%d}")


def _run(server: AlopexServer, home: Path, applet_count: int, executions: int) -> dict[str, Timing]:
    database = RecordingDatabase(ServerDatabase(server.url, api_key=server.api_key))
    prepare(database)
    settings = Settings.read({"WHENTHEN_HOME": str(home), "WHENTHEN_COPY_DIR": str(server.copy_dir)})
    make_key_file(settings.secrets_key_path)
    runtime = Runtime(settings, database=database, wakeups=MemoryQueue(), arrivals=MemoryQueue())
    open_slots(database)
    ids = _make_applets(database, applet_count)
    _load_days(runtime.history, ids, executions * 7 // 8)
    execution = _fill_slot(database, ids, executions // 8)
    server.checkpoint()
    known = {
        "applet": ids[-1],
        "execution": execution,
        "last": str(max(applet_count // 50, 1)),
        "day": f"{to_datetime(now_ms()) - timedelta(days=3):%Y-%m-%d}",
    }
    client = TestClient(site.make_app(runtime), base_url="http://localhost", client=("127.0.0.1", 1))
    user = runtime.users.create_first("Ada", "correct horse battery", zone="Europe/Paris", api_key=None)
    client.cookies.set("whenthen_session", runtime.users.session_cookie(user))
    return {name: _time(client, database, path.format(**known)) for name, path in PAGES}


def _time(client: TestClient, database: RecordingDatabase, path: str) -> Timing:
    with database.recording() as recorded:
        answer = client.get(path)
    assert answer.status_code == 200, f"{path}: {answer.status_code}"
    return Timing(p50_ms(lambda _number: client.get(path), _TIMES), recorded.scans())


def measure(applet_count: int, executions: int) -> dict[str, Timing]:
    """Time each page, by name."""
    with fresh_server() as server, tempfile.TemporaryDirectory(prefix="whenthen-bench-") as home:
        return _run(server, Path(home), applet_count, executions)


def main() -> None:
    """Print the table that README quotes."""
    begun = time.perf_counter()
    few, many = measure(10, 1_000), measure(1_000, 100_000)
    print("| page, p50 in ms | 10 applets, 1,000 executions | 1,000 applets, 100,000 executions | ratio | scans |")
    print("|---|---|---|---|---|")
    for name, timing in many.items():
        ratio = timing.ms / few[name].ms
        print(f"| {name} | {few[name].ms:.0f} | {timing.ms:.0f} | {ratio:.1f} | {len(timing.scans)} |")
    print(f"\n({time.perf_counter() - begun:.0f} s)")


if __name__ == "__main__":
    main()
