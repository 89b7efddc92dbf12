"""docs/questions.md: every question on it, asked with the database's own command, has the right answer."""

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from tests.support.alopex import AlopexServer
from tests.support.history import SLOT, Made, close, fill
from tests.support.local import clean_environment, run_command
from tests.support.processes import ROOT, ProcessFailedError
from tests.support.scenario import OWNER, call_applet, prepare
from whenthen.clock import isoformat
from whenthen.store.database import connect
from whenthen.store.history import History
from whenthen.store.slots import SLOT_MINUTES, slot_end

PAGE = (ROOT / "docs" / "questions.md").read_text()
QUESTIONS = dict(re.findall(r"^## ([^\n]+)\n(?:(?!^##).)*?^```sql\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
"""The SQL by the title it stands under."""
PROFILE = re.findall(r"^```toml\n(\[profiles\.history\].*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[0]
APPLETS = ("3f0c1d2e4b5a6978", "a7", "b7")
DAY = "20261129"

type Answer = list[list[str]]


def number(one: Made) -> int:
    """The number that `fill` has given it, which is also how long it took."""
    return int(one.execution_id.split(".")[1][1:])


def took(one: Made) -> int:
    return 0 if one.state == "skipped" else number(one)


def tries(one: Made) -> int:
    return 0 if one.state == "skipped" else 1


@dataclass
class Past:
    """What has run, and the applets that are there."""

    made: list[Made]
    names: dict[str, str]

    def of_day(self, *, state: str = "", first: str = DAY) -> list[Made]:
        """Of the day, in the order of ids."""
        found = [one for one in self.made if first <= one.execution_id[:8] <= DAY and state in ("", one.state)]
        return sorted(found, key=lambda one: one.execution_id)

    def success_rate(self) -> Answer:
        rows = []
        for applet in APPLETS:
            states = Counter(
                one.state for one in self.made if one.applet_id == applet and one.execution_id[:6] == "202611"
            )
            good, bad, unknown = (states[state] for state in ("succeeded", "failed", "unknown"))
            rows.append((bad + unknown, [applet, good, bad, unknown, round(100 * good / (good + bad + unknown), 1)]))
        return [list(map(str, row)) for _, row in sorted(rows, key=lambda item: (-item[0], item[1][0]))]

    def failures_by_hour(self) -> Answer:
        hours: dict[tuple[str, int, str], Counter[str]] = {}
        for one in self.of_day(first="20261128"):
            key = one.execution_id[:8], int(one.execution_id[8:10]), one.service
            hours.setdefault(key, Counter())[one.state] += 1
        return [
            [
                day,
                str(hour),
                service,
                *map(str, (n["failed"], n["unknown"], n["succeeded"] + n["failed"] + n["unknown"])),
            ]
            for (day, hour, service), n in sorted(hours.items())
            if n["failed"] + n["unknown"]
        ]

    def of_applet(self) -> Answer:
        ran = [one for one in self.of_day() if one.applet_id == APPLETS[0]]
        return [
            [
                isoformat(one.occurred_at)[:19].replace("T", " "),
                *(one.state, one.service, str(tries(one)), str(took(one)), f"reason {number(one)}", one.execution_id),
            ]
            for one in sorted(ran, key=lambda one: (one.execution_id[:12], one.occurred_at, one.execution_id))
        ]

    def slowest(self) -> Answer:
        ran = sorted(self.of_day(), key=lambda one: (-took(one), one.execution_id))[:5]
        return [[str(took(one)), one.service, one.applet_id, str(tries(one)), one.execution_id] for one in ran]

    def failed(self) -> Answer:
        found = Counter((one.service, f"reason {number(one)}") for one in self.of_day(state="failed"))
        ordered = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:20]
        return [[service, reason, str(count)] for (service, reason), count in ordered]

    def unknown(self) -> Answer:
        ran = self.of_day(state="unknown", first="20261123")
        return [[one.execution_id, OWNER, one.applet_id, one.service, f"reason {number(one)}"] for one in ran]

    def with_a_word(self) -> Answer:
        ran = [(one.execution_id, f"reason {number(one)}") for one in self.of_day(state="failed")]
        return [list(row) for row in ran if "reason 1" in row[1]]

    def runs(self) -> Answer:
        rows = []
        for state in ("failed", "skipped", "succeeded", "unknown"):
            ran = self.of_day(state=state)
            rows.append([state, len(ran), sum(map(tries, ran)), max(map(took, ran))])
        return [list(map(str, row)) for row in rows]

    def applet_names(self) -> Answer:
        return [[applet, name, "true"] for applet, name in sorted(self.names.items())]


ANSWERS: dict[str, Callable[[Past], Answer]] = {
    "Success rate of each applet in a month": Past.success_rate,
    "Failures by hour and service": Past.failures_by_hour,
    "What an applet did on a day": Past.of_applet,
    "The slowest executions of a day": Past.slowest,
    "What failed on a day, and why": Past.failed,
    "Which executions are unknown": Past.unknown,
    "Failures with a word in the reason": Past.with_a_word,
    "Runs of a day, exactly": Past.runs,
    "Names of applets": Past.applet_names,
}


class Asker:
    """The command, with the profile of the page for a server."""

    def __init__(self, binary: Path, home: Path, url: str, token: str) -> None:
        self._binary = binary
        self._home = home
        config = home / ".alopex" / "config"
        config.parent.mkdir(parents=True)
        text = PROFILE.replace("http://127.0.0.1:8080", url).replace("the key in /etc/alopex/key.env", token)
        assert text.count(url) == text.count(token) == 1
        config.touch(mode=0o600)
        config.write_text(text)

    def ask(self, question: str) -> "subprocess.CompletedProcess[str]":
        """Ask as the page says."""
        return subprocess.run(
            [self._binary, "--profile", "history", "--batch", "sql", question],
            env=clean_environment(HOME=str(self._home)),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def rows(self, question: str) -> Answer:
        """The cells of the answer, without its head."""
        done = self.ask(question)
        assert done.returncode == 0, done.stderr
        lines = [line for line in done.stdout.splitlines() if line.startswith("│")]
        return [[cell.strip() for cell in line.strip("│").split("┆")] for line in lines[1:]]


@pytest.fixture(scope="module")
def cli() -> Path:
    """The database's own command, built if this machine has none yet (minutes)."""
    done = subprocess.run([ROOT / "scripts" / "install-alopex-cli"], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise ProcessFailedError("scripts/install-alopex-cli failed; see its messages above")
    return Path(done.stdout.strip())


@pytest.fixture(scope="module")
def past(shared_server: AlopexServer) -> Past:
    """Two months of history, loaded by the closer, and two applets."""
    made = []
    with closing(connect(shared_server.url, api_key=shared_server.api_key)) as database:
        prepare(database)
        names = {call_applet(database, "http://127.0.0.1:9/", name=name): name for name in ("Door", "Alarm")}
        for slot, count in (
            (SLOT, 4),
            ("202611202300", 24),
            ("202611282330", 24),
            (f"{DAY}0000", 9),
            (f"{DAY}1730", 60),
        ):
            at = slot_end(slot) - SLOT_MINUTES * 60_000
            made += fill(database, slot, count, at=at, applets=APPLETS)
        close(
            History(database, database, str(shared_server.copy_dir / "load.parquet")),
            slot_end(f"{DAY}2330") + 2 * 3_600_000,
        )
    return Past(made, names)


@pytest.fixture(scope="module")
def asker(cli: Path, past: Past, shared_server: AlopexServer, tmp_path_factory: pytest.TempPathFactory) -> Asker:
    """Somebody on the database host."""
    return Asker(cli, tmp_path_factory.mktemp("asker"), shared_server.direct_url, shared_server.api_key)


def test_every_question_of_the_page_has_a_test() -> None:
    assert set(QUESTIONS) == set(ANSWERS)
    assert PAGE.count("```sql") == len(QUESTIONS)


@pytest.mark.parametrize("title", ANSWERS)
def test_the_answer_is_right(title: str, asker: Asker, past: Past) -> None:
    answer = asker.rows(QUESTIONS[title])
    assert answer == ANSWERS[title](past)
    assert len(answer) > 1


def test_the_command_of_the_page(asker: Asker) -> None:
    assert ["execution_log_202611"] in asker.rows("SHOW TABLES")


def test_what_the_page_warns_of(asker: Asker, shared_server: AlopexServer, tmp_path: Path, cli: Path) -> None:
    """Numbers with a fraction, names of columns, a config that others may read, and the front."""
    assert "error decoding" in asker.ask("SELECT 1.5 AS a").stderr
    shadowed = "SELECT subject, SUM(failed) AS failed FROM daily_stats_202611 GROUP BY subject HAVING SUM(failed) > 0"
    assert "nested aggregate" in asker.ask(shadowed).stderr
    config = asker._home / ".alopex" / "config"
    config.chmod(0o644)
    assert "permissions must be 600" in asker.ask("SHOW TABLES").stderr
    config.chmod(0o600)
    front = Asker(cli, tmp_path, shared_server.url, shared_server.api_key)
    assert "FRONT_NOT_FOUND" in front.ask("SHOW TABLES").stderr


@pytest.fixture
def copy(shared_server: AlopexServer, past: Past, alopex_binary: Path, tmp_path: Path) -> Iterator[AlopexServer]:
    """A second server on an export of the first, restored as the page says."""
    answer = httpx2.post(
        f"{shared_server.url}/api/admin/export",
        headers={"x-api-key": shared_server.api_key}, timeout=60, trust_env=False,
    )  # fmt: skip
    export = Path(answer.json()["location"])
    server = AlopexServer(alopex_binary, tmp_path / "copy", api_key="copy")
    environment = clean_environment(ALOPEX_URL=shared_server.url, WHENTHEN_HOME=str(tmp_path / "home"))
    done = run_command("restore", str(export), str(server.data_dir), environment=environment)
    assert done.returncode == 0, done.stderr
    shutil.rmtree(export)
    try:
        server.start()
        yield server
    finally:
        server.remove()


def test_a_copy_gives_the_same_answers(copy: AlopexServer, cli: Path, past: Past, tmp_path: Path) -> None:
    asker = Asker(cli, tmp_path / "asker", copy.direct_url, copy.api_key)
    for title, question in QUESTIONS.items():
        assert asker.rows(question) == ANSWERS[title](past), title
