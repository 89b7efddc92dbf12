"""Keys: shown once, and dead when they are revoked."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.testclient import TestClient

from tests.support.embedded import LOOPBACK, House, applet
from whenthen.engine import listeners
from whenthen.settings import Settings
from whenthen.store.database import Rows
from whenthen.store.triggers import find_trigger
from whenthen.web import hooks
from whenthen.wiring import Runtime


def make_key(house: House, kind: str = "webhook") -> dict[str, str]:
    answer = house.call("POST", "/keys", {"kind": kind, "name": "new"})
    assert answer.status_code == 201
    made: dict[str, str] = answer.json()
    return made


def test_a_key_is_shown_once(house: House) -> None:
    made = make_key(house)
    assert made["kind"] == "webhook"
    listed = house.call("GET", "/keys")
    assert made["key"] not in listed.text
    (item,) = [item for item in listed.json()["items"] if item["id"] == made["id"]]
    assert item == {name: value for name, value in made.items() if name != "key"}
    rows = house.table("SELECT key_hash, hint FROM keys")
    assert not any(made["key"] in str(row) for row in rows)
    assert made["hint"] == made["key"][:4] + "…"


def test_keys_are_of_one_kind(house: House) -> None:
    api, webhook = make_key(house, "api"), make_key(house)
    assert house.call("GET", "/applets", headers={"Authorization": f"Bearer {api['key']}"}).status_code == 200
    assert house.call("GET", "/applets", headers={"Authorization": f"Bearer {webhook['key']}"}).status_code == 401
    assert house.hooks.get(f"/trigger/door/with/key/{webhook['key']}").status_code == 200
    assert house.hooks.get(f"/trigger/door/with/key/{api['key']}").status_code == 401


def test_a_revoked_api_key(house: House) -> None:
    made = make_key(house, "api")
    sent = {"Authorization": f"Bearer {made['key']}"}
    assert house.call("DELETE", f"/keys/{made['id']}", headers=sent).status_code == 204
    assert house.call("GET", "/applets", headers=sent).status_code == 401
    assert house.call("DELETE", f"/keys/{made['id']}").status_code == 404
    assert made["id"] not in house.call("GET", "/keys").text
    assert house.call("DELETE", "/keys/nothing").status_code == 404


def test_a_revoked_webhook_key_is_refused_by_warm_processes(house: House) -> None:
    house.make_applet()
    house.make_applet(event="gate", kind="json_event")
    made = make_key(house)
    runtime = Runtime(Settings.read(LOOPBACK), database=house.database, wakeups=house.wakeups, arrivals=house.arrivals)
    other_process = TestClient(hooks.make_app(runtime))
    paths = [f"/trigger/door/with/key/{made['key']}", f"/trigger/gate/json/with/key/{made['key']}"]
    for client in (house.hooks, other_process):
        assert [client.get(path).status_code for path in paths] == [200, 200]
    assert house.call("DELETE", f"/keys/{made['id']}").status_code == 204
    for client in (house.hooks, other_process):
        assert [client.get(path).status_code for path in paths] == [401, 401]
    assert house.hooks.get(f"/use/{made['key']}").status_code == 401
    assert house.fire().status_code == 200


def test_a_key_of_an_owner_with_many_triggers(house: House) -> None:
    for i in range(230):
        house.database.execute(
            f"INSERT INTO triggers (trigger_id, owner_id, service, trigger_name, fields, listeners, revision) "
            f"VALUES ('t{i}', 'owner', 'webhooks', 'event', '{{}}', '[]', 0)"
        )
    house.make_applet()
    made = make_key(house)
    path = f"/trigger/door/with/key/{made['key']}"
    assert house.hooks.get(path).status_code == 200
    assert house.call("DELETE", f"/keys/{made['id']}").status_code == 204
    assert house.hooks.get(path).status_code == 401
    assert house.table("SELECT MIN(revision) AS least FROM triggers") == [{"least": 1}]


def test_a_key_revoked_between_two_reads_is_not_remembered(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.make_applet()
    made = make_key(house)

    def revoke_first(database: object, identity: str, **_: float) -> object:
        monkeypatch.undo()
        assert house.call("DELETE", f"/keys/{made['id']}").status_code == 204
        return find_trigger(house.database, identity)

    monkeypatch.setattr(listeners, "find_trigger", revoke_first)
    path = f"/trigger/door/with/key/{made['key']}"
    house.hooks.get(path)
    assert house.hooks.get(path).status_code == 401


def test_parallel_requests_with_a_warm_memory(house: House) -> None:
    house.make_applet()
    with ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(house.fire) for _ in range(30)]
    assert {job.result().status_code for job in jobs} == {200}
    rows: Rows = house.table("SELECT COUNT(*) AS n FROM trigger_events")
    assert rows == [{"n": 30}]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"kind": "webhook"}, "name"),
        ({"kind": "root", "name": "x"}, "kind"),
        ({"kind": "api", "name": ""}, "name"),
        ({"kind": "api", "name": "x", "key": "mine"}, "key"),
        ({"kind": "api", "name": "x", "delivery_id_header": "X-Id"}, "delivery_id_header"),
        ({"kind": "webhook", "name": "x", "delivery_id_header": "X Id"}, "delivery_id_header"),
        ({"kind": "webhook", "name": "x", "delivery_id_header": "Authorization"}, "delivery_id_header"),
        ({"kind": "webhook", "name": "x", "delivery_id_header": "cookie"}, "delivery_id_header"),
        ({"kind": "webhook", "name": "x", "delivery_id_header": "X-Id\n"}, "delivery_id_header"),
    ],
)
def test_what_is_wrong_is_named(house: House, body: dict[str, str], field: str) -> None:
    answer = house.call("POST", "/keys", body)
    assert answer.status_code == 422
    assert [error["field"] for error in answer.json()["errors"]] == [field]


def test_a_name_with_nul_is_refused(house: House) -> None:
    assert house.call("POST", "/keys", {"kind": "api", "name": "a\x00"}).status_code == 422
    assert house.call("POST", "/applets", applet(name="a\x00")).status_code == 422
