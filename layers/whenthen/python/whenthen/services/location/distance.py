"""How far it is from one point of the earth to another."""

from math import asin, cos, radians, sin, sqrt

EARTH_RADIUS_METRES = 6_371_008.8
"""The mean radius of the WGS 84 ellipsoid; what comes of it is right within 0.6 %."""


def distance_metres(latitude: float, longitude: float, other_latitude: float, other_longitude: float) -> float:
    """Return the great-circle distance of two points given in degrees, by the haversine formula."""
    phi, other_phi = radians(latitude), radians(other_latitude)
    half = sin((other_phi - phi) / 2) ** 2
    half += cos(phi) * cos(other_phi) * sin(radians(other_longitude - longitude) / 2) ** 2
    # Rounding may lead beyond 1 at the other end of the earth.
    return 2 * EARTH_RADIUS_METRES * asin(sqrt(min(half, 1.0)))
