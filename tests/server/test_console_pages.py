"""What each page asks of the database: few statements scan, and none of them a table that grows for ever."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.support.alopex import AlopexServer
from tests.support.crowd import make_crowd
from tests.support.recording import RecordingDatabase
from tests.support.scenario import OWNER, prepare
from whenthen.clock import Deadline, now_ms, to_datetime
from whenthen.engine import applets, sheets
from whenthen.engine.activity import read_activity
from whenthen.engine.connections.keeping import NewConnection
from whenthen.model.applet import Applet
from whenthen.queues.memory import MemoryQueue
from whenthen.services.table.rows import row_of
from whenthen.settings import Settings
from whenthen.store.database import ServerDatabase
from whenthen.store.log import Filters
from whenthen.vault import make_key_file
from whenthen.web import site
from whenthen.web.console import routes
from whenthen.wiring import Runtime

MOST = 3
"""The most statements of a page that scan: one opens every file of the database, whatever its table (ALOPEX.md 4)."""

PAGES = (
    ("/applets", "", ""),
    ("/applets", "", "?page=2"),
    ("/applets", "", "?q=applet+1"),
    ("/applets", "", "?state=failing"),
    ("/applets", "", "?deleted={applet}"),
    ("/applets/templates", "", ""),
    ("/applets/export", "", ""),
    ("/applets/export", "", "?applet={applet}"),
    ("/applets/import", "", ""),
    ("/applets/new", "", ""),
    ("/applets/new", "", "?service=webhooks&trigger=event"),
    ("/applets/{id}/edit", "webhook", ""),
    ("/applets/{id}/edit", "applet", ""),
    ("/activity", "", ""),
    ("/activity", "", "?seen=x"),
    ("/activity", "", "?applet={applet}"),
    ("/activity", "", "?state=failed"),
    ("/activity", "", "?state=unknown&text=never"),
    ("/activity", "", "?day={day}"),
    ("/activity/applets", "", ""),
    ("/activity/{execution_id:path}", "execution", ""),
    ("/activity/{execution_id:path}", "logged", ""),
    ("/dashboard", "", ""),
    ("/dashboard", "", "?days=90"),
    ("/services", "", ""),
    ("/services/{slug}", "service", ""),
    ("/connections", "", ""),
    ("/connections/new", "", "?service=button"),
    ("/connections/{id}", "connection", ""),
    ("/inbox", "", ""),
    ("/settings", "", ""),
    ("/settings/keys", "", ""),
    ("/settings/users", "", ""),
    ("/tables", "", ""),
    ("/tables/{name}", "table", ""),
    ("/tables/{name}/csv", "table", ""),
    ("/applets/{id}", "webhook", ""),
    ("/applets/{id}", "applet", ""),
    ("/applets/{id}/recent", "applet", ""),
    ("/applets/{id}/numbers", "applet", ""),
    ("/applets/{id}/try", "applet", ""),
)
"""Each page with what its path names and its query."""

MORE = {
    # The lists of slots and of months have a few rows each. Open slots are read as many at once as a page needs, then
    # windows of the log, which are bounded by time; when the first one has nothing, the rollups say where to go on. Of
    # what is looked for only the last run counts, which is another statement.
    "/activity": 8,
    "/applets/{id}/recent": 5,
}
"""Pages that scan more, and why."""

WHOLE = {"/tables/{name}/csv": ["sheet_rows"]}
"""What reads all of a table, as it was asked to."""


@dataclass(frozen=True)
class Visitor:
    """A browser that is signed in, and what there is to see by name."""

    client: TestClient
    database: RecordingDatabase
    known: dict[str, str]

    def address(self, path: str, name: str, query: str) -> str:
        """The address of one of `PAGES`."""
        before, brace, _ = path.partition("{")
        after = path.rpartition("}")[2]
        return (before + self.known[name] + after if brace else path) + query.format(**self.known)


@pytest.fixture(scope="module")
def visitor(shared_server: AlopexServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    """The owner of a few applets whose history is of four days, in files."""
    server, home = shared_server, tmp_path_factory.mktemp("home")
    database = RecordingDatabase(ServerDatabase(server.url, api_key=server.api_key))
    prepare(database)
    settings = Settings.read({"WHENTHEN_HOME": str(home), "WHENTHEN_COPY_DIR": str(server.copy_dir)})
    make_key_file(Path(settings.secrets_key_path))
    runtime = Runtime(settings, database=database, wakeups=MemoryQueue(), arrivals=MemoryQueue())
    crowd = make_crowd(runtime.history, applets=60, executions=800, days=4)
    fields = {"event": "door"}
    webhook = {
        "name": "Door",
        "trigger": {"service": "webhooks", "trigger": "event", "fields": fields},
        "actions": [{"service": "notifications", "action": "send_notification", "fields": {"message": "It rang"}}],
    }
    sheets.add_row(database, OWNER, "k", row_of("T", {"A": "1"}), Deadline(60))
    connection = runtime.connections.create(OWNER, NewConnection(service="button", name="Mine", fields={}))
    items = read_activity(runtime.history, OWNER, Filters(), limit=200).items
    known = {
        "applet": crowd[0],
        "webhook": applets.create(database, OWNER, Applet.model_validate(webhook)).applet_id,
        "execution": items[0].execution_id,
        "logged": items[-1].execution_id,
        "connection": connection.connection_id,
        "service": "webhooks",
        "table": "T",
        "day": f"{to_datetime(now_ms()) - timedelta(days=2):%Y-%m-%d}",
    }
    server.checkpoint()
    client = TestClient(site.make_app(runtime), base_url="http://localhost", client=("127.0.0.1", 1))
    user = runtime.users.create_first("Ada", "correct horse battery", zone="Europe/Paris", api_key=None)
    client.cookies.set("whenthen_session", runtime.users.session_cookie(user))
    yield Visitor(client, database, known)
    runtime.worker.close()
    database.close()


def test_all_pages_are_here() -> None:
    assert {path for path, _, _ in PAGES} == {path for method, path, _ in routes._PAGES if method == "GET"}


@pytest.mark.parametrize(("path", "name", "query"), PAGES, ids=["".join(page) for page in PAGES])
def test_few_statements_scan(visitor: Visitor, path: str, name: str, query: str) -> None:
    with visitor.database.recording() as recorded:
        answer = visitor.client.get(visitor.address(path, name, query))
    assert answer.status_code == 200
    assert recorded.without_bound() == WHOLE.get(path, [])
    assert len(recorded.scans()) <= MORE.get(path, MOST), recorded.scans()


@pytest.mark.parametrize("query", ["?", "?applet={applet}&"])
def test_what_is_asked_for_all_the_time_does_not_read_the_log(visitor: Visitor, query: str) -> None:
    """Given an open page of the activity on which nothing has changed, then what it asks every few seconds is small."""
    opened = visitor.client.get(visitor.address("/activity", "", query)).text
    live = opened.partition('id="stream"')[2].partition('hx-get="')[2].partition('"')[0].replace("&amp;", "&")
    with visitor.database.recording() as recorded:
        answer = visitor.client.get(live, headers={"HX-Request": "true"})
    assert answer.status_code == 204
    assert len(recorded.scans()) <= MOST, recorded.scans()
    assert "execution_log" not in " ".join(recorded.requests)
