"""The management API: who may see what, and what is not there."""

import pytest

from tests.support.embedded import House
from whenthen.engine import keys
from whenthen.services.registry import SERVICES
from whenthen.store.errors import Conflict, NotReady, StoreError, Unreachable
from whenthen.store.keys import add_user


def test_401(shared: House) -> None:
    for header in (
        None,
        "",
        "Bearer",
        "Bearer ",
        "Basic x",
        "Bearer wrong",
        f"Bearer {shared.webhook_key}",
        "Bearer \xff",
    ):
        for path in ("/api/services", "/api/applets", "/api/activity", "/api/keys", "/api/inbox", "/api/executions/x"):
            sent = [] if header is None else [(b"Authorization", header.encode("latin-1"))]
            answer = shared.api.get(path, headers=sent)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"
            assert answer.json()["title"] == "Unauthorized"
    assert shared.call("GET", "/applets", headers={"Authorization": f"bearer  {shared.api_key}"}).status_code == 200


def test_another_owner_sees_nothing(house: House) -> None:
    made = house.make_applet()
    house.fire()
    execution = house.activity()[0]["execution_id"]
    key = house.call("GET", "/keys").json()["items"][0]["id"]
    house.work()
    add_user(house.database, "other", "Other")
    _, api_key = keys.create(house.database, "other", "api", "other")
    other = {"headers": {"Authorization": f"Bearer {api_key}"}}
    for path in ("/applets", "/activity", "/inbox"):
        assert house.call("GET", path, **other).json() == {"items": [], "next": None}
    assert len(house.call("GET", "/keys", **other).json()["items"]) == 1
    assert house.call("GET", "/activity", params={"applet": made["id"]}, **other).json()["items"] == []
    for method, path in (
        ("GET", f"/applets/{made['id']}"),
        ("PATCH", f"/applets/{made['id']}"),
        ("DELETE", f"/applets/{made['id']}"),
        ("GET", f"/executions/{execution}"),
        ("POST", f"/executions/{execution}/rerun"),
        ("DELETE", f"/keys/{key}"),
    ):
        answer = house.call(method, path, {"name": "x"} if method == "PATCH" else None, **other)
        assert answer.status_code == 404, (method, path)
        assert answer.headers["content-type"] == "application/problem+json"
    assert house.call("GET", f"/applets/{made['id']}").json() == made


@pytest.mark.parametrize(
    "execution", ["x", "..", "202611291800.a.b", "202611291800", "9" * 12 + ".a.b", "٢٠٢٦١١٢٩١٨٠٠.a.b", "%00", "a%2Fb"]
)
def test_no_such_execution(shared: House, execution: str) -> None:
    assert shared.call("GET", f"/executions/{execution}").status_code == 404
    assert shared.call("POST", f"/executions/{execution}/rerun").status_code == 404


def test_unknown_paths_and_methods(shared: House) -> None:
    for path in ("/api", "/api/nothing", "/nothing", "/api/applets/x/y", "/api/%00", "/api/keys/a/b"):
        answer = shared.api.get(path)
        assert answer.status_code == 404
        assert answer.headers["content-type"] == "application/problem+json"
    for method, path, allowed in (
        ("PUT", "/applets", {"GET", "HEAD", "POST"}),
        ("POST", "/applets/x", {"GET", "HEAD", "PATCH", "DELETE"}),
        ("DELETE", "/services", {"GET", "HEAD"}),
        ("BREW", "/keys", {"GET", "HEAD", "POST"}),
    ):
        answer = shared.call(method, path)
        assert answer.status_code == 405
        assert set(answer.headers["allow"].split(", ")) == allowed
        assert answer.json()["title"] == "Method not allowed"
    assert shared.call("HEAD", "/applets").status_code == 200


@pytest.mark.parametrize(
    ("error", "retry_after"), [(Unreachable(), "5"), (Conflict(), "5"), (StoreError("x"), "5"), (NotReady("y"), None)]
)
def test_the_database_is_down(house: House, error: StoreError, retry_after: str | None) -> None:
    house.database.error = error
    answer = house.call("GET", "/applets")
    assert answer.status_code == 503
    assert answer.headers.get("retry-after") == retry_after
    assert answer.headers["content-type"] == "application/problem+json"


def test_the_catalogue(shared: House) -> None:
    items = {item["service"]: item for item in shared.call("GET", "/services").json()["items"]}
    assert set(items) == set(SERVICES)
    assert [trigger["trigger"] for trigger in items["webhooks"]["triggers"]] == ["event", "json_event"]
    assert items["webhooks"]["actions"][0]["fields"]["properties"]["url"]["type"] == "string"
    assert items["webhooks"]["triggers"][0]["ingredients"][1]["ingredient"] == "Value1"
    assert [query["query"] for query in items["table"]["queries"]] == ["find_rows"]
