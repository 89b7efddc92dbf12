"""What the OwnTracks apps post in HTTP mode (owntracks.org/booklet, pages "HTTP" and "JSON")."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from whenthen.errors import FieldError
from whenthen.model.encoding import one_line

MAX_DEVICE_CHARACTERS = 64

_FUTURE_SECONDS = 24 * 3600
_LARGEST_ACCURACY = 10_000_000.0
_UNNAMED = "phone"


@dataclass(frozen=True, slots=True)
class Report:
    """Where a phone was: `at` in epoch seconds, degrees, and metres around that point.

    `fast_by` is how many seconds the phone's clock was ahead of ours.
    """

    device: str
    at: int
    latitude: float
    longitude: float
    accuracy: float
    fast_by: int = 0

    @property
    def identity(self) -> tuple[int, float, float]:
        """What makes it this report: one with the same is the same, whenever it comes."""
        return self.at + self.fast_by, self.latitude, self.longitude


def read_report(body: bytes, names: Mapping[str, str], now: int) -> Report | None:
    """Return what a message says about where the phone is, or None for a message about anything else.

    Parameters
    ----------
    names:
        The phone's user and device under ``u`` and ``d``, as the headers X-Limit-U and X-Limit-D have them, where
        they are given. Otherwise the message's topic tells, or its tracker id.
    now:
        Epoch seconds. A phone whose clock is fast by less than a day was there now.

    Raises
    ------
    FieldError
        It can't be read.
    """
    if not body.strip():
        # A friend was deleted from the app.
        return None
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise FieldError("body", "is not JSON") from error
    if not isinstance(message, dict):
        raise FieldError("body", "must be a JSON object")
    kind = message.get("_type")
    if kind == "encrypted":
        raise FieldError("_type", "is encrypted: leave the encryption key in the app's settings empty")
    if kind not in ("location", "transition") or (kind == "transition" and "lat" not in message):
        # A beacon's transition has no place.
        return None
    at = int(_number(message, "tst", 0, math.inf))
    if at > now + _FUTURE_SECONDS:
        raise FieldError("tst", "must be seconds since 1970, and not in the future")
    # Left out when it is not known.
    accuracy = _number({"acc": 0, **message}, "acc", -_LARGEST_ACCURACY, _LARGEST_ACCURACY)
    if accuracy < 0:
        # How iOS says that the fix is not valid. Refused, it would be posted again and again before all later ones.
        return None
    return Report(
        device=_device(message, names),
        at=min(at, now),
        latitude=_number(message, "lat", -90, 90),
        longitude=_number(message, "lon", -180, 180),
        accuracy=accuracy,
        fast_by=max(at - now, 0),
    )


def _number(message: Mapping[str, Any], name: str, least: float, most: float) -> float:
    value = message.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FieldError(name, "must be a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or not least <= number <= most:
        limits = f"from {least:g} to {most:g}" if math.isfinite(most) else f"of at least {least:g}"
        raise FieldError(name, f"must be a number {limits}")
    return number


def _device(message: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """Return ``user/device``, as topics name a phone: two people's phones may have the same name."""
    topic = message.get("topic")
    parts = topic.split("/")[1:3] if isinstance(topic, str) else []
    parts = [part for part in (names.get("u", ""), names.get("d", "")) if part.strip()] or parts
    tracker = message.get("tid")
    name = "/".join(parts) or (tracker if isinstance(tracker, str) else "")
    cleaned = one_line(name.encode("utf-8", "replace").decode()).strip()[:MAX_DEVICE_CHARACTERS].strip()
    return cleaned or _UNNAMED
