"""What every service promises. A service brings its samples; see `tests.support.samples`."""

import json
import re
import socket
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from tests.support.checking import NOW, Checks
from tests.support.samples import Sample, parts, samples, serve
from tests.support.sink import Reply, Sink
from whenthen.clock import to_datetime
from whenthen.model.encoding import Encoding
from whenthen.net import Answer
from whenthen.services import connecting
from whenthen.services.checking import CheckFailed, Found, PolledFields
from whenthen.services.contract import Action, Fields, Query, Service, Trigger
from whenthen.services.documents import MAX_DOCUMENT_BYTES
from whenthen.services.registry import SERVICES, find_action, find_query, find_trigger
from whenthen.services.work import AddRow, Collect, Meaning, Notify, Reading, Send, Steps, Task

SLUG = re.compile(r"[a-z][a-z0-9_]{0,63}")
INGREDIENT = re.compile(r"[A-Z][A-Za-z0-9]*")
MAX_POSITION_BYTES = 16 * 1024

PARTS = parts()
services = pytest.mark.parametrize("service", SERVICES.values(), ids=lambda item: item.slug)
every_part = pytest.mark.parametrize(
    ("service", "part", "sample"), PARTS, ids=[f"{service.slug}.{part.slug}" for service, part, _ in PARTS]
)
CHECKED = [item for item in PARTS if isinstance(item[1], Trigger) and item[1].check is not None]
every_checked = pytest.mark.parametrize(
    ("service", "trigger", "sample"), CHECKED, ids=[f"{service.slug}.{trigger.slug}" for service, trigger, _ in CHECKED]
)
ACTIONS = [item for item in PARTS if isinstance(item[1], Action)]
every_action = pytest.mark.parametrize(
    ("service", "action", "sample"), ACTIONS, ids=[f"{service.slug}.{action.slug}" for service, action, _ in ACTIONS]
)

HOSTILE = {
    "not found": Reply(status=404, body=b"<h1>Not found</h1>"),
    "server error": Reply(status=500),
    "too many": Reply(status=429, headers=(("Retry-After", "Thu, 99 Foo 2026"),)),
    "unasked not modified": Reply(status=304),
    "empty": Reply(body=b""),
    "spaces": Reply(body=b" \n\t " * 100),
    "zeros": Reply(body=b"\x00" * 1000),
    "random": Reply(body=bytes(range(256)) * 20),
    "html": Reply(body=b"<!doctype html><title>Log in</title><form>", headers=(("Content-Type", "text/html"),)),
    "json null": Reply(body=b"null"),
    "json list": Reply(body=b"[]"),
    "json object": Reply(body=b"{}"),
    "json text": Reply(body=b'"text"'),
    "json NaN": Reply(body=b'{"a": NaN, "data": [NaN], "current": NaN}'),
    "deep json": Reply(body=b"[" * 50_000),
    "deep xml": Reply(body=b"<a>" * 50_000),
    "laughs": Reply(
        body=b'<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">'
        b'<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]><rss><channel><title>&c;</title></channel></rss>'
    ),
    "half": Reply(body=b'{"data": [{"meta": {"id": "a'),
    "gzip that is none": Reply(body=b"plain", headers=(("Content-Encoding", "gzip"),)),
    "wrong charset": Reply(body=b"\xff\xfe<\x00a", headers=(("Content-Type", "application/json; charset=klingon"),)),
    "huge": Reply(body=b"[" + b" " * MAX_DOCUMENT_BYTES + b"]"),
    "no answer": Reply(close=True),
    "loop": Reply(status=301, headers=(("Location", "/loop"),)),
    "file": Reply(status=302, headers=(("Location", "file:///etc/passwd"),)),
}


@pytest.fixture(scope="module")
def sink() -> Iterator[Sink]:
    with Sink() as running:
        running.reply("/loop", [HOSTILE["loop"]])
        yield running


def checks_of(service: Service, trigger: Trigger, sample: Sample, sink: Sink) -> Checks:
    """Checks of a trigger whose source is the sink, which shows what it shows at first."""
    serve(sink, sample.before)
    return new_checks(service, trigger, sample, sink)


def new_checks(service: Service, trigger: Trigger, sample: Sample, sink: Sink) -> Checks:
    """Checks of a trigger, whatever the sink shows."""
    fields = sample.fields_at(sink.url)
    return Checks(service.slug, trigger.slug, fields, zone="Europe/Paris", service_url=sink.url, owned=sample.owned)


def uniques(found: Found) -> set[str]:
    return {item.unique for item in found.items}


def outcome(checks: Checks, now: int) -> Found | CheckFailed:
    """What a check finds, or why it failed."""
    try:
        return checks.check(now)
    except CheckFailed as error:
        return error


def is_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True


@services
def test_slugs_and_names(service: Service) -> None:
    assert SERVICES[service.slug] is service
    assert service.name
    for items in (service.triggers, service.actions, service.queries):
        slugs = [item.slug for item in items]
        assert len(slugs) == len(set(slugs))
        assert all(SLUG.fullmatch(slug) for slug in [service.slug, *slugs])
    for item in (*service.triggers, *service.actions, *service.queries):
        assert item.name
        assert item.description.endswith(".")
    assert samples(service).keys() == {item.slug for item in (*service.triggers, *service.actions, *service.queries)}


@every_part
def test_fields_are_strict_and_have_a_schema(
    service: Service, part: Trigger | Action[Any] | Query[Any], sample: Sample
) -> None:
    values = sample.fields_at("https://example.org")
    schema = part.fields.model_json_schema()
    assert schema["additionalProperties"] is False
    assert all(member.get("title") for member in schema["properties"].values())
    fields = part.fields.model_validate(values, context={"zone": "Europe/Paris"})
    stored = fields.model_dump(mode="json")
    assert stored.items() >= values.items()
    # Once more: what is stored is what was validated, whatever the owner's zone is by then.
    assert part.fields.model_validate(stored, context={"zone": "Asia/Tokyo"}) == fields
    assert part.fields.model_validate_json(json.dumps(stored)) == fields
    with pytest.raises(ValidationError):
        part.fields.model_validate({**values, "surprise": 1})
    for name, value in values.items():
        if isinstance(value, str):
            with pytest.raises(ValidationError):
                part.fields.model_validate({**values, name: f"{value}\x00"})


@every_part
def test_fields_left_out_or_of_another_kind_are_named(
    service: Service, part: Trigger | Action[Any] | Query[Any], sample: Sample
) -> None:
    values = sample.fields_at("https://example.org")
    for name, info in part.fields.model_fields.items():
        for bad in (None, [[]], {"a": 1}):
            with pytest.raises(ValidationError) as refused:
                part.fields.model_validate({**values, name: bad})
            assert name in {error["loc"][0] for error in refused.value.errors()}
        if info.is_required():
            with pytest.raises(ValidationError) as refused:
                part.fields.model_validate({key: value for key, value in values.items() if key != name})
            assert refused.value.errors()[0]["loc"] == (name,)


@services
def test_ingredients_have_samples(service: Service) -> None:
    for trigger in (*service.triggers, *service.queries):
        slugs = [ingredient.slug for ingredient in trigger.ingredients]
        assert len(slugs) == len(set(slugs)) > 0
        for ingredient in trigger.ingredients:
            assert INGREDIENT.fullmatch(ingredient.slug)
            assert ingredient.name
            assert ingredient.sample


@services
def test_the_registry_finds_them(service: Service) -> None:
    for trigger in service.triggers:
        assert find_trigger(service.slug, trigger.slug) is trigger
        assert find_action(service.slug, trigger.slug) is None
    for action in service.actions:
        assert find_action(service.slug, action.slug) is action
    for query in service.queries:
        assert find_query(service.slug, query.slug) is query
    assert find_trigger(service.slug, "nothing") is None
    assert find_query(service.slug, "nothing") is find_query("nothing", "nothing") is None
    assert find_action("nothing", "nothing") is None


@every_checked
def test_a_checked_trigger_says_how_often_it_is_asked(service: Service, trigger: Trigger, sample: Sample) -> None:
    """A trigger that asks a URL of its fields names it, so that the URL's host can be left alone."""
    fields = trigger.fields.model_validate(sample.fields_at("https://example.org"))
    if isinstance(fields, PolledFields):
        assert 1 <= fields.interval_minutes <= 1440
        urls = [value for value in sample.fields.values() if isinstance(value, str) and "{url}" in value]
        assert bool(fields.source()) == bool(urls)
    assert not (trigger.offline and isinstance(fields, PolledFields))


@every_checked
def test_a_check_finds_what_is_new_and_nothing_twice(
    service: Service, trigger: Trigger, sample: Sample, sink: Sink
) -> None:
    checks = checks_of(service, trigger, sample, sink)
    seen = uniques(checks.check(NOW))
    first = checks.position
    assert first is not None
    # Unchanged: nothing new, and nothing to write.
    found = checks.check(NOW)
    assert uniques(found) <= seen
    assert checks.position == first
    serve(sink, sample.after)
    found = checks.check(NOW + sample.later)
    new = [item for item in found.items if item.unique not in seen]
    assert new, "the sample's answers hold something new"
    declared = {ingredient.slug for ingredient in trigger.ingredients}
    for item in found.items:
        assert item.ingredients.keys() == declared
        assert all(isinstance(value, str) for value in item.ingredients.values())
        assert item.unique
        assert to_datetime(item.occurred_at)
    seen |= uniques(found)
    # Once more, and from the same position in another process: the same events.
    again = new_checks(service, trigger, sample, sink)
    again.position = json.loads(json.dumps(first))
    assert {item.unique for item in again.check(NOW + sample.later).items} >= {item.unique for item in new}
    assert uniques(checks.check(NOW + sample.later)) <= seen


@every_checked
def test_a_position_is_small_plain_json(service: Service, trigger: Trigger, sample: Sample, sink: Sink) -> None:
    checks = checks_of(service, trigger, sample, sink)
    for now in (NOW, NOW + sample.later):
        found = checks.check(now)
        text = json.dumps(found.position, allow_nan=False)
        assert json.loads(text) == found.position
        assert len(text) < MAX_POSITION_BYTES
        serve(sink, sample.after)


@every_checked
def test_a_clock_that_is_turned_back_does_no_harm(
    service: Service, trigger: Trigger, sample: Sample, sink: Sink
) -> None:
    checks = checks_of(service, trigger, sample, sink)
    seen = uniques(checks.check(NOW))
    for back in (1, 3_600_000, 400 * 24 * 3_600_000):
        found = outcome(checks, NOW - back)
        assert isinstance(found, CheckFailed) or uniques(found) <= seen
    assert uniques(checks.check(NOW)) <= seen


@every_checked
def test_what_the_first_check_shows_is_not_news(service: Service, trigger: Trigger, sample: Sample, sink: Sink) -> None:
    """R3: nothing of before somebody listened may come out of a later check as new."""
    checks = checks_of(service, trigger, sample, sink)
    serve(sink, sample.after)
    seen = uniques(checks.check(NOW + sample.later))
    assert uniques(checks.check(NOW + sample.later)) <= seen


@every_checked
@pytest.mark.parametrize("reply", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_answer_is_a_failure_in_words_and_forgets_nothing(
    service: Service, trigger: Trigger, sample: Sample, sink: Sink, reply: Reply
) -> None:
    """Given any answer, then a check finds something or fails with words, and the next one goes on from before."""
    checks = checks_of(service, trigger, sample, sink)
    seen = uniques(checks.check(NOW))
    serve(sink, dict.fromkeys(sample.before, reply))
    for fresh in (False, True):
        tried = checks_of(service, trigger, Sample(sample.fields), sink)
        tried.position = None if fresh else checks.position
        found = outcome(tried, NOW + sample.later)
        if isinstance(found, CheckFailed):
            assert len(str(found)) > 10
            assert found.field in ("", *trigger.fields.model_fields)
            continue
        if not trigger.offline and not (sample.takes_any_json and is_json(reply.body)):
            assert uniques(found) <= seen, "what is no answer of the source holds no news"
            seen |= uniques(found)
        if not fresh:
            checks.position = found.position
    serve(sink, sample.before)
    if not trigger.offline and not sample.takes_any_json:
        assert uniques(checks.check(NOW)) <= seen


@every_checked
def test_an_offline_check_asks_nobody(
    service: Service, trigger: Trigger, sample: Sample, sink: Sink, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = checks_of(service, trigger, sample, sink)
    before = len(sink.requests)
    checks.check(NOW)
    checks.check(NOW + sample.later)
    assert (len(sink.requests) == before) == trigger.offline


@every_action
def test_encodings_name_fields(service: Service, action: Action[Any], sample: Sample) -> None:
    fields = action.fields.model_validate(dict(sample.fields))
    assert set(fields.encodings()) <= set(action.fields.model_fields)
    assert all(isinstance(encoding, Encoding) for encoding in fields.encodings().values())


@every_action
def test_preparing_does_nothing(
    service: Service, action: Action[Any], sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("no input or output while preparing")

    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)
    monkeypatch.setattr("builtins.open", refuse)
    account = sample.account_of(action)
    fields: Fields = action.fields.model_validate(dict(sample.fields))
    task = Task(fields, "key", account=account, occurred_at=NOW)
    first, second = action.prepare(task), action.prepare(task)
    assert isinstance(first, Send | Steps | Notify | AddRow | Collect)
    assert repr(first).partition("<function")[0] == repr(second).partition("<function")[0]
    if isinstance(first, Send | Steps):
        assert isinstance(second, Send | Steps)
        assert first.request == second.request


def hostile_answers() -> Iterator[Answer]:
    """What may come instead of what a target answers."""
    for reply in HOSTILE.values():
        headers = {name.lower(): value for name, value in reply.headers}
        yield Answer(reply.status, headers, reply.body, "https://example.org/")


@every_action
def test_any_answer_to_an_action_is_read(service: Service, action: Action[Any], sample: Sample) -> None:
    fields: Fields = action.fields.model_validate(sample.fields_at("https://example.org"))
    work = action.prepare(Task(fields, "key", account=sample.account_of(action), occurred_at=NOW))
    for answer in hostile_answers() if isinstance(work, Send) else ():
        assert isinstance(work, Send)
        reading = work.read(answer)
        assert (reading.meaning is Meaning.SUCCEEDED) <= (200 <= answer.status < 300)
        assert reading.meaning is Meaning.SUCCEEDED or len(reading.reason) > 10
        assert "\x00" not in reading.reason
        assert 0 <= reading.retry_after_seconds < 1e9


@every_action
def test_any_answer_to_the_test_of_a_connection_is_read(service: Service, action: Action[Any], sample: Sample) -> None:
    account = sample.account_of(action)
    connection = SERVICES[action.connects].connection if account else None
    test = connection.test(account) if connection else None
    for answer in hostile_answers() if isinstance(test, connecting.Test) else ():
        assert isinstance(test, connecting.Test)
        found = test.read(answer)
        assert found
        assert not isinstance(found, Reading) or len(found.reason) > 10


def test_every_trigger_is_sampled() -> None:
    assert len(CHECKED) == sum(trigger.check is not None for s in SERVICES.values() for trigger in s.triggers) > 20
    sampled: Mapping[str, Service] = {service.slug: service for service, _, _ in PARTS}
    assert sampled.keys() == SERVICES.keys()


@every_checked
@pytest.mark.parametrize("status", [404, 408, 425, 429, 500, 502, 503, 504])
def test_an_answer_that_may_pass_is_told_as_such(
    service: Service, trigger: Trigger, sample: Sample, sink: Sink, status: int
) -> None:
    """A source that is down when an applet is made is no mistake of its owner's."""
    checks = checks_of(service, trigger, sample, sink)
    serve(sink, dict.fromkeys(sample.before, Reply(status=status)))
    found = outcome(checks, NOW)
    if isinstance(found, CheckFailed):
        assert found.temporary == (status != 404)
    else:
        assert not found.items, "nothing is read at the first check of a schedule"
