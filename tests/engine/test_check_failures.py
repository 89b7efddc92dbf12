"""Sources that can't be read: told when an applet is made, tried again for ever after that."""

from datetime import datetime, timedelta
from email.utils import format_datetime

import pytest
import time_machine

from tests.support.embedded import START, Json, notification
from tests.support.listing import Listing
from tests.support.processes import free_port
from tests.support.sink import Reply, Sink
from whenthen.clock import Deadline
from whenthen.engine import reservation
from whenthen.engine.orders import Order
from whenthen.services.registry import SERVICES
from whenthen.store.errors import ScriptTooLong, Unreachable

DOWN = Reply(status=500)
GONE = Reply(status=404)


def later(clock: time_machine.Traveller, minutes: float) -> None:
    clock.shift(timedelta(minutes=minutes))


def create(listing: Listing, **fields: object) -> Json:
    answer = listing.house.call(
        "POST", "/applets", {"name": "x", "trigger": listing.trigger(**fields), "actions": [notification("x")]}
    )
    assert answer.status_code == 422, answer.text
    error: Json = answer.json()["errors"][0]
    return error


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(status=404), "answered 404"),
        (Reply(status=204), "answered 204"),
        (Reply(body=b"<html>"), "This is no list."),
        (Reply(status=302, headers=(("Location", "ftp://example.org/"),)), "redirect"),
        (Reply(status=302, headers=(("Location", "http://169.254.169.254/"),)), "redirect"),
        (Reply(body=b"[" + b" " * 4 * 1024 * 1024 + b"]"), "larger than 4 MiB"),
    ],
    ids=["gone", "no content", "html", "ftp", "metadata", "huge"],
)
def test_a36_a_source_that_cant_be_read_is_told_at_its_field(listing: Listing, reply: Reply, said: str) -> None:
    listing.reply(reply)
    error = create(listing)
    assert error["field"] == "trigger.fields.url"
    assert said in error["message"]
    assert listing.house.call("GET", "/applets").json()["items"] == []
    assert listing.fetches == 1


@pytest.mark.parametrize("reply", [DOWN, Reply(close=True), Reply(status=429)], ids=["500", "no answer", "429"])
def test_a_source_that_is_out_of_order_is_no_reason_to_refuse(
    listing: Listing, clock: time_machine.Traveller, reply: Reply
) -> None:
    """Given a source that is down when the applet is made, then its first answer is the beginning."""
    listing.reply(reply)
    applet = listing.make()
    assert (applet["check"]["state"], applet["check"]["failures"]) == ("failing", 1)
    assert applet["check"]["message"].startswith("The source")
    listing.show("before the first answer")
    later(clock, 4)
    assert listing.house.check() == []
    later(clock, 1)
    listing.house.check()
    assert listing.house.messages() == []
    listing.show("after", "before the first answer")
    later(clock, 5)
    listing.house.check()
    assert listing.house.messages() == ["List: after"]


def test_a_source_nobody_serves(listing: Listing) -> None:
    listing.url = f"http://127.0.0.1:{free_port()}/"
    assert "No connection" in listing.make()["check"]["message"]
    listing.url = "http://10.1.2.3/"
    assert "not on the public internet" in create(listing)["message"]


def test_an_applet_that_is_off_is_validated_too(listing: Listing, clock: time_machine.Traveller) -> None:
    listing.reply(GONE)
    answer = listing.house.call(
        "POST",
        "/applets",
        {"name": "x", "enabled": False, "trigger": listing.trigger(), "actions": [notification("x")]},
    )
    assert answer.status_code == 422
    listing.show("a")
    applet = listing.make(enabled=False)
    assert applet["check"]["state"] == "off"
    later(clock, 10)
    assert listing.house.check() == []


def test_a_bug_in_a_service_is_a_failure_like_any_other(listing: Listing, clock: time_machine.Traveller) -> None:
    applet = listing.make()
    other = Listing(listing.house, listing.sink, "/other")
    other.make(name="other")
    listing.reply(Reply(body=b'"bug"'))
    other.show("a")
    later(clock, 5)
    listing.house.check()
    assert listing.house.messages() == ["other: a"]
    assert "reason of its own" in listing.checked(applet)["message"]


def test_b03_failures_are_tried_again_with_longer_waits(listing: Listing, clock: time_machine.Traveller) -> None:
    """Given 500, 500, 500, 200, then the waits double and what is new by then fires."""
    applet = listing.make()
    listing.reply(DOWN)
    waits = []
    before = listing.fetches
    for _ in range(194):
        later(clock, 1)
        listing.house.check()
        if listing.fetches > before:
            before = listing.fetches
            check = listing.checked(applet)
            assert (check["state"], check["failures"]) == ("failing", len(waits) + 1)
            assert check["message"] == "The source answered 500."
            at = datetime.fromisoformat(check["next_check_at"]) - datetime.fromisoformat(check["last_checked_at"])
            waits.append(round(at.total_seconds() / 60))
    assert waits == [5, 10, 20, 40, 60, 60]
    listing.show("a")
    later(clock, 60)
    listing.house.check()
    assert listing.house.messages() == ["List: a"]
    assert (listing.checked(applet)["state"], listing.checked(applet)["failures"]) == ("ok", 0)


def test_a_long_interval_is_no_shorter_after_a_failure(listing: Listing, clock: time_machine.Traveller) -> None:
    listing.make(fields={"interval_minutes": 180})
    listing.reply(DOWN)
    before = listing.fetches
    for _ in range(3):
        later(clock, 180)
        listing.house.check()
    assert listing.fetches == before + 3


@pytest.mark.parametrize("form", ["seconds", "date"])
@pytest.mark.parametrize("status", [429, 503])
def test_b06_retry_after_holds_the_whole_host(
    listing: Listing, clock: time_machine.Traveller, form: str, status: int
) -> None:
    first = listing.make()
    second = Listing(listing.house, listing.sink, "/second")
    later(clock, 1)
    second.make(name="second")
    until = START + timedelta(minutes=60)
    value = format_datetime(until) if form == "date" else "3300"
    listing.reply(Reply(status=status, headers=(("Retry-After", value),)))
    later(clock, 4)
    listing.house.check()
    assert "answered" in listing.checked(first)["message"]
    before = len(listing.sink.requests)
    listing.show("a")
    second.show("b")
    for _ in range(53):
        later(clock, 1)
        listing.house.check()
    assert len(listing.sink.requests) == before
    later(clock, 5)
    listing.house.check()
    assert sorted(listing.house.messages()) == ["List: a", "second: b"]


def test_b06_a_retry_after_is_capped(listing: Listing, clock: time_machine.Traveller) -> None:
    applet = listing.make()
    listing.reply(Reply(status=429, headers=(("Retry-After", "99999999"),)))
    later(clock, 5)
    listing.house.check()
    assert datetime.fromisoformat(listing.checked(applet)["next_check_at"]) <= START + timedelta(days=1, minutes=6)


def test_turning_on_while_the_source_is_down(listing: Listing, clock: time_machine.Traveller) -> None:
    """Given that the applet worked before, then it may be turned on, and the first answer is the beginning."""
    applet = listing.make()
    path = f"/applets/{applet['id']}"
    listing.house.call("PATCH", path, {"enabled": False})
    listing.reply(DOWN)
    assert listing.house.call("PATCH", path, {"enabled": True}).status_code == 200
    assert listing.checked(applet)["state"] == "failing"
    listing.show("before the first answer")
    later(clock, 5)
    listing.house.check()
    assert listing.house.messages() == []
    listing.show("after", "before the first answer")
    later(clock, 5)
    listing.house.check()
    assert listing.house.messages() == ["List: after"]


def test_an_edited_trigger_must_work(listing: Listing) -> None:
    applet = listing.make()
    other = Listing(listing.house, listing.sink, "/other")
    other.reply(GONE)
    answer = listing.house.call("PATCH", f"/applets/{applet['id']}", {"trigger": other.trigger()})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "trigger.fields.url")
    assert listing.house.call("GET", f"/applets/{applet['id']}").json()["trigger"]["fields"]["url"] == listing.url


def test_what_could_not_be_stored_is_found_again(listing: Listing, clock: time_machine.Traveller) -> None:
    """R4: given a database that goes away between fetch and commit, then nothing is lost and nothing fires twice."""
    listing.make()
    listing.show("a")
    house = listing.house
    later(clock, 5)
    house.tick()
    send = house.runtime.checks._checker.sources._client.send

    def send_and_cut(*arguments: object, **options: object) -> object:
        answer = send(*arguments, **options)  # type: ignore[arg-type]
        house.database.error = Unreachable()
        return answer

    house.runtime.checks._checker.sources._client.send = send_and_cut  # type: ignore[method-assign, assignment]
    (order,) = house.orders.receive(wait_seconds=0)
    (report,) = house.runtime.checks.run([Order.read(order.body)], Deadline(0.5))
    assert "nothing was sent" in report.failure
    house.orders.delete(order)
    house.database.error = None
    house.runtime.checks._checker.sources._client.send = send  # type: ignore[method-assign]
    later(clock, 4)
    assert house.check() == []  # the claim still holds
    later(clock, 1)
    house.check()
    later(clock, 5)
    house.check()
    assert house.messages() == ["List: a"]


def test_hostile_texts_are_stored_as_well_as_they_can_be(listing: Listing, clock: time_machine.Traveller) -> None:
    listing.make()
    listing.show("nul\x00", "\ud800lone", "x" * 400_000, '"; DROP TABLE checks; --', "{{Name}}")
    later(clock, 5)
    assert [report.fired for report in listing.house.check()] == [5]
    messages = listing.house.messages()
    assert {"List: nul", "List: ?lone", 'List: "; DROP TABLE checks; --', "List: {{Name}}"} <= set(messages)
    (cut,) = [item for item in listing.house.activity() if item["state"] == "failed"]
    assert 20_000 < len(listing.house.execution(cut["execution_id"])["ingredients"]["Name"]) < 128 * 1024


def test_b06_a_host_is_held_as_long_as_it_asked_and_no_longer(listing: Listing, clock: time_machine.Traveller) -> None:
    """Given a slow trigger that is told to wait 5 seconds, then its own day does not hold the quick one back."""
    slow = listing.make(name="slow", fields={"interval_minutes": 1440})
    quick = Listing(listing.house, listing.sink, "/quick")
    quick.make(name="quick")
    listing.reply(Reply(status=429, headers=(("Retry-After", "5"),)))
    later(clock, 1)
    listing.house.call("POST", f"/applets/{slow['id']}/check")
    quick.show("a")
    later(clock, 5)
    listing.house.check()
    assert listing.house.messages() == ["quick: a"]


def test_b06_the_host_that_answered_is_held_and_no_other(listing: Listing, clock: time_machine.Traveller) -> None:
    """Given a redirect to a host that wants to be left alone, then the one that redirects is not held."""
    with Sink() as elsewhere:
        target = elsewhere.url.replace("127.0.0.1", "localhost") + "/busy"
        elsewhere.reply("/busy", [Reply(status=429, headers=(("Retry-After", "86400"),))])
        redirecting = Listing(listing.house, listing.sink, "/redirecting")
        redirecting.reply(Reply(status=302, headers=(("Location", target),)))
        redirecting.make(name="redirecting")
        listing.make()
        listing.show("a")
        later(clock, 5)
        listing.house.check()
        assert listing.house.messages() == ["List: a"]


def test_what_can_never_be_stored_is_told(
    listing: Listing, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    applet = listing.make()
    listing.show("a")
    later(clock, 5)

    def refuse(*_: object, **__: object) -> None:
        raise ScriptTooLong

    with monkeypatch.context() as patch:
        patch.setattr(reservation, "reserve_events", refuse)
        listing.house.check()
    checked = listing.checked(applet)
    assert (checked["state"], checked["failures"]) == ("failing", 1)
    assert "can't be stored" in checked["message"]
    later(clock, 5)
    listing.house.check()
    assert listing.house.messages() == ["List: a"]


def test_many_large_items_for_many_applets_fit(listing: Listing, clock: time_machine.Traveller) -> None:
    """Each character takes 12 in the request, and each applet has a copy of what is short."""
    for name in ("one", "two", "three"):
        listing.make(name=name)
    listing.show(*[f"{number}" + "\U0001f6aa" * 1000 for number in range(40)], *[f"n{n}" for n in range(9000)][::-1])
    fired = 0
    for _ in range(2):
        later(clock, 5)
        fired += sum(report.fired for report in listing.house.check())
    assert fired == 100
    assert all(
        not item["failures"]
        for item in [listing.checked(a) for a in listing.house.call("GET", "/applets").json()["items"]]
    )


def test_checks_that_never_end_look_overdue(listing: Listing, clock: time_machine.Traveller) -> None:
    """A25: given a poller that dies over every order, then the claims do not hide it."""
    applet = listing.make()
    for _ in range(4):
        later(clock, 5)
        listing.house.tick()
        while received := listing.house.orders.receive(wait_seconds=0):
            for item in received:
                listing.house.orders.delete(item)
    assert listing.checked(applet)["state"] == "overdue"


@pytest.mark.parametrize("fields", ['{"url": 5}', '{"url": "x", "surprise": "TOP-SECRET"}', "{}", "no JSON"])
def test_fields_that_are_no_longer_valid(
    listing: Listing, clock: time_machine.Traveller, caplog: pytest.LogCaptureFixture, fields: str
) -> None:
    """Given a service that has become stricter, then it is told, others go on, and the applet can be turned off."""
    applet = listing.make()
    other = Listing(listing.house, listing.sink, "/other")
    other.make(name="other")
    other.show("a")
    listing.house.table(
        f"UPDATE triggers SET fields = '{fields}' WHERE trigger_id = "
        f"(SELECT trigger_id FROM applets WHERE applet_id = '{applet['id']}')"
    )
    later(clock, 5)
    listing.house.check()
    assert listing.house.messages() == ["other: a"]
    checked = listing.checked(applet)
    assert (checked["state"], checked["failures"]) == ("failing", 1)
    assert "not valid any more" in checked["message"]
    assert "TOP-SECRET" not in caplog.text
    assert listing.house.call("PATCH", f"/applets/{applet['id']}", {"enabled": False}).status_code == 200
    assert listing.checked(applet)["state"] == "off"


def test_an_applet_whose_service_is_gone_can_be_turned_off(
    listing: Listing, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    applet = listing.make()
    monkeypatch.delitem(SERVICES, "listing")
    later(clock, 5)
    listing.house.check()
    assert "can be checked" in listing.checked(applet)["message"]
    path = f"/applets/{applet['id']}"
    assert listing.house.call("PATCH", path, {"enabled": False}).status_code == 200
    assert listing.house.call("DELETE", path).status_code == 204
