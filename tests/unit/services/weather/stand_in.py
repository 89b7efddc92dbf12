"""A stand-in for Open-Meteo, with the shapes it documents."""

import copy
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support.checking import NOW, Checks
from tests.support.sink import Reply, Sink

FIXTURES = Path(__file__).parent / "fixtures"
PATH = "/v1/forecast"
PLACE = {"latitude": 48.85, "longitude": 2.35}
MINUTE = 60_000
OBSERVED = 1_789_999_200_000
"""The time of the observation in ``current.json``, 14:00 UTC."""


def fixture(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FIXTURES / f"{name}.json").read_text())
    return found


def current(**values: Any) -> dict[str, Any]:
    """The answer about the present, with other values of its ``current`` part."""
    answer = copy.deepcopy(fixture("current"))
    answer["current"].update(values)
    return answer


def forecast(**values: Any) -> dict[str, Any]:
    """The answer about a day, with other values of its ``daily`` part."""
    answer = copy.deepcopy(fixture("forecast"))
    answer["daily"].update(values)
    return answer


class StandIn:
    """Answers, and checks of one trigger that ask it."""

    def __init__(self, sink: Sink, trigger: str, fields: dict[str, Any], *, zone: str = "UTC") -> None:
        self.sink = sink
        self.checks = Checks("weather", trigger, {**PLACE, **fields}, zone=zone, service_url=sink.url)

    def answer(self, answer: Any, status: int = 200, headers: tuple[tuple[str, str], ...] = ()) -> None:
        """Answer with JSON, or with bytes as they are."""
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.sink.reply(PATH, [Reply(status, headers, body)])

    def query(self) -> dict[str, str]:
        """The parameters of the last request."""
        return {name: values[0] for name, values in parse_qs(urlsplit(self.sink.requests[-1].path).query).items()}


@contextmanager
def stand_in(trigger: str, fields: dict[str, Any], *, zone: str = "UTC") -> Iterator[StandIn]:
    with Sink() as sink:
        yield StandIn(sink, trigger, fields, zone=zone)


__all__ = ["MINUTE", "NOW", "OBSERVED", "PATH", "PLACE", "StandIn", "current", "fixture", "forecast", "stand_in"]
