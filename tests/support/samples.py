"""What each service's tests bring for the contract that all services keep: fields, and answers of its source.

A service's samples stand in ``tests/unit/services/<service>/samples.py`` as ``SAMPLES``, by slug.
"""

import importlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.owned import Kept
from tests.support.sink import Reply, Sink
from whenthen.services.contract import Action, Query, Service, Trigger
from whenthen.services.registry import SERVICES


@dataclass(frozen=True)
class Sample:
    """A trigger or an action in use.

    Args:
        fields: as an owner writes them; ``{url}`` in a text is where the source stands.
        account: fields of its connection, as an owner gives them; None without one.
        before: answers by path, at first and for as long as nothing changes.
        after: answers by path that let something new be found.
        later: milliseconds from check to check.
        owned: the owner's own data, which holds something new within `later`.
        takes_any_json: whether every JSON document is an answer of the source: a value that is missing is news.
    """

    fields: Mapping[str, Any]
    account: Mapping[str, Any] | None = None
    before: Mapping[str, Reply] = field(default_factory=dict)
    after: Mapping[str, Reply] = field(default_factory=dict)
    later: int = 15 * 60_000
    owned: Kept = field(default_factory=Kept)
    takes_any_json: bool = False

    def fields_at(self, url: str) -> dict[str, Any]:
        """The fields with the source's URL filled in."""
        found: dict[str, Any] = json.loads(json.dumps(dict(self.fields)).replace("{url}", url))
        return found

    def account_of(self, part: Trigger | Action[Any] | Query[Any]) -> Any:
        """The connection's fields, or None."""
        connection = SERVICES[part.connects].connection if part.connects else None
        return connection.fields.model_validate(dict(self.account)) if connection and self.account else None


def serve(sink: Sink, replies: Mapping[str, Reply]) -> None:
    """Let the sink answer so from now on."""
    for path, reply in replies.items():
        sink.reply(path, [reply])


def samples(service: Service) -> dict[str, Sample]:
    """A service's samples.

    Raises:
        ModuleNotFoundError: it has none; every service needs them.
    """
    module = importlib.import_module(f"tests.unit.services.{service.slug}.samples")
    found: dict[str, Sample] = module.SAMPLES
    return found


def parts() -> list[tuple[Service, Trigger | Action[Any] | Query[Any], Sample]]:
    """Every trigger, action and query of every service with its sample.

    Raises:
        KeyError: one has no sample.
    """
    return [
        (service, part, samples(service)[part.slug])
        for service in SERVICES.values()
        for part in (*service.triggers, *service.actions, *service.queries)
    ]
