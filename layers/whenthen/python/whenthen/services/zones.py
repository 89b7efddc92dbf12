"""Time zones in fields."""

from functools import cache
from typing import Annotated
from zoneinfo import ZoneInfo, available_timezones

from pydantic import AfterValidator, Field, StringConstraints, ValidationInfo

DEFAULT_ZONE = "UTC"


@cache
def _zones() -> frozenset[str]:
    # Without the files that hold rules and are no places people name.
    return frozenset(available_timezones() - {"localtime", "posixrules", "Factory"})


def list_zones() -> list[str]:
    """Return the names of all time zones."""
    return sorted(_zones())


def check_zone(name: str) -> str:
    """Return the name of an IANA time zone.

    Raises
    ------
    ValueError
        There is none of this name.
    """
    if name not in _zones():
        raise ValueError(f"is not the name of a time zone, such as Europe/Paris: {name[:64]!r}")
    return name


def zone_info(name: str) -> ZoneInfo:
    """Return the rules of a zone that `check_zone` knows."""
    return ZoneInfo(name)


def _owners_unless_given(name: str, info: ValidationInfo) -> str:
    context = info.context or {}
    return check_zone(name or context.get("zone", DEFAULT_ZONE))


Zone = Annotated[
    str,
    StringConstraints(max_length=64, strip_whitespace=True),
    AfterValidator(_owners_unless_given),
    Field(
        validate_default=True,
        title="Time zone",
        description="Named after a place in it, such as Europe/Paris; your own when left out.",
    ),
]
"""A field ``zone: Zone = ""``. The owner's zone is filled in when the applet is stored, so it stays as it is then."""
