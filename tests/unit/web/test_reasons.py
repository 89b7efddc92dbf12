"""What the engine says is shown in the language of the page."""

import ast
import itertools
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

import whenthen
from tests.support.claims import running
from whenthen.clock import now_ms
from whenthen.engine.connections.tokens import NoTokens, read_tokens
from whenthen.engine.drafts import look
from whenthen.engine.gates import filtered
from whenthen.engine.judging import set_delay, wait_for_host
from whenthen.errors import FieldError
from whenthen.model.applet import ActionRef, Delay
from whenthen.net.messages import Answer
from whenthen.services.answers import read_status
from whenthen.services.calendar.events import read_events
from whenthen.services.github.answers import read_github
from whenthen.services.home_assistant.answers import read_home_assistant
from whenthen.services.partner.access import Access
from whenthen.services.partner.failures import failure
from whenthen.services.partner.fields import EventFields
from whenthen.services.web.json_values import read as read_json_value
from whenthen.web.console import language, reasons
from whenthen.web.console.mistakes import worded

_SOURCE = Path(whenthen.__file__).parent
_HOUR = 3_600_000


@pytest.fixture(autouse=True)
def in_japanese() -> Iterator[None]:
    token = language.current.set("ja")
    yield
    language.current.reset(token)


def _answer(status: int, body: bytes = b"") -> Answer:
    return Answer(status, {}, body, "https://example.org/")


def _filters() -> Iterator[str]:
    run = running("e", "t")
    for expression in ("Value1 == 'open'", "1 > 2", "Value1 * 2 > 1", "'a' > 1"):
        ended = filtered(replace(run, applet=run.applet.model_copy(update={"filter": expression}), notes=[]))
        assert ended is not None
        yield ended[1]


def _waits() -> Iterator[str]:
    run = running("e", "t")
    for what in ("", "query 2"):
        yield wait_for_host(run, now_ms() + _HOUR, what).progress.reason
    delayed = ActionRef(service="s", action="a", delay=Delay(seconds=60))
    run = replace(run, applet=run.applet.model_copy(update={"actions": (delayed,)}), tries=0)
    outcome = set_delay(run)
    assert outcome is not None
    yield outcome.progress.reason
    run.kept = replace(run.kept, delayed=run.step, waits_until=now_ms() - _HOUR)
    assert set_delay(run) is None
    yield from (note.removeprefix("delay: ") for note in run.notes)


def _tokens() -> Iterator[str]:
    for body in (b"{}", b'{"error": "invalid_grant"}'):
        for status in (200, 400):
            found = read_tokens(_answer(status, body), 0, {})
            assert isinstance(found, NoTokens)
            yield found.reason


def _answers() -> Iterator[str]:
    for status in (400, 404, 418, 503):
        yield read_status(_answer(status)).reason
        yield read_status(_answer(status), "No. Not now").reason
    for status in (403, 404, 410):
        yield read_github(_answer(status)).reason
    for status in (400, 401, 403, 404):
        yield read_home_assistant(_answer(status)).reason


def _partners() -> Iterator[str]:
    fields = EventFields.model_validate({"url": "https://a.example", "trigger": "t", "zone": "UTC"})
    for access in (Access("https://a.example", service_key="key"), Access("https://a.example", token="token")):
        for status, body in itertools.product((401, 500), (b"", b'{"errors": [{"message": "no"}]}')):
            asked = Answer(status, {}, body, access.endpoint("triggers/t"))
            yield str(failure(asked, access, fields, 0))
            yield str(failure(replace(asked, url="https://b.example/"), access, fields, 0))


def _documents() -> Iterator[str]:
    yield read_json_value(b'{"a": 1}', content_type="", expression="length(a)", condition=None)["fault"]
    events = [
        "BEGIN:VEVENT\r\nUID:1\r\nDTSTART:nonsense\r\nEND:VEVENT",
        "BEGIN:VEVENT\r\nUID:2\r\nDTSTART;TZID=Nowhere:20261130T100000\r\nEND:VEVENT",
        "BEGIN:VEVENT\r\nUID:3\r\nDTSTART:20261130T100000Z\r\nRRULE:INTERVAL=1\r\nEND:VEVENT",
        "BEGIN:VEVENT\r\nUID:4\r\nDTSTART:20261130T100000Z\r\nRRULE:FREQ=SECONDLY\r\nEND:VEVENT",
    ]
    body = "\r\n".join(["BEGIN:VCALENDAR", *events, "END:VCALENDAR", ""])
    yield from read_events(body.encode(), ZoneInfo("UTC"))[1]


def _drafts() -> Iterator[str]:
    draft = look(
        {
            "name": "a",
            "trigger": {"service": "webhooks", "trigger": "event", "fields": {"event": "e"}},
            "filter": "Value1 == Valu2 or Nothing",
            "actions": [{"service": "no", "action": "a"}, {"service": "notifications", "action": "no"}],
        },
        zone="UTC",
        connections={},
    )
    yield from (problem.message for problem in (*draft.problems, *draft.warnings))


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")

    needed: str
    text: Annotated[str, Field(min_length=1, max_length=1)] = ""
    texts: Annotated[str, Field(min_length=2, max_length=2)] = ""
    like: Annotated[str, Field(pattern="^a$")] = "a"
    whole: Annotated[int, Field(ge=1, le=5)] = 1
    number: Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)] = 0.5
    flag: bool = True
    pair: dict[str, str] = Field(default={}, max_length=1)
    pairs: dict[str, str] = Field(default={}, max_length=2)
    item: list[str] = Field(default=[], min_length=1, max_length=1)
    items: list[str] = Field(default=[], min_length=2, max_length=2)
    one: tuple[str, ...] = Field(default=(), min_length=1, max_length=1)
    several: tuple[str, ...] = Field(default=(), min_length=2, max_length=2)
    choice: Literal["a", "b"] = "a"


_THREE = ("a", "b", "c")
_WRONG: tuple[dict[str, object], ...] = (
    {"other": 1, "text": "", "texts": "", "like": "b", "whole": "x", "number": "x", "flag": "x", "choice": "c"},
    {"needed": 1, "text": "xx", "texts": "xxx", "whole": 1.5, "number": "nan", "flag": [], "pairs": 1, "items": 1},
    {"whole": [], "number": [], "item": [], "items": [], "one": (), "several": ()},
    {"whole": 0, "number": 0, "item": [*_THREE], "items": [*_THREE], "one": _THREE, "several": _THREE},
    {"whole": 6, "number": 1, "several": 1, "pair": dict.fromkeys(_THREE, "x"), "pairs": dict.fromkeys(_THREE, "x")},
)


def _of_pydantic() -> Iterator[str]:
    for values in _WRONG:
        with pytest.raises(ValidationError) as raised:
            _Model.model_validate(values)
        yield from (error["msg"] for error in raised.value.errors())


@cache
def _really_said() -> tuple[str, ...]:
    made = (_filters(), _waits(), _tokens(), _answers(), _partners(), _documents(), _drafts(), _of_pydantic())
    return tuple(itertools.chain.from_iterable(made))


def _written(node: ast.AST) -> list[str]:
    """The texts that an expression may be, with … for what is not known before it runs."""
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=parts):
            return ["".join(chosen) for chosen in itertools.product(*map(_written, parts))]
        case ast.FormattedValue(value=ast.IfExp(body=one, orelse=other)):
            return _written(one) + _written(other)
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            return [a + b for a, b in itertools.product(_written(left), _written(right))]
    return ["…"]


@cache
def _sources() -> frozenset[str]:
    """All texts of the code, but for the pages'."""
    files = (file for folder in ("engine", "model", "net", "services") for file in (_SOURCE / folder).rglob("*.py"))
    files = itertools.chain(files, (_SOURCE / "web").glob("*.py"), [_SOURCE / "errors.py"])
    nodes = itertools.chain.from_iterable(ast.walk(ast.parse(file.read_text())) for file in files)
    return frozenset(itertools.chain.from_iterable(map(_written, nodes))) - {"…"}


@pytest.mark.parametrize("listed", reasons.texts())
def test_what_is_listed_is_said(listed: str) -> None:
    """Given a text of the list, then the code has it, or what was made below is of its form."""
    pattern = reasons.pattern_of(listed)
    # Also a sentence that is put behind another one.
    after = listed.removeprefix("%(why)s ")
    known = after in _sources() or any(pattern.fullmatch(text) for text in _sources())
    assert known or any(pattern.fullmatch(text) for text in _really_said()), "nothing says this any more"


def test_what_is_said_is_translated() -> None:
    untranslated = [text for text in _really_said() if worded(text) == text]
    assert untranslated == []


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("The applet is off.", "アプレットがオフです。"),
        (
            "The target answered 404 Not Found: there is nothing at this address. It says: Gone. Sorry",
            "送信先の応答は 404 Not Found でした（このアドレスには何もありません）。メッセージ：Gone. Sorry",
        ),
        (
            "Nothing was sent: No address was found for a.example.",
            "何も送信されませんでした：a.example のアドレスが見つかりませんでした。",
        ),
        (str(FieldError("fields.url", "must not be empty")), "fields.url: 入力してください"),
        (
            "Nothing was sent: minute: Input should be less than or equal to 59",
            "何も送信されませんでした：minute: 59以下にしてください",
        ),
        ("message: Value1 is missing: empty text was used", "message: Value1 がないため、空のテキストを使いました"),
        (
            "It is nested too deeply. Somebody else's words. It is nested too deeply.",
            "ネストが深すぎます。Somebody else's words. ネストが深すぎます。",
        ),
    ],
)
def test_texts_are_put_together(said: str, shown: str) -> None:
    assert reasons.translated(said) == shown


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The door is open",
        "<script>alert(1)</script>",
        "%(why)s",
        "100 % {{7*7}}",
        "The applet is off",
        "The filter is false: " + "x" * 100_000,
        "a. " * 300,
        "the shop that I like is closed: is not closed",
    ],
)
def test_other_words_stay(text: str) -> None:
    assert reasons.translated(text) == text


def test_english_stays() -> None:
    language.current.set("en")
    assert reasons.translated("The applet is off.") == "The applet is off."
