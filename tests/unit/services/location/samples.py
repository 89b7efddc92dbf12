"""Samples of the location service: a phone that comes home from the town, and one that leaves."""

from tests.support.checking import NOW
from tests.support.owned import Kept, fix
from tests.support.samples import Sample
from whenthen.services.owned import Phone

AT = NOW // 1000
HOME = (48.8584, 2.2945)
TOWN = (48.8700, 2.3300)

_OWNED = Kept(
    phones=(
        Phone("ann/pixel", (fix(1, AT - 60, *TOWN), fix(2, AT + 120, *HOME))),
        Phone("ben/iphone", (fix(1, AT - 60, *HOME), fix(2, AT + 60, *TOWN))),
    )
)
_SAMPLE = Sample({"lat": HOME[0], "lng": HOME[1], "radius": 150, "place": "Home"}, owned=_OWNED)

SAMPLES = dict.fromkeys(("entered", "exited", "entered_or_exited"), _SAMPLE)
