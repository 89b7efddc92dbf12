"""The retry policy as a table (R6)."""

import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
import time_machine
from hypothesis import given
from hypothesis import strategies as st

from whenthen.engine.retry import (
    JITTER,
    MAX_RETRY_AFTER_SECONDS,
    RETRY_DELAYS_SECONDS,
    Decision,
    NeverSent,
    Result,
    Unanswered,
    Verdict,
    decide,
)
from whenthen.net import Answer
from whenthen.services.answers import read_status
from whenthen.services.work import Reading

NOW = datetime(2026, 11, 29, 18, tzinfo=UTC)
RETRY, FAILED, SUCCEEDED, UNKNOWN = Verdict.RETRY, Verdict.FAILED, Verdict.SUCCEEDED, Verdict.UNKNOWN


def answered(status: int, retry_after: str | None = None) -> Reading:
    """What an answer means at the instant NOW."""
    headers = {} if retry_after is None else {"retry-after": retry_after}
    with time_machine.travel(NOW, tick=False):
        return read_status(Answer(status, headers, b"", "https://example.org"))


def decision(result: Result, tries: int = 1, chance: float = 0.0) -> Decision:
    return decide(result, tries=tries, chance=chance)


@pytest.mark.parametrize(
    ("result", "verdict"),
    [
        *[(answered(status), SUCCEEDED) for status in (200, 201, 202, 204, 299)],
        *[
            (answered(status), FAILED)
            for status in (100, 199, 300, 301, 304, 400, 401, 403, 404, 407, 409, 410, 413, 422, 451)
        ],
        *[(answered(status), RETRY) for status in (408, 425, 429, 500, 501, 502, 503, 504, 520, 599)],
        (NeverSent(permanent=False), RETRY),
        (NeverSent(permanent=True), FAILED),
        (Unanswered(repeatable=True), RETRY),
        (Unanswered(repeatable=False), UNKNOWN),
    ],
    ids=str,
)
def test_verdicts(result: Result, verdict: Verdict) -> None:
    made = decision(result)
    assert made.verdict is verdict
    assert (made.delay_seconds > 0) == (verdict is RETRY)


@pytest.mark.parametrize("tries", range(1, 8))
@pytest.mark.parametrize("result", [answered(503), NeverSent(permanent=False), Unanswered(repeatable=True)], ids=str)
def test_at_most_five_retries(result: Result, tries: int) -> None:
    made = decision(result, tries)
    if tries <= 5:
        assert made == Decision(RETRY, RETRY_DELAYS_SECONDS[tries - 1])
    else:
        assert made == Decision(FAILED)


@pytest.mark.parametrize("tries", [6, 60])
def test_an_unrepeatable_request_is_never_failed_or_retried(tries: int) -> None:
    assert decision(Unanswered(repeatable=False), tries).verdict is UNKNOWN


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("11", 11),
        (" 90 ", 90),
        ("5", 10),
        ("0", 10),
        ("21600", 21600),
        ("21601", 21600),
        ("999999999", 21600),
        ("1.5", 10),
        ("-1", 10),
        ("+90", 10),
        ("٩٠", 10),
        ("", 10),
        ("tomorrow", 10),
        ("90, 120", 10),
        (format_datetime(NOW + timedelta(seconds=75), usegmt=True), 75),
        ("Sunday, 29-Nov-26 18:01:15 GMT", 75),
        (format_datetime(NOW - timedelta(hours=1), usegmt=True), 10),
        (format_datetime(NOW + timedelta(days=400), usegmt=True), 21600),
        ("Sun, 29 Nov 2026 19:01:15 +0100", 75),
        ("Sun, 31 Feb 2026 18:01:15 GMT", 10),
    ],
)
def test_retry_after(text: str, seconds: float) -> None:
    assert decision(answered(429, text)).delay_seconds == seconds


def test_a_longer_own_wait_is_kept() -> None:
    assert decision(answered(503, "60"), tries=4).delay_seconds == RETRY_DELAYS_SECONDS[3]


def test_retry_after_of_another_status_means_nothing() -> None:
    assert decision(answered(400, "60")) == Decision(FAILED)
    assert decision(answered(200, "60")) == Decision(SUCCEEDED)


@given(st.integers(1, 5), st.floats(0, 1), st.none() | st.integers(0, 10**6).map(str))
def test_jitter_only_lengthens(tries: int, chance: float, retry_after: str | None) -> None:
    least = decision(answered(503, retry_after), tries).delay_seconds
    made = decision(answered(503, retry_after), tries, chance).delay_seconds
    assert least <= made <= least * (1 + JITTER)
    assert least <= max(MAX_RETRY_AFTER_SECONDS, RETRY_DELAYS_SECONDS[-1])


def test_a_date_beyond_all_calendars() -> None:
    assert decision(answered(503, "Mon, 01 Jan 99999999999 00:00:00 GMT")).delay_seconds == 10


def test_a_date_without_a_zone_is_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        made = decision(answered(429, "Sun Nov 29 18:01:15 2026"))
    time.tzset()
    assert made.delay_seconds == 75


@given(st.text(max_size=40).filter(lambda text: not any(len(word) > 9 for word in text.split())))
def test_no_header_is_too_odd(text: str) -> None:
    assert decision(answered(503, text)).verdict is RETRY
