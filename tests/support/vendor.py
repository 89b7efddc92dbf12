"""Stand-ins of vendors that check what they are sent, and an action that is done against one."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from ipaddress import ip_network
from typing import Any

from pydantic import ValidationError

from tests.support.sink import Recorded, Reply, Sink
from whenthen.engine.attempts import describe_request
from whenthen.engine.wire import Sent, perform
from whenthen.errors import FieldError
from whenthen.model.encoding import Encoding
from whenthen.model.templates import render
from whenthen.net import GuardedClient
from whenthen.services.contract import Fields
from whenthen.services.registry import SERVICES, find_action
from whenthen.services.work import Meaning, Reading, Send, Task


class Vendor(Sink):
    """A sink that answers as a vendor does, unless `reply` has told it otherwise for a path."""

    def answer(self, request: Recorded) -> Reply:
        """The vendor's answer to a request. What it finds wrong with one is an answer, too."""
        raise NotImplementedError

    def _record(self, request: Recorded) -> Reply:
        told = super()._record(request)
        return told if self._replies[request.path.partition("?")[0]] else self.answer(request)

    def forget(self) -> None:
        """Forget all requests and all that was told."""
        self.requests.clear()
        self._replies.clear()

    @property
    def last(self) -> Recorded:
        """The last request."""
        return self.requests[-1]

    @property
    def sent(self) -> dict[str, Any]:
        """The JSON object of the last request."""
        found: dict[str, Any] = json.loads(self.last.body)
        return found


def json_reply(document: object, status: int = 200, *headers: tuple[str, str]) -> Reply:
    """An answer of JSON."""
    return Reply(status, (("Content-Type", "application/json"), *headers), json.dumps(document).encode())


def is_json(request: Recorded) -> bool:
    """Whether a request says that it is JSON and is a JSON object of UTF-8."""
    if request.headers.get("content-type", "").replace(" ", "").lower() != "application/json;charset=utf-8":
        return False
    try:
        return isinstance(json.loads(request.body.decode()), dict)
    except ValueError:
        return False


@dataclass(frozen=True)
class Done:
    """What became of an action."""

    work: Send
    sent: Sent

    @property
    def reading(self) -> Reading:
        """What its answer meant."""
        assert isinstance(self.sent.result, Reading), self.sent
        return self.sent.result

    @property
    def succeeded(self) -> bool:
        """Whether it is done."""
        return self.reading.meaning is Meaning.SUCCEEDED

    @property
    def shown(self) -> str:
        """All that an owner sees of it."""
        assert self.sent.request is not None
        return json.dumps([describe_request(self.sent.request), self.sent.reason, repr(self.work)], ensure_ascii=False)


def rendered[F: Fields](model: type[F], values: Mapping[str, Any], ingredients: Mapping[str, str]) -> F:
    """Fields with ingredients in them, each encoded for its place."""
    fields = model.model_validate(values)
    encodings = fields.encodings()

    def text(name: str, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        return render(value, ingredients, encodings.get(name, Encoding.PLAIN)).text

    return model.model_validate({name: text(name, value) for name, value in fields})


def prepared(
    service: str,
    action: str,
    values: Mapping[str, Any],
    account: Mapping[str, Any] | None = None,
    ingredients: Mapping[str, str] | None = None,
) -> Send:
    """The work of an action."""
    found = find_action(service, action)
    assert found is not None
    fields = rendered(found.fields, values, ingredients or {})
    work = found.prepare(Task(fields, "key-1", opened(service, account) if account is not None else None))
    assert isinstance(work, Send)
    return work


def opened(service: str, account: Mapping[str, Any]) -> Fields:
    """The fields of a connection."""
    connection = SERVICES[service].connection
    assert connection is not None
    fields: Fields = connection.fields.model_validate(dict(account))
    return fields


def do(work: Send, vendor: Vendor, *, instead_of: str = "") -> Done:
    """Send the work to a stand-in; `instead_of` is the start of the real vendor's URL."""
    if instead_of:
        assert work.request.url.startswith(instead_of)
        request = replace(work.request, url=work.request.url.replace(instead_of, vendor.url, 1))
        work = replace(work, request=request)
    return Done(work, perform(_client(), work, timeout_seconds=5))


def try_account(service: str, account: Mapping[str, Any], vendor: Vendor, *, instead_of: str = "") -> str | Reading:
    """What the test of a connection says: the account's name, or what is wrong."""
    connection = SERVICES[service].connection
    assert connection is not None
    test = connection.test(opened(service, account))
    assert test is not None
    request = test.request
    if instead_of:
        assert request.url.startswith(instead_of)
        request = replace(request, url=request.url.replace(instead_of, vendor.url, 1))
    found: str | Reading = test.read(_client().send(request))
    return found


def field_of(error: Exception) -> str:
    """The field that an error names."""
    match error:
        case FieldError():
            return error.field
        case ValidationError():
            return ".".join(map(str, error.errors()[0]["loc"]))
    raise AssertionError(error)


@cache
def _client() -> GuardedClient:
    return GuardedClient(allowed_networks=[ip_network("127.0.0.0/8")], timeout_seconds=5)
