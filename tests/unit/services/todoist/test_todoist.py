"""Tasks, as Todoist takes them."""

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import ValidationError

from tests.support.acting import Acting, meaning
from tests.support.sink import Reply
from tests.support.vendor import rendered
from tests.unit.services.todoist.stand_in import TOKEN, Todoist, document, refusal
from whenthen.engine.attempts import describe_request
from whenthen.engine.retry import Unanswered
from whenthen.errors import FieldError
from whenthen.services.todoist.connection import CONNECTION, TodoistConnectionFields
from whenthen.services.todoist.fields import CreateTaskFields
from whenthen.services.work import Meaning, Reading

MILK = {"content": "Buy milk"}
SYNC = "/api/v1/sync"


@pytest.fixture(scope="module")
def running() -> Iterator[Todoist]:
    with Todoist() as todoist:
        yield todoist


@pytest.fixture
def todoist(running: Todoist) -> Todoist:
    running.forget()
    running.tasks.clear()
    running.loses_answers = False
    return running


@pytest.fixture
def acting(todoist: Todoist) -> Acting:
    return Acting("todoist", {"token": TOKEN}, moved=("https://api.todoist.com", todoist.url))


def made(todoist: Todoist) -> dict[str, Any]:
    (task,) = todoist.tasks.values()
    return task


def test_a_task_is_made(acting: Acting, todoist: Todoist) -> None:
    fields = {
        **MILK, "description": "2 l\n& fresh", "due": "tomorrow at 10:00", "priority": "p1", "labels": ["@food", ""],
        "project": "6Jf8VQXxpwv56VQ7",
    }  # fmt: skip
    sent = acting.act("create_task", fields)
    assert meaning(sent) is Meaning.SUCCEEDED
    assert made(todoist) == {
        "content": "Buy milk", "description": "2 l\n& fresh", "due": {"string": "tomorrow at 10:00"}, "priority": 4,
        "labels": ["food"], "auto_parse_labels": False, "project_id": "6Jf8VQXxpwv56VQ7",
    }  # fmt: skip
    assert sent.request is not None
    assert TOKEN not in str(describe_request(sent.request))


def test_the_least(acting: Acting, todoist: Todoist) -> None:
    acting.act("create_task", {"content": "Buy\nmilk"})
    assert made(todoist) == {
        "content": "Buy milk", "description": "", "priority": 1, "labels": [], "auto_parse_labels": False,
    }  # fmt: skip


def test_a_date_is_a_date(acting: Acting, todoist: Todoist) -> None:
    acting.act("create_task", {**MILK, "due": "2026-12-24"})
    assert made(todoist)["due"] == {"date": "2026-12-24"}


def test_a_repetition_makes_no_second_task(acting: Acting, todoist: Todoist) -> None:
    """F05: the answer gets lost after Todoist made the task; the same key is the same command."""
    todoist.loses_answers = True
    assert acting.act("create_task", MILK, key="e.0").result == Unanswered(repeatable=True)
    todoist.loses_answers = False
    assert meaning(acting.act("create_task", MILK, key="e.0")) is Meaning.SUCCEEDED
    assert len(todoist.tasks) == 1
    acting.act("create_task", MILK, key="e.1")
    assert len(todoist.tasks) == 2


def test_a_command_that_failed_is_a_failure(acting: Acting, todoist: Todoist) -> None:
    """F20: the status is 200."""
    sent = acting.act("create_task", {**MILK, "project": "gone"})
    assert meaning(sent) is Meaning.FAILED
    assert "Project not found" in sent.reason
    assert todoist.tasks == {}


@pytest.mark.parametrize(
    ("status", "expected", "wait"),
    [
        ({"error": "x", "http_code": 500}, Meaning.RETRY, 0),
        ({"error": "x", "http_code": 429, "error_extra": {"retry_after": 7}}, Meaning.RETRY, 7),
        ({"error": "x", "http_code": 401}, Meaning.UNAUTHORIZED, 0),
        ({"error": "x"}, Meaning.FAILED, 0),
        ({}, Meaning.FAILED, 0),
        ("no", Meaning.FAILED, 0),
        (None, Meaning.FAILED, 0),
    ],
)
def test_what_became_of_the_command_decides(
    acting: Acting, todoist: Todoist, status: Any, expected: Meaning, wait: float
) -> None:
    work = acting.prepare("create_task", MILK)
    assert work.request.body is not None
    uuid = work.request.body.decode().partition("uuid%22%3A+%22")[2][:36]
    todoist.reply(SYNC, [document(200, {"sync_status": {uuid: status, "other": "ok"}})])
    sent = acting.act("create_task", MILK)
    assert isinstance(sent.result, Reading)
    assert (sent.result.meaning, sent.result.retry_after_seconds) == (expected, wait)
    assert len(sent.reason) > 10


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"{}", b'{"sync_status": []}', b'{"sync_status": {}}'])
def test_an_answer_that_says_nothing_is_no_success(acting: Acting, todoist: Todoist, body: bytes) -> None:
    """F20."""
    todoist.reply(SYNC, [Reply(200, body=body)])
    assert meaning(acting.act("create_task", MILK)) is Meaning.FAILED


@pytest.mark.parametrize(
    ("reply", "expected", "wait"),
    [
        (refusal(401, "UNAUTHORIZED", "Unauthorized"), Meaning.UNAUTHORIZED, 0),
        (refusal(403, "AUTH_USER_DELETED", "User deleted"), Meaning.UNAUTHORIZED, 0),
        (refusal(403, "FORBIDDEN", "Forbidden"), Meaning.FAILED, 0),
        (refusal(400, "INVALID_ARGUMENT_VALUE", "Bad"), Meaning.FAILED, 0),
        (refusal(429, "LIMITS_REACHED", "Too many requests", retry_after=30), Meaning.RETRY, 30),
        (refusal(429, "LIMITS_REACHED", "Too many requests", retry_after=10**9), Meaning.RETRY, 900),
        (refusal(429, "LIMITS_REACHED", "Too many requests", retry_after="x"), Meaning.RETRY, 0),
        (Reply(429, (("Retry-After", "5"),), b""), Meaning.RETRY, 5),
        (Reply(503), Meaning.RETRY, 0),
    ],
)
def test_refusals(acting: Acting, todoist: Todoist, reply: Reply, expected: Meaning, wait: float) -> None:
    todoist.reply(SYNC, [reply])
    sent = acting.act("create_task", MILK)
    assert isinstance(sent.result, Reading)
    assert (sent.result.meaning, sent.result.retry_after_seconds) == (expected, wait)


def test_what_is_too_long_is_cut(acting: Acting, todoist: Todoist) -> None:
    fields = {"content": "é" * 900, "description": "d" * 20_000, "labels": ["l" * 61]}
    assert meaning(acting.act("create_task", fields)) is Meaning.SUCCEEDED
    task = made(todoist)
    assert (len(task["content"]), len(task["description"]), len(task["labels"][0])) == (500, 16_383, 60)


def test_an_ingredient_makes_no_label() -> None:
    fields = rendered(CreateTaskFields, {"content": "{{Value1}} @mine"}, {"Value1": "Tell @ada"})
    assert fields.content == "Tell @\u200bada @mine"


def test_a_project_is_an_id(acting: Acting) -> None:
    with pytest.raises(ValidationError):
        acting.prepare("create_task", {**MILK, "project": "My project"})
    with pytest.raises(FieldError) as caught:
        acting.prepare("create_task", {**MILK, "project": "{{x"})
    assert caught.value.field == "project"


def test_a_connection_tells_whose_it_is(acting: Acting, todoist: Todoist) -> None:
    assert acting.test() == "ada@example.org"
    todoist.reply("/api/v1/user", [document(200, {})])
    assert isinstance(acting.test(), Reading)
    todoist.reply("/api/v1/user", [refusal(401, "UNAUTHORIZED", "Unauthorized")])
    result = acting.test()
    assert isinstance(result, Reading)
    assert result.meaning is Meaning.UNAUTHORIZED
    assert CONNECTION.test(TodoistConnectionFields()) is None
