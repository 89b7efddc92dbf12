"""Distances on the earth."""

from math import pi

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whenthen.services.location.distance import EARTH_RADIUS_METRES, distance_metres

LATITUDE = st.floats(-90, 90)
LONGITUDE = st.floats(-180, 180)
HALF = pi * EARTH_RADIUS_METRES
DEGREE = HALF / 180


@pytest.mark.parametrize(
    ("points", "metres"),
    [
        ((0, 0, 0, 0), 0),
        ((0, 0, 0, 1), DEGREE),
        ((0, 0, 1, 0), DEGREE),
        ((0, 179.5, 0, -179.5), DEGREE),
        ((89.5, 0, 89.5, 180), DEGREE),
        ((-89.5, -90, -89.5, 90), DEGREE),
        ((90, -170, 90, 12), 0),
        ((-90, 0, 90, 0), HALF),
        ((0, 0, 0, 180), HALF),
        ((60, 0, 60, 0.001), DEGREE / 2000),
        # Paris, Eiffel Tower, to London, Nelson's Column: 341 km.
        ((48.85837, 2.294481, 51.507747, -0.127957), 341_000),
    ],
)
def test_known_distances(points: tuple[float, float, float, float], metres: float) -> None:
    assert distance_metres(*points) == pytest.approx(metres, rel=2e-3, abs=1e-3)


@settings(deadline=None)
@given(LATITUDE, LONGITUDE, LATITUDE, LONGITUDE)
def test_a_distance_is_one(a: float, b: float, c: float, d: float) -> None:
    """The same both ways, never beyond the other end of the earth, and none to the point itself."""
    there = distance_metres(a, b, c, d)
    assert 0 <= there <= HALF * (1 + 1e-12)
    assert there == pytest.approx(distance_metres(c, d, a, b), abs=1e-3)
    assert distance_metres(a, b, a, b) == 0
    assert there == pytest.approx(distance_metres(a, b, c, d + 360), rel=1e-6, abs=0.2)


@settings(deadline=None)
@given(LATITUDE, LONGITUDE, LATITUDE, LONGITUDE, LATITUDE, LONGITUDE)
def test_no_way_round_is_shorter(a: float, b: float, c: float, d: float, e: float, f: float) -> None:
    assert distance_metres(a, b, c, d) <= distance_metres(a, b, e, f) + distance_metres(e, f, c, d) + 0.2
