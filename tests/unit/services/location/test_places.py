"""Entering and leaving a place."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.support.checking import Checks
from tests.support.owned import Kept, fix
from whenthen.services.location.distance import EARTH_RADIUS_METRES
from whenthen.services.location.fields import PlaceFields
from whenthen.services.owned import Fix, Phone

T0 = 1_790_000_000
RADIUS = 150
PLACE = {"lat": 48.8584, "lng": 2.2945, "radius": RADIUS, "place": "Home", "zone": "Europe/Paris"}
METRE = 180 / (3.141592653589793 * EARTH_RADIUS_METRES)
"""Degrees of latitude."""


def away(number: int, metres: float, *, accuracy: float = 10, at: int | None = None) -> Fix:
    """A fix so far north of the place, by default at the minute of its number."""
    moment = T0 + number * 60 if at is None else at
    return fix(number + 1, moment, 48.8584 + metres * METRE, 2.2945, accuracy)


def run(
    fixes: Sequence[Fix], *, trigger: str = "entered_or_exited", device: str = "ann/pixel", **changes: Any
) -> list[str]:
    """What fires when there is a check right after each fix, as ``direction minute``."""
    checks = Checks("location", trigger, {**PLACE, **changes}, owned=Kept(phones=[Phone(device, fixes)]))
    fired: dict[str, str] = {}
    for moment in sorted({T0, *(item.at for item in fixes)}):
        for item in checks.check(moment * 1000).items:
            fired[item.unique] = f"{item.ingredients['EnteredOrExited']} {(item.occurred_at // 1000 - T0) // 60}"
    return list(fired.values())


def track(*metres: float, accuracy: float = 10) -> list[Fix]:
    """Fixes a minute apart, the first before there is a trigger."""
    return [away(number, distance, accuracy=accuracy) for number, distance in enumerate(metres)]


@pytest.mark.parametrize(
    ("metres", "fired"),
    [
        ((5000, 2000, 0, 20, 3000), ["entered 2", "exited 4"]),
        ((0, 10, 20), []),
        ((0, 5000), ["exited 1"]),
        ((5000, 149), ["entered 1"]),
        ((5000, 151), []),
        # At the border: within its accuracy outside is not outside.
        ((0, 151, 149, 155, 140, 159), []),
        ((0, 161, 5000), ["exited 1"]),
        ((5000, 155, 159, 151), []),
    ],
)
def test_what_fires_on_the_way(metres: tuple[float, ...], fired: list[str]) -> None:
    assert run(track(*metres)) == fired
    assert run(track(*metres), trigger="entered") == [words for words in fired if words.startswith("entered")]
    assert run(track(*metres), trigger="exited") == [words for words in fired if words.startswith("exited")]


@settings(deadline=None)
@given(st.lists(st.floats(-9, 9), max_size=20))
def test_a_phone_that_lies_at_the_border_does_not_flap(noise: list[float]) -> None:
    """Given fixes that are off by less than their accuracy, then at most one thing happens."""
    assert len(run(track(5000, *(RADIUS + metres for metres in noise)))) <= 1
    assert run(track(0, *(RADIUS + metres for metres in noise))) == []


def test_rough_fixes_do_not_place_a_phone() -> None:
    """Given a fix by the mobile network, a kilometre wide, then it is not home; ten kilometres off it is away."""
    assert run([away(0, 5000), away(1, 0, accuracy=1000)]) == []
    assert run([away(0, 0), away(1, 900, accuracy=1000)]) == []
    assert run([away(0, 0), away(1, 10_000, accuracy=1000)]) == ["exited 1"]
    assert run([away(0, 90_000), away(1, 0, accuracy=1000)], radius=50_000) == ["entered 1"]


def test_a_fix_that_comes_too_late_changes_nothing() -> None:
    """Given an old fix that arrives after a newer one, then the phone stays where it is."""
    fixes = [away(0, 5000), away(2, 0, at=T0 + 120), away(3, 5000, at=T0 + 60), away(4, 10, at=T0 + 180)]
    checks = Checks("location", "entered_or_exited", PLACE, owned=Kept(phones=[Phone("p", fixes[:1])]))
    checks.check(T0 * 1000)
    for count in (2, 3, 4):
        checks._owned = Kept(phones=[Phone("p", fixes[:count])])
        found = checks.check((T0 + 300) * 1000)
        assert [item.ingredients["EnteredOrExited"] for item in found.items] == (["entered"] if count == 2 else [])


def test_a_queue_that_arrives_at_once_is_gone_through_in_order() -> None:
    """Given a phone without a connection for hours, then what it tells afterwards fires as it happened."""
    fixes = [away(0, 5000), away(3, 5000, at=T0 + 180), away(1, 0, at=T0 + 60), away(2, 5000, at=T0 + 120)]
    checks = Checks("location", "entered_or_exited", PLACE, owned=Kept(phones=[Phone("p", fixes)]))
    checks.check(T0 * 1000)
    found = checks.check((T0 + 600) * 1000)
    assert [(item.ingredients["EnteredOrExited"], item.occurred_at) for item in found.items] == [
        ("entered", (T0 + 60) * 1000),
        ("exited", (T0 + 120) * 1000),
    ]
    assert found.next_check_at == (T0 + 600) * 1000 // 60_000 * 60_000 + 60_000


def test_what_a_phone_says_first_is_remembered_and_fires_nothing() -> None:
    """R3, also for a phone that reports for the first time after the trigger was made."""
    late = [away(1, 0), away(2, 5000)]
    assert run(late) == ["exited 2"]
    assert run([away(1, 0, accuracy=5000), away(2, 0), away(3, 5000)]) == ["exited 3"]


def test_phones_are_apart_and_may_be_chosen() -> None:
    come, leave = (away(0, 5000), away(1, 0)), (away(0, 0), away(1, 5000))
    owned = Kept(phones=[Phone("ann/pixel", come), Phone("ben/pixel", leave), Phone("pixel", leave)])
    for device, wanted in (
        ("", [("ann/pixel", "entered"), ("ben/pixel", "exited"), ("pixel", "exited")]),
        ("ann/pixel", [("ann/pixel", "entered")]),
        ("pixel", [("ann/pixel", "entered"), ("ben/pixel", "exited"), ("pixel", "exited")]),
        ("xel", []),
        ("nobody", []),
    ):
        checks = Checks("location", "entered_or_exited", {**PLACE, "device": device}, owned=owned)
        checks.check(T0 * 1000)
        items = checks.check((T0 + 60) * 1000).items
        assert [(item.ingredients["Device"], item.ingredients["EnteredOrExited"]) for item in items] == wanted
        assert len({item.unique for item in items}) == len(items)


def test_ingredients() -> None:
    checks = Checks("location", "entered", PLACE, owned=Kept(phones=[Phone("ann/pixel", [away(0, 5000), away(1, 0)])]))
    checks.check(T0 * 1000)
    (item,) = checks.check((T0 + 60) * 1000).items
    assert item.ingredients == {
        "Device": "ann/pixel",
        "PlaceName": "Home",
        "EnteredOrExited": "entered",
        "Latitude": "48.858400",
        "Longitude": "2.294500",
        "OccurredAt": "September 21, 2026 at 04:14PM",
        "MapUrl": "https://www.openstreetmap.org/?mlat=48.858400&mlon=2.294500#map=17/48.858400/2.294500",
    }


@pytest.mark.parametrize("longitude", [180, -180, 179.9995, -179.9995])
def test_a_place_on_the_date_line(longitude: float) -> None:
    place = {"lat": -16.5, "lng": longitude, "radius": 200}
    assert run([fix(1, T0, -16.5, 0), fix(2, T0 + 60, -16.5, -179.9999)], **place) == ["entered 1"]
    assert run([fix(1, T0, -16.5, 0), fix(2, T0 + 60, -16.5, 179.9999)], **place) == ["entered 1"]


@pytest.mark.parametrize(
    ("field", "value"),
    [("lat", 91), ("lng", -181), ("radius", 49), ("radius", 100_001), ("radius", float("nan")), ("device", "x" * 65)],
)
def test_bad_fields_are_named(field: str, value: Any) -> None:
    with pytest.raises(ValidationError) as refused:
        PlaceFields.model_validate({**PLACE, field: value})
    assert refused.value.errors()[0]["loc"] == (field,)
