"""What the owner sees of a request: secrets masked, sizes bounded."""

import json

import pytest

from whenthen.engine.attempts import MASK, MAX_ATTEMPTS_BYTES, bounded, describe_request
from whenthen.net import Request


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://example.org/in?a=1", "https://example.org/in?a=1"),
        ("https://example.org/in?a=1&token=x", f"https://example.org/in?a=1&token={MASK}"),
        ("https://example.org/?a=1;api_key=x", f"https://example.org/?a=1&api_key={MASK}"),
        ("https://example.org/?hunter2", f"https://example.org/?{MASK}={MASK}".replace(f"={MASK}", "=")),
        ("https://h.example/trigger/door/with/key/abc", f"https://h.example/trigger/door/with/key/{MASK}"),
        ("http://home.example:8123/api/webhook/front_door", f"http://home.example:8123/api/webhook/{MASK}"),
        ("https://api.example/bot123:AAxx/sendMessage", f"https://api.example/bot{MASK}/sendMessage"),
        ("https://hooks.example/services/T0/B0/a1b2c3d4e5f6g7h8", f"https://hooks.example/services/T0/B0/{MASK}"),
        ("https://hooks.example/services/T0/B0/abcdefgh", f"https://hooks.example/services/T0/B0/{MASK}"),
        ("https://d.example/api/v10/webhooks/12/ab-c_d?wait=1", f"https://d.example/api/v10/webhooks/12/{MASK}?wait=1"),
        (
            "https://example.org/a-rather-long-and-readable-path/2",
            "https://example.org/a-rather-long-and-readable-path/2",
        ),
        ("http://[::1", "http://[::1"),
        ("http://[::1?token=x", "http://[::1"),
    ],
)
def test_secrets_in_urls_are_masked(url: str, shown: str) -> None:
    assert describe_request(Request("GET", url))["url"] == shown


@pytest.mark.parametrize(
    "name", ["Authorization", "Cookie", "X-Api-Key", "PRIVATE-TOKEN", "X-Auth", "Client-Secret", "X-Session"]
)
def test_secrets_in_headers_are_masked(name: str) -> None:
    assert describe_request(Request("GET", "https://e.org/", ((name, "hunter2"),)))["headers"] == {name: MASK}


def test_the_idempotency_key_is_shown() -> None:
    request = Request("GET", "https://e.org/", (("Idempotency-Key", "1.0"),))
    assert describe_request(request)["headers"] == {"Idempotency-Key": "1.0"}


def test_attempts_are_bounded_oldest_first() -> None:
    """Given more than fits, then the oldest lose their details, then go; the newest stay whole."""
    attempt = {"action": 0, "request": {"body": "é" * 1000}, "answer": {"body": "x"}}
    kept = bounded([{**attempt, "number": i} for i in range(60)])
    assert len(json.dumps(kept)) <= MAX_ATTEMPTS_BYTES
    assert kept[-1] == {**attempt, "number": 59}
    assert kept[0]["request"] is None
    assert bounded([attempt]) == (attempt,)
    assert bounded([]) == ()


def test_the_last_attempt_of_each_action_stays() -> None:
    """Whatever the others take: it alone tells whether its action is done."""
    many = {"request": None, "answer": None, "notes": ["x" * 30_000], "reason": "é" * 300, "outcome": "retry"}
    done = [{**many, "kind": "query", "action": index, "outcome": "succeeded"} for index in range(5)]
    done += [{**many, "kind": "action", "action": index, "outcome": "unknown"} for index in range(10)]
    tries = [{**many, "kind": "action", "action": 9, "number": number} for number in range(50)]
    kept = bounded([*done[:-1], *tries, done[-1]])
    assert len(json.dumps(kept)) <= MAX_ATTEMPTS_BYTES
    assert [(a["kind"], a["action"], a["outcome"]) for a in kept] == [
        (a["kind"], a["action"], a["outcome"]) for a in done
    ]
    assert kept[-1] == done[-1]
