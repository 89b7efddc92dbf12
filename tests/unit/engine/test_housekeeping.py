"""What is dangerous about a host, in words, and what becomes of several hosts' numbers."""

import pytest

from tests.support.embedded import make_house
from whenthen.engine.housekeeping import GIB, MIB, Gauges, HostState, Housekeeping, _is_due, dangers
from whenthen.errors import NotConfigured
from whenthen.servers import open_hosts
from whenthen.settings import Settings
from whenthen.store.database import connect
from whenthen.store.host import HostReport
from whenthen.store.meta import Export

NOW = 1_796_000_000_000
SOUND = HostReport(
    measured_at=NOW - 9_000,
    wal_bytes=300 * MIB,
    wal_limit=512 * MIB,
    sst_bytes=GIB,
    sst_files=200,
    exports=4,
    export_bytes=2 * GIB,
    disk_free_bytes=100 * GIB,
    asked_at=NOW,
)


UNUSED = connect(":memory:")


def changed(**values: int) -> HostReport:
    return SOUND.model_copy(update=values)


def test_a_sound_host_is_no_news() -> None:
    assert dangers(SOUND) == []
    assert SOUND.age_seconds == 9


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (changed(measured_at=NOW - 61_000), "the host's report is 61 s old"),
        (changed(wal_bytes=308 * MIB), "the write-ahead log is 60% full"),
        (changed(wal_bytes=512 * MIB), "the write-ahead log is 100% full"),
        (changed(sst_bytes=GIB + 1), "the table files hold 1.0 GiB, which slows every scan: rebuild it"),
        (changed(sst_files=201), "there are 201 table files"),
        (changed(exports=5), "5 exports pile up, 2.0 GiB"),
        (changed(disk_free_bytes=3 * GIB), "the disk is nearly full: 3.0 GiB are free, and an export takes 1.8"),
    ],
)
def test_a_danger_is_put_in_words(report: HostReport, words: str) -> None:
    (danger,) = dangers(report)
    assert danger.startswith(words)


def test_dangers_come_together() -> None:
    assert len(dangers(changed(measured_at=0, wal_bytes=512 * MIB, sst_files=300, exports=9, disk_free_bytes=0))) == 5


def test_a_clock_behind_its_report_makes_no_age() -> None:
    assert changed(measured_at=NOW + 500).age_seconds == 0


@pytest.mark.parametrize(
    ("last", "full_at", "due"),
    [
        pytest.param(Export(NOW - 60_000, NOW - 50_000), NOW - 9_000, True, id="measured after the last export"),
        pytest.param(Export(NOW - 60_000, NOW - 50_000), NOW - 55_000, False, id="measured in the middle of it"),
        pytest.param(Export(NOW - 60_000, NOW - 50_000), NOW - 90_000, False, id="measured before it"),
        pytest.param(Export(NOW - 60_000, None), NOW - 9_000, False, id="one is under way"),
        pytest.param(Export(NOW - 180_000, None), NOW - 9_000, True, id="its poller has died"),
        pytest.param(Export(NOW + 1_000, None), NOW - 9_000, True, id="begun by a clock that is ahead"),
        pytest.param(Export(NOW, NOW + 2_000), NOW - 9_000, False, id="just ended by another"),
        pytest.param(Export(NOW, NOW + 3_600_000), NOW - 9_000, True, id="ended by a clock that is far ahead"),
    ],
)
def test_when_an_export_is_due(last: Export, full_at: int, due: bool) -> None:
    assert _is_due(last, NOW, full_at) is due


def test_gauges_are_the_greatest_of_all_hosts() -> None:
    housekeeping = Housekeeping(UNUSED, [])
    assert housekeeping.gauges == Gauges()
    housekeeping.states = (HostState("database", None, NOW),)
    assert housekeeping.gauges == Gauges()
    other = changed(wal_bytes=1, sst_bytes=3 * GIB, sst_files=7, measured_at=NOW - 20_000)
    housekeeping.states = (HostState("database", SOUND, NOW), HostState("history", other, NOW))
    assert housekeeping.gauges == Gauges(300 * MIB, 3 * GIB, 200, 20.0)
    housekeeping.states = (HostState("database", SOUND, NOW), HostState("history", None, NOW))
    assert housekeeping.gauges == Gauges(300 * MIB, GIB, 200, None), "an age that is not known must not look young"


def test_the_engine_in_this_process_needs_no_keeping() -> None:
    with make_house() as house:
        assert house.tick().wal_bytes is None
        assert house.runtime.housekeeping.states == ()


def test_the_hosts_are_those_of_the_settings() -> None:
    def names(**urls: str) -> list[str]:
        return [host.name for host in open_hosts(Settings.read(urls))]

    here, there = "http://127.0.0.1:1", "https://db.example.org:8443"
    assert names() == []
    assert names(ALOPEX_URL=here) == ["database"]
    assert names(ALOPEX_URL=here, ALOPEX_HISTORY_URL=here) == ["database"]
    assert names(ALOPEX_URL=here, ALOPEX_HISTORY_URL=there) == ["database", "history"]
    with pytest.raises(NotConfigured, match="ALOPEX_HISTORY_URL: plaintext"):
        names(ALOPEX_URL=here, ALOPEX_HISTORY_URL="http://db.example.org")
