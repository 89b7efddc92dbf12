"""Phones report where they are, and places are entered and left."""

from typing import Any

import pytest
import time_machine

from tests.support.embedded import House, Json, notification
from tests.support.stores import at_once
from whenthen.clock import now_ms
from whenthen.engine import phones
from whenthen.engine.erasure import erase_owners, request_erasure
from whenthen.store.errors import NotReady, Unreachable

HOME = (48.8584, 2.2945)
TOWN = (48.87, 2.33)
INVALID_KEY = {"errors": [{"message": "You sent an invalid key."}]}


def location(place: tuple[float, float], *, ago: int = 0, **changes: Any) -> Json:
    """A message of the app, `ago` seconds old."""
    message = {"_type": "location", "lat": place[0], "lon": place[1], "tst": now_ms() // 1000 - ago, "acc": 10}
    return {**message, "topic": "owntracks/ann/pixel", **changes}


def report(house: House, message: Json, *, key: str | None = None, **options: Any) -> Any:
    return house.hooks.post(f"/location/{key or house.webhook_key}", json=message, **options)


def fixes(house: House, device: str = "ann/pixel") -> int:
    found = [len(phone.fixes) for phone in phones.read_all(house.database, "owner") if phone.device == device]
    return found[0] if found else 0


def listening(house: House, trigger: str = "entered_or_exited", **fields: Any) -> Json:
    place = {"lat": HOME[0], "lng": HOME[1], "radius": 100, "place": "Home", **fields}
    return house.make_applet(
        trigger={"service": "location", "trigger": trigger, "fields": place},
        actions=[notification("{{Device}} {{EnteredOrExited}} {{PlaceName}}")],
    )


def test_a_phone_comes_and_goes(house: House, clock: time_machine.Traveller) -> None:
    report(house, location(TOWN))
    listening(house)
    listening(house, "exited", place="there")
    for place, messages in ((HOME, 1), (HOME, 1), (TOWN, 3), (TOWN, 3)):
        clock.shift(60)
        answer = report(house, location(place))
        assert (answer.status_code, answer.json()) == (200, [])
        house.tick()
        house.tick()
        assert len(house.messages()) == messages
    assert sorted(house.messages()) == ["ann/pixel entered Home", "ann/pixel exited Home", "ann/pixel exited there"]


def test_what_was_before_the_applet_fires_nothing(house: House, clock: time_machine.Traveller) -> None:
    report(house, location(TOWN, ago=120))
    report(house, location(HOME, ago=60))
    listening(house)
    clock.shift(60)
    house.tick()
    assert house.messages() == []


def test_a_transition_counts_as_a_fix(house: House, clock: time_machine.Traveller) -> None:
    report(house, location(TOWN))
    listening(house)
    clock.shift(60)
    report(house, {**location(HOME), "_type": "transition", "event": "enter", "desc": "Maison", "wtst": 1})
    house.tick()
    assert house.messages() == ["ann/pixel entered Home"]


def test_the_same_fix_is_stored_once(house: House, clock: time_machine.Traveller) -> None:
    message = location(HOME)
    answers = at_once(6, lambda _: report(house, message).status_code)
    answers += [report(house, {**message, "acc": 99, "batt": 5}).status_code]
    assert (set(answers), fixes(house)) == ({200}, 1)


def test_a_fix_of_a_fast_clock_that_comes_again_is_no_new_one(house: House, clock: time_machine.Traveller) -> None:
    """Given a phone that is an hour ahead, and a post that comes again after the next one, then nobody enters twice."""
    report(house, location(TOWN, ago=-3600))
    listening(house)
    house.tick()
    first = location(HOME, ago=-3600)
    for message in (first, location(TOWN, ago=-3660), first):
        clock.shift(60)
        report(house, message)
        house.tick()
    assert sorted(house.messages()) == ["ann/pixel entered Home", "ann/pixel exited Home"]


def test_fixes_that_come_together_are_all_kept(house: House, clock: time_machine.Traveller) -> None:
    answers = at_once(6, lambda number: report(house, location(HOME, ago=number)).status_code)
    assert (set(answers), fixes(house)) == ({200}, 6)
    answers = at_once(4, lambda number: report(house, location(HOME, topic=f"owntracks/ann/p{number}")).status_code)
    assert set(answers) == {200}
    assert len(phones.read_all(house.database, "owner")) == 5


def test_old_fixes_make_room(house: House, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a phone that reports day and night, then its row stays small; the latest fix stays for ever."""
    monkeypatch.setattr(phones, "MAX_FIXES", 4)
    for number in range(9):
        report(house, location(HOME, ago=number))
    assert fixes(house) == 4
    clock.shift(phones.KEPT_SECONDS + 1)
    assert fixes(house) == 4
    report(house, location(TOWN))
    assert fixes(house) == 1


def test_names_of_phones(house: House, clock: time_machine.Traveller) -> None:
    report(house, location(HOME), headers={"X-Limit-U": "ben", "X-Limit-D": "iphone"})
    report(house, location(HOME), params={"u": "eve", "d": "tablet"})
    assert sorted(phone.device for phone in phones.read_all(house.database, "owner")) == ["ben/iphone", "eve/tablet"]


def test_too_many_phones_are_told(house: House, clock: time_machine.Traveller) -> None:
    for number in range(phones.MAX_PHONES):
        assert report(house, location(HOME, topic=f"owntracks/u/{number}")).status_code == 200
    answer = report(house, location(HOME, topic="owntracks/u/one more"))
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["message"].startswith("device: 'u/one more' is one more than the 20 phones")
    assert report(house, location(TOWN, topic="owntracks/u/7")).status_code == 200


@pytest.mark.parametrize("slash", ["", "/"])
def test_messages_about_anything_else_are_taken_and_dropped(house: House, slash: str) -> None:
    for body in (b"", b'{"_type": "lwt", "tst": 1}', b'{"_type": "waypoints", "waypoints": []}'):
        answer = house.hooks.post(f"/location/{house.webhook_key}{slash}", content=body)
        assert (answer.status_code, answer.json()) == (200, [])
    assert phones.read_all(house.database, "owner") == []


def test_bad_messages_name_the_field(house: House) -> None:
    for message, field in (
        (location((91, 0)), "lat"),
        (location(HOME, tst=now_ms()), "tst"),
        (location(HOME, acc="x"), "acc"),
        ({"_type": "encrypted", "data": "x"}, "_type"),
    ):
        answer = report(house, message)
        assert answer.status_code == 400
        assert answer.json()["errors"][0]["message"].startswith(f"{field}: ")
    assert house.hooks.post(f"/location/{house.webhook_key}", content=b"x").status_code == 400
    assert house.hooks.post(f"/location/{house.webhook_key}", content=b"x" * 300_000).status_code == 413


def test_only_a_webhook_key_opens_it(house: House) -> None:
    for key in ("wrong", house.api_key):
        answer = report(house, location(HOME), key=key)
        assert (answer.status_code, answer.json()) == (401, INVALID_KEY)
    key = next(item["id"] for item in house.call("GET", "/keys").json()["items"] if item["kind"] == "webhook")
    house.call("DELETE", f"/keys/{key}")
    assert report(house, location(HOME)).status_code == 401
    for method in ("GET", "HEAD", "PUT"):
        assert house.hooks.request(method, f"/location/{house.webhook_key}").status_code == 405


def test_a_database_that_is_away_is_told_so_that_the_phone_keeps_its_fix(house: House) -> None:
    for error in (Unreachable(), NotReady("x")):
        house.database.error = error
        answer = report(house, location(HOME))
        assert (answer.status_code, "retry-after" in answer.headers) == (503, True)
    assert house.arrivals.receive(wait_seconds=0) == []
    house.database.error = None
    assert report(house, location(HOME)).status_code == 200


def test_an_owner_s_phones_are_erased(house: House, clock: time_machine.Traveller) -> None:
    report(house, location(HOME))
    report(house, location(TOWN, topic="owntracks/ann/tablet"))
    request_erasure(house.database, "owner")
    assert erase_owners(house.runtime.history) == ["owner"]
    everything = str(house.table("SELECT * FROM phones")) + str(house.table("SELECT * FROM phone_lists"))
    for word in ("pixel", "tablet", "48.8"):
        assert word not in everything
    assert phones.read_all(house.database, "owner") == []


def test_an_erased_owner_who_goes_on_has_a_phone_again(house: House, clock: time_machine.Traveller) -> None:
    report(house, location(HOME))
    phones.store.blank_phones(house.database, "owner")
    report(house, location(TOWN))
    assert fixes(house) == 1
