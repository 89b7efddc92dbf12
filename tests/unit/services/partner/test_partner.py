"""The engine's side of the service protocol, against a stand-in of a partner."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.support.checking import NOW, Checks
from tests.support.sink import Reply, Sink
from tests.unit.services.partner.stand_in import KEY, Partner, event
from whenthen.services.checking import CheckFailed, Found
from whenthen.services.documents import MAX_DOCUMENT_BYTES
from whenthen.services.partner.answers import read_events
from whenthen.services.partner.fields import EventFields


@pytest.fixture(scope="module")
def sink() -> Iterator[Sink]:
    with Sink() as running:
        yield running


@pytest.fixture
def partner(sink: Sink) -> Partner:
    sink.requests.clear()
    return Partner(sink)


def checks(partner: Partner, **fields: Any) -> Checks:
    return Checks("partner", "event", {**partner.fields, **fields}, zone="America/Los_Angeles")


def ids(found: Found) -> list[str]:
    return [item.unique for item in found.items]


def failure(partner: Partner, **fields: Any) -> CheckFailed:
    with pytest.raises(CheckFailed) as raised:
        checks(partner, **fields).check()
    assert KEY not in str(raised.value)
    return raised.value


def test_the_request_is_the_protocols(partner: Partner) -> None:
    checks(partner, trigger_fields='{"album": "Spring"}', limit=7).check()
    assert partner.asked() == {
        "trigger_identity": "trigger",
        "triggerFields": {"album": "Spring"},
        "limit": 7,
        "user": {"timezone": "America/Los_Angeles"},
    }


def test_without_a_key_no_key_is_sent(partner: Partner) -> None:
    checks(partner, service_key="").check()
    assert not {"ifttt-channel-key", "ifttt-service-key"} & partner.last().headers.keys()


def test_h02_all_events_come_oldest_first(partner: Partner) -> None:
    partner.show(event("c", at=3), event("b", at=2), event("a", at=1))
    found = checks(partner).check()
    assert ids(found) == ["a", "b", "c"]
    assert [item.occurred_at for item in found.items] == [1000, 2000, 3000]


def test_a20_an_event_that_appears_late_with_an_older_time_is_shown(partner: Partner) -> None:
    """Given no watermark, then the engine sees every event, and tells the new ones by their ids."""
    checked = checks(partner)
    partner.show(event("b", at=20), event("a", at=10))
    seen = set(ids(checked.check()))
    partner.show(event("c", at=30), event("b", at=20), event("late", at=15), event("a", at=10))
    assert [unique for unique in ids(checked.check()) if unique not in seen] == ["late", "c"]


def test_ingredients(partner: Partner) -> None:
    partner.show(event("14b9", at=1383597267, likes=12345678901234567890, price=0.1, tags=["ä", None, True]))
    (item,) = checks(partner).check().items
    assert item.ingredients["EventId"] == "14b9"
    assert item.ingredients["CreatedAt"] == "November 04, 2013 at 12:34PM"
    assert item.ingredients["EventJson"] == (
        '{"title": "t14b9", "likes": 12345678901234567890, "price": 0.1, "tags": ["ä", null, true]}'
    )


@pytest.mark.parametrize(
    ("meta", "created_at", "expected"),
    [
        ({"timestamp": 1383597267}, None, 1383597267000),
        ({"timestamp": 1383597267123}, None, 1383597267123),
        ({"timestamp": "1383597267"}, None, 1383597267000),
        ({"timestamp": 1383597267.5}, None, 1383597267500),
        ({"timestamp": None}, "2013-11-04T09:23:00-07:00", 1383582180000),
        ({}, "2013-11-04T16:23:00Z", 1383582180000),
        ({}, "2013-11-04", 1383523200000),
        ({"timestamp": "soon"}, "yesterday", NOW),
        ({"timestamp": -5}, None, NOW),
        ({"timestamp": 10**40}, None, NOW),
        ({"timestamp": True}, 7, NOW),
        ({}, None, NOW),
    ],
)
def test_times_as_real_partners_write_them(
    partner: Partner, meta: dict[str, Any], created_at: Any, expected: int
) -> None:
    partner.show({"created_at": created_at, "meta": {"id": "a", **meta}})
    (item,) = checks(partner).check().items
    assert item.occurred_at == expected
    assert datetime.fromtimestamp(expected / 1000, UTC)


def test_unsorted_answers_and_equal_times(partner: Partner) -> None:
    partner.show(event("b", at=2), event("d", at=4), event("a2", at=1), event("a1", at=1))
    assert ids(checks(partner).check()) == ["a1", "a2", "b", "d"]


def test_numbers_as_ids_and_ids_twice(partner: Partner) -> None:
    partner.show(event(7), event("7"), event(12345678901234567890), event(7))
    assert sorted(ids(checks(partner).check())) == ["12345678901234567890", "7"]


def test_random_ids_fire_nothing(partner: Partner) -> None:
    """PROTOCOLS.md B.3: given new ids on every call for the same content, then it is told and nothing is shown."""
    checked = checks(partner)
    partner.show({"title": "x", "meta": {"id": "r1"}}, {"title": "y", "meta": {"id": "r2"}})
    assert len(checked.check().items) == 2
    for number in range(3):
        partner.show(
            {"title": "x", "meta": {"id": f"q{number}"}},
            {"title": "y", "meta": {"id": f"p{number}"}},
        )
        found = checked.check()
        assert found.items == ()
        assert "makes up its ids" in found.note


def untimed(title: str, identity: str) -> dict[str, Any]:
    return {"title": title, "meta": {"id": identity}}


def test_what_is_new_among_made_up_ids_fires_once(partner: Partner) -> None:
    checked = checks(partner)
    partner.show(untimed("x", "r1"), untimed("y", "r2"))
    checked.check()
    before = checked.position
    partner.show(untimed("new", "z1"), untimed("x", "z2"))
    (item,) = checked.check().items
    assert (item.ingredients["EventId"], item.ingredients["EventJson"]) == ("z1", '{"title": "new"}')
    # From the same position, with other ids: the same event.
    again = checks(partner)
    again.position = before
    partner.show(untimed("new", "y1"), untimed("x", "y2"))
    assert ids(again.check()) == [item.unique]
    # The same answer once more, and one with ids of its own.
    partner.show(untimed("new", "z1"), untimed("x", "z2"))
    assert checked.check().items == ()
    partner.show(untimed("new", "w1"), untimed("x", "w2"))
    assert checked.check().items == ()


def test_content_that_comes_back_among_made_up_ids_is_an_event_again(partner: Partner) -> None:
    checked = checks(partner)
    uniques = []
    for number, titles in enumerate((["x", "on"], ["x", "off"], ["x", "on"], ["x", "off"], ["x", "on"])):
        partner.show(*(untimed(title, f"{title}{number}") for title in titles))
        uniques += [item.unique for item in checked.check().items if item.ingredients["EventId"] != f"x{number}"]
    assert len(set(uniques)) == 5


def test_equal_content_with_ids_that_stay_is_new(partner: Partner) -> None:
    """Given a button that is pressed twice, then the second event is one although it reads like the first."""
    checked = checks(partner)
    partner.show(untimed("pressed", "1"))
    seen = set(ids(checked.check()))
    partner.show(untimed("pressed", "2"), untimed("pressed", "1"))
    assert set(ids(checked.check())) - seen == {"2"}


def test_an_empty_answer_between_two_tells_nothing(partner: Partner) -> None:
    checked = checks(partner)
    partner.show(untimed("x", "r1"))
    checked.check()
    before = checked.position
    partner.show()
    assert checked.check().items == ()
    assert checked.position == before
    partner.show(untimed("x", "r2"))
    assert checked.check().items == ()


def test_an_answer_without_news_leaves_the_position(partner: Partner) -> None:
    checked = checks(partner)
    partner.show(event("b", at=2), event("a", at=1))
    checked.check()
    before = checked.position
    partner.show(event("a", at=1), event("b", at=2))
    checked.check()
    assert checked.position == before


def test_h01_the_check_carries_the_identity_that_a_notification_names(partner: Partner) -> None:
    """Given a check that a notification has caused, then it asks with the same identity and finds the new event."""
    checked = checks(partner)
    partner.show(event("a", at=1))
    checked.check(NOW)
    first = partner.asked()
    partner.show(event("b", at=2), event("a", at=1))
    assert ids(checked.check(NOW + 1)) == ["a", "b"]
    assert partner.asked()["trigger_identity"] == first["trigger_identity"] == "trigger"
    assert len({request.headers["x-request-id"] for request in partner.sink.requests}) == 2


def test_a_partner_that_gives_more_than_it_was_asked_for(partner: Partner) -> None:
    partner.show(*(event(number, at=100 + number) for number in range(9)))
    assert ids(checks(partner, limit=3).check()) == ["6", "7", "8"]


def test_a_full_answer_of_new_events_is_told(partner: Partner) -> None:
    checked = checks(partner, limit=2)
    partner.show(event("b"), event("a"))
    assert checked.check().note == ""
    partner.show(event("d"), event("c"))
    found = checked.check()
    assert sorted(ids(found)) == ["c", "d"]
    assert "lost" in found.note
    partner.show(event("e"), event("d"))
    assert checked.check().note == ""


def test_trigger_fields_keep_their_digits(partner: Partner) -> None:
    checks(partner, trigger_fields='{"id": 12345678901234567890, "price": 0.10, "name": "ä"}').check()
    assert b'"triggerFields":{"id": 12345678901234567890, "price": 0.10, "name": "\xc3\xa4"}' in partner.last().body
    assert partner.asked()["triggerFields"]["name"] == "ä"


@pytest.mark.parametrize(("status", "words"), [(301, "has moved for good"), (302, "leads to another one")])
def test_an_address_that_leads_elsewhere_is_told(partner: Partner, status: int, words: str) -> None:
    """A redirect turns the question into one for a page (RFC 9110, 15.4.2), which ends in a riddle."""
    partner.sink.reply("/elsewhere", [Reply(status=404)])
    partner.reply(Reply(status=status, headers=(("Location", "/elsewhere"),)))
    assert words in str(failure(partner))


def test_messages_are_bounded_and_in_one_line(partner: Partner) -> None:
    errors = [{"message": "a\nb\u202e\u0000c " + "x" * 5000}, {"message": "second"}]
    partner.reply(Reply(status=500, body=json.dumps({"errors": errors}).encode()))
    text = str(failure(partner))
    assert len(text) < 400
    assert text.startswith("The partner answered 500: a bc xxx")


@pytest.mark.parametrize(
    "entry", [None, 5, "x", [], {}, {"meta": 5}, {"meta": {}}, {"meta": {"id": None}}, {"meta": {"id": " "}}]
)
def test_entries_that_are_no_events_are_left_out(partner: Partner, entry: Any) -> None:
    partner.show(entry, event("a"))
    found = checks(partner).check()
    assert ids(found) == ["a"]
    assert "1 entries" in found.note
    partner.show(entry)
    assert failure(partner).field == "trigger"


@pytest.mark.parametrize(
    ("reply", "field", "said"),
    [
        (Reply(status=401), "service_key", "refused"),
        (Reply(status=400, body=b'{"errors":[{"message":"no album"}]}'), "trigger_fields", "400: no album"),
        (Reply(status=404), "trigger", "answered 404"),
        (Reply(status=503), "url", "answered 503"),
        (Reply(status=500, body=b'{"errors":"x"}'), "url", "answered 500"),
        (Reply(status=500, body=b'{"errors":[{"message":7}]}'), "url", "answered 500"),
        (Reply(status=500, body=f'{{"errors":[{{"message":"bad key {KEY}"}}]}}'.encode()), "url", "•••"),
        (Reply(status=204), "url", "answered 204"),
        (Reply(body=b""), "url", "not JSON"),
        (Reply(body=b"<html>"), "url", "not JSON"),
        (Reply(body=b"\xff\xfe"), "url", "not JSON"),
        (Reply(body=b"[" * 100_000), "url", "not JSON"),
        (Reply(body=b"[]"), "url", "no list of events"),
        (Reply(body=b'{"data": {}}'), "url", "no list of events"),
        (Reply(body=b'{"data": ' + b" " * MAX_DOCUMENT_BYTES + b"[]}"), "url", "too long"),
        (Reply(close=True), "url", "could not be asked"),
        (Reply(status=302, headers=(("Location", "http://169.254.169.254/"),)), "url", "could not be asked"),
    ],
)
def test_answers_that_are_failures(partner: Partner, reply: Reply, field: str, said: str) -> None:
    partner.reply(reply)
    error = failure(partner)
    assert (error.field, said in str(error)) == (field, True), error


def test_retry_after(partner: Partner) -> None:
    partner.reply(Reply(status=429, headers=(("Retry-After", "7"),)))
    assert failure(partner).retry_at == NOW + 7000
    partner.reply(Reply(status=503, headers=(("Retry-After", "9999999"),)))
    assert failure(partner).retry_at == NOW + 24 * 3600 * 1000


def test_a_failure_leaves_the_position(partner: Partner) -> None:
    checked = checks(partner)
    partner.show(event("a"))
    checked.check()
    before = checked.position
    partner.reply(Reply(status=500))
    with pytest.raises(CheckFailed):
        checked.check()
    assert checked.position == before


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("url", "api.example.org"),
        ("url", "ftp://example.org"),
        ("url", "https://user:pw@example.org"),
        ("url", "https://example.org/?a=1"),
        ("trigger", "a/b"),
        ("trigger", ""),
        ("service_key", "schlüssel"),
        ("service_key", "a\r\nX-Evil: 1"),
        ("trigger_fields", "[]"),
        ("trigger_fields", "{"),
        ("trigger_fields", '{"a":' * 10_000),
        ("limit", 0),
        ("limit", 51),
        ("zone", "Nowhere"),
    ],
)
def test_fields_that_are_none(field: str, value: Any) -> None:
    good = {"url": "https://example.org", "trigger": "t"}
    with pytest.raises(ValidationError) as refused:
        EventFields.model_validate({**good, field: value})
    assert refused.value.errors()[0]["loc"][0] == field


@pytest.mark.parametrize(
    "url", ["https://example.org/", "https://example.org/ifttt/v1", "https://example.org/ifttt/v1/"]
)
def test_the_prefix_is_taken_however_it_ends(url: str) -> None:
    assert EventFields.model_validate({"url": url, "trigger": "t"}).url == "https://example.org"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["data", "meta", "id", "x"]), inner),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(JSON | JSON.map(lambda value: {"data": [value, {"meta": value}, {"meta": {"id": "a", "timestamp": value}}]}))
def test_any_answer_is_read_or_refused(document: Any) -> None:
    try:
        events, _ = read_events(json.dumps(document).encode(), NOW)
    except CheckFailed:
        return
    assert all(json.loads(found.content) is not None for found in events)
