"""Actions and queries as the engine does them, over the real guarded client, against a stand-in of a vendor."""

from collections.abc import Mapping
from dataclasses import replace
from ipaddress import ip_network
from typing import Any

from tests.support.checking import NOW
from tests.support.vendor import opened
from whenthen.engine.wire import Sent, ask, perform
from whenthen.net import GuardedClient
from whenthen.services.connecting import Test
from whenthen.services.contract import Action, Query
from whenthen.services.registry import SERVICES, find_action, find_query
from whenthen.services.work import Ask, Meaning, Reading, Row, Send, Steps, Task


class Acting:
    """A service's actions and queries with one connection.

    Args:
        service: slug.
        account: fields of the connection, as an owner gives them.
        moved: where the vendor's address stands for the stand-in's: from, to.
    """

    def __init__(self, service: str, account: Mapping[str, Any], *, moved: tuple[str, str] = ("", "")) -> None:
        self.service = service
        self.account = opened(service, account)
        self._moved = moved
        self.client = GuardedClient(allowed_networks=[ip_network("127.0.0.0/8")], timeout_seconds=10)

    def prepare(self, slug: str, fields: Mapping[str, Any], *, key: str = "execution.0") -> Send | Steps:
        """The work of an action, towards the stand-in."""
        action = find_action(self.service, slug)
        assert action is not None
        work = action.prepare(self._task(action, fields, key))
        assert isinstance(work, Send | Steps)
        if isinstance(work, Send):
            return replace(work, request=replace(work.request, url=work.request.url.replace(*self._moved)))
        return work

    def act(self, slug: str, fields: Mapping[str, Any], *, key: str = "execution.0") -> Sent:
        """One try of an action."""
        return perform(self.client, self.prepare(slug, fields, key=key), timeout_seconds=10)

    def ask(self, slug: str, fields: Mapping[str, Any]) -> tuple[Sent, list[Row]]:
        """One try of a query."""
        query = find_query(self.service, slug)
        assert query is not None
        work = query.prepare(self._task(query, fields, "execution.query0"))
        assert isinstance(work, Ask)
        return ask(self.client, work, timeout_seconds=10)

    def test(self) -> str | Reading:
        """What trying out the connection yields."""
        connection = SERVICES[self.service].connection
        assert connection is not None
        test: Test | None = connection.test(self.account)
        assert test is not None
        return test.read(self.client.send(replace(test.request, url=test.request.url.replace(*self._moved))))

    def _task(self, part: Action[Any] | Query[Any], fields: Mapping[str, Any], key: str) -> Task[Any]:
        return Task(part.fields.model_validate(dict(fields)), key, self.account, NOW)


def meaning(sent: Sent) -> Meaning:
    """What an answer meant. Anything else than an answer fails the test."""
    assert isinstance(sent.result, Reading), sent.reason
    return sent.result.meaning
