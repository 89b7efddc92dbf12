"""Lines appended to one file: none lost, none twice."""

import csv
import io
import threading

import pytest

from tests.support.acting import Acting, meaning
from tests.support.sink import Reply
from tests.unit.services.storage.stand_in import Bucket, Stored, refusal
from whenthen.engine.retry import Unanswered
from whenthen.services.storage.appending import DONE_HEADER, MAX_FILE_BYTES
from whenthen.services.storage.csv_rows import csv_row
from whenthen.services.work import Meaning, Reading

LINE = {"key": "log.txt", "line": "open"}


def content(bucket: Bucket, key: str = "log.txt") -> str:
    return bucket.objects[key].body.decode()


def append(acting: Acting, line: str) -> None:
    assert meaning(acting.act("append_line", {"key": "log.txt", "line": line}, key=line)) is Meaning.SUCCEEDED


def test_lines_follow_one_another(acting: Acting, bucket: Bucket) -> None:
    for line in ("a", "b\r\nc\u2028d", "e\tf"):
        append(acting, line)
    assert content(bucket) == "a\nb c d\ne\tf\n"
    assert bucket.objects["log.txt"].headers["content-type"] == "text/plain; charset=utf-8"


def test_a_repetition_after_a_lost_answer_appends_nothing(acting: Acting, bucket: Bucket) -> None:
    """F05: the store has the line, and nobody knows."""
    append(acting, "first")
    bucket.lost = 1
    assert acting.act("append_line", LINE, key="e.0").result == Unanswered(repeatable=True)
    append(acting, "between")
    assert meaning(acting.act("append_line", LINE, key="e.0")) is Meaning.SUCCEEDED
    assert content(bucket) == "first\nopen\nbetween\n"
    # The same line of another event is another line.
    assert meaning(acting.act("append_line", LINE, key="e.1")) is Meaning.SUCCEEDED
    assert content(bucket).endswith("between\nopen\n")


def test_parallel_appends_are_all_there_once(acting: Acting, bucket: Bucket) -> None:
    """Given 20 events at once and answers that get lost, then each line is there once when each is done."""
    bucket.lost = 6
    lines = [f"line {number}" for number in range(20)]
    failures = []

    def work(line: str) -> None:
        for _ in range(10):
            sent = acting.act("append_line", {"key": "log.txt", "line": line}, key=line)
            if isinstance(sent.result, Reading) and sent.result.meaning is Meaning.SUCCEEDED:
                return
            assert sent.result == Unanswered(repeatable=True) or meaning(sent) is Meaning.RETRY, sent.reason
        failures.append(line)

    threads = [threading.Thread(target=work, args=(line,)) for line in lines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert bucket.lost == 0
    assert sorted(content(bucket).splitlines()) == sorted(lines)


def test_a_file_of_somebody_elses_is_kept_as_it_is(acting: Acting, bucket: Bucket) -> None:
    headers = {"content-type": "text/markdown", "cache-control": "no-store", "x-amz-meta-owner": "ada"}
    bucket.objects["log.txt"] = Stored(b"# Log", headers)
    append(acting, "x")
    assert content(bucket) == "# Log\nx\n"
    assert headers.items() <= bucket.objects["log.txt"].headers.items()


def test_marks_leave_room_for_other_metadata(acting: Acting, bucket: Bucket) -> None:
    """Given more additions than marks fit, then the newest are remembered."""
    bucket.objects["log.txt"] = Stored(b"", {"x-amz-meta-note": "n" * 1900})
    for number in range(20):
        append(acting, f"l{number}")
    lines = content(bucket)
    assert len(lines.splitlines()) == 20
    append(acting, "l19")
    append(acting, "l7")
    assert content(bucket) == lines
    append(acting, "l6")
    assert content(bucket) == lines + "l6\n"


def test_at_least_two_hundred_are_remembered(acting: Acting, bucket: Bucket) -> None:
    for number in range(201):
        append(acting, f"l{number}")
    lines = content(bucket)
    append(acting, "l0")
    assert content(bucket) == lines


@pytest.mark.parametrize("status", [200, 501])
@pytest.mark.parametrize("before", [None, b"kept\n"])
def test_a_store_without_conditions_is_found_out(
    acting: Acting, bucket: Bucket, status: int, before: bytes | None
) -> None:
    """It would lose lines silently: so it is told each time, and nothing of the file is changed."""
    bucket.ignores_conditions, bucket.conditions_status = status == 200, status if status != 200 else 0
    if before is not None:
        bucket.objects["log.txt"] = Stored(before, {"x-amz-meta-owner": "ada"})
    for _ in range(2):
        sent = acting.act("append_line", LINE)
        assert meaning(sent) is Meaning.FAILED
        assert "can't append safely" in sent.reason
    assert bucket.objects.get("log.txt", Stored(b"", {})).body == (before or b"")
    if before is not None:
        assert bucket.objects["log.txt"].headers["x-amz-meta-owner"] == "ada"


def test_the_probe_is_made_once_a_file(acting: Acting, bucket: Bucket) -> None:
    append(acting, "a")
    assert [request.method for request in bucket.requests] == ["GET", "PUT", "PUT"]
    bucket.requests.clear()
    append(acting, "b")
    assert [request.method for request in bucket.requests] == ["GET", "PUT"]


def test_a_file_that_is_too_large_is_not_cut(acting: Acting, bucket: Bucket) -> None:
    for size in (MAX_FILE_BYTES - 4, MAX_FILE_BYTES + 1):
        bucket.objects["log.txt"] = Stored(b"x" * size, {})
        sent = acting.act("append_line", LINE)
        assert (meaning(sent), "larger than 1 MiB" in sent.reason) == (Meaning.FAILED, True)
        assert len(bucket.objects["log.txt"].body) == size


def test_a_file_that_changes_all_the_time_waits(
    acting: Acting, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("random.uniform", min)
    busy = [Reply(headers=(("ETag", '"a"'), (DONE_HEADER, "AAAAAAAA"))), refusal(409, "ConditionalRequestConflict")]
    bucket.reply("/house/log.txt", busy * 12)
    sent = acting.act("append_line", LINE)
    assert (meaning(sent), "all the time" in sent.reason) == (Meaning.RETRY, True)


def test_a_file_that_went_away_meanwhile_is_begun_anew(acting: Acting, bucket: Bucket) -> None:
    gone = refusal(404, "NoSuchKey")
    bucket.reply(
        "/house/log.txt", [Reply(headers=(("ETag", '"a"'), (DONE_HEADER, "A" * 8))), gone, gone, gone, Reply()]
    )
    append(acting, "a")
    assert (bucket.last.headers["if-none-match"], bucket.last.body) == ("*", b"a\n")


@pytest.mark.parametrize(
    ("reply", "expected", "words"),
    [
        (Reply(), Meaning.FAILED, "can't append safely"),
        (Reply(headers=(("ETag", 'W/"a"'),)), Meaning.FAILED, "can't append safely"),
        (Reply(headers=(("ETag", '"a"'), ("Content-Encoding", "gzip")), body=b"half"), Meaning.RETRY, "ended early"),
        (Reply(headers=(("ETag", '"a"'), ("Content-Encoding", "br"))), Meaning.FAILED, "is compressed"),
        (refusal(404, "NoSuchBucket"), Meaning.FAILED, "no bucket"),
        (Reply(500), Meaning.RETRY, "500"),
    ],
)
def test_what_can_not_be_read_is_not_written(
    acting: Acting, bucket: Bucket, reply: Reply, expected: Meaning, words: str
) -> None:
    bucket.reply("/house/log.txt", [reply])
    sent = acting.act("append_line", LINE)
    assert (meaning(sent), words in sent.reason) == (expected, True), sent.reason
    assert [request.method for request in bucket.requests] == ["GET"]


def test_a_csv_file_begins_with_its_header(acting: Acting, bucket: Bucket) -> None:
    for number, row in enumerate((["1", 'say "hi", ada'], ["2\n3", "-4,5"])):
        fields = {"key": "log.csv", "row": row, "header": ["day", "what"]}
        assert meaning(acting.act("append_csv_row", fields, key=str(number))) is Meaning.SUCCEEDED
    assert bucket.objects["log.csv"].headers["content-type"] == "text/csv; charset=utf-8"
    rows = list(csv.reader(io.StringIO(content(bucket, "log.csv"), newline="")))
    assert rows == [["day", "what"], ["1", 'say "hi", ada'], ["2\n3", "-4,5"]]


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd|'/c calc'!A1", "'+cmd|'/c calc'!A1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("-2+3", "'-2+3"),
        (" =1", "' =1"),
        ("\t=1", "'\t=1"),
        ("＝1", "'＝1"),
        ("-5", "-5"),
        ("+3.14", "+3.14"),
        ("-1.234,5", '"-1.234,5"'),
        ("-1e-5", "-1e-5"),
        ("-20%", "-20%"),
        ("a=b", "a=b"),
        ("", '""'),
        ("light.bedroom_lamp", "light.bedroom_lamp"),
    ],
)
def test_a_cell_is_never_a_formula(cell: str, written: str) -> None:
    assert csv_row([cell]) == f"{written}\n"
