"""Who listens to a trigger, through every change of applets and against races."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.support.embedded import House, applet, notification
from tests.support.scenario import OWNER
from whenthen.engine import applets, keys
from whenthen.engine.listening import MAX_LISTENERS
from whenthen.errors import FieldError, NotFound, Stale
from whenthen.model.applet import Applet
from whenthen.store.errors import Duplicate, OutcomeUnknown
from whenthen.store.keys import add_user


def listening(house: House, event: str = "door") -> list[str]:
    rows = house.table("SELECT fields, listeners FROM triggers WHERE owner_id = 'owner'")
    found = [json.loads(row["listeners"]) for row in rows if json.loads(row["fields"]) == {"event": event}]
    assert len(found) <= 1
    return sorted(found[0]) if found else []


def fired(house: House, event: str = "door") -> list[str]:
    before = {item["execution_id"] for item in house.activity(limit="200")}
    assert house.fire(event).status_code == 200
    return sorted(i["applet_id"] for i in house.activity(limit="200") if i["execution_id"] not in before)


def test_equal_triggers_share_a_row(house: House) -> None:
    one, two = house.make_applet(), house.make_applet(name="Two")
    other = house.make_applet(kind="json_event")
    assert len(house.table("SELECT trigger_id FROM triggers")) == 2
    assert fired(house) == sorted([one["id"], two["id"]])
    assert other["id"] not in fired(house)


def test_each_owner_has_triggers_of_their_own(house: House) -> None:
    add_user(house.database, "other", "Other")
    _, webhook_key = keys.create(house.database, "other", "webhook", "x")
    theirs = applets.create(house.database, "other", Applet.model_validate(applet()))
    mine = house.make_applet()
    assert fired(house) == [mine["id"]]
    house.hooks.get(f"/trigger/door/with/key/{webhook_key}")
    (row,) = [r for r in house.table("SELECT owner_id, applet_id FROM " + table(house)) if r["owner_id"] == "other"]
    assert row["applet_id"] == theirs.applet_id


def table(house: House) -> str:
    slot = house.table("SELECT slot FROM slots ORDER BY slot DESC")[0]["slot"]
    return f"executions_{slot}"


def test_changes_move_the_listener(house: House) -> None:
    made = house.make_applet()
    path = f"/applets/{made['id']}"
    # A warm process has to notice each of these.
    assert fired(house) == [made["id"]]
    house.call("PATCH", path, {"trigger": applet(event="gate")["trigger"]})
    assert (listening(house), listening(house, "gate")) == ([], [made["id"]])
    assert (fired(house), fired(house, "gate")) == ([], [made["id"]])
    house.call("PATCH", path, {"trigger": applet()["trigger"], "enabled": False})
    assert (fired(house), fired(house, "gate")) == ([], [])
    house.call("PATCH", path, {"enabled": True})
    assert fired(house) == [made["id"]]
    house.call("PATCH", path, {"name": "Renamed"})
    assert fired(house) == [made["id"]]
    house.call("DELETE", path)
    assert (listening(house), fired(house)) == ([], [])


def test_a_change_keeps_the_others_and_the_order(house: House) -> None:
    made = [house.make_applet(name=str(n))["id"] for n in range(3)]
    house.call("PATCH", f"/applets/{made[1]}", {"actions": [notification("changed")]})
    assert listening(house) == sorted(made)
    house.call("DELETE", f"/applets/{made[0]}")
    assert fired(house) == sorted(made[1:])


def together(jobs: list[Any]) -> list[Any]:
    with ThreadPoolExecutor(len(jobs)) as pool:
        return [future.result() for future in [pool.submit(job) for job in jobs]]


@pytest.mark.parametrize("warm", [False, True])
def test_eight_made_at_once_all_listen(house: House, warm: bool) -> None:
    if warm:
        house.make_applet()
        fired(house)
    made = together([house.make_applet] * 8)
    assert set(listening(house)) >= {item["id"] for item in made}
    assert set(fired(house)) >= {item["id"] for item in made}
    assert len(house.table("SELECT trigger_id FROM triggers")) == 1


def test_eight_deleted_while_eight_are_made(house: House) -> None:
    old = [house.make_applet()["id"] for _ in range(8)]
    jobs: list[Any] = [lambda i=i: house.call("DELETE", f"/applets/{i}") for i in old]
    jobs += [house.make_applet] * 8
    made = [item["id"] for item in together(jobs)[8:]]
    assert listening(house) == sorted(made)


def test_the_same_applet_changed_by_many_at_once(house: House) -> None:
    made = house.make_applet()
    path = f"/applets/{made['id']}"
    jobs = [lambda n=n: house.call("PATCH", path, {"name": f"n{n}"}, headers={"If-Match": '"1"'}) for n in range(8)]
    statuses = sorted(answer.status_code for answer in together(jobs))
    assert statuses == [200] + [409] * 7
    assert house.call("GET", path).json()["version"] == 2


def test_toggled_by_many_at_once(house: House) -> None:
    made = house.make_applet()
    jobs = [
        lambda n=n: house.call("PATCH", f"/applets/{made['id']}", {"enabled": bool(n % 2), "name": f"n{n}"})
        for n in range(10)
    ]
    assert {answer.status_code for answer in together(jobs)} <= {200, 409}
    now = house.call("GET", f"/applets/{made['id']}").json()
    assert listening(house) == ([made["id"]] if now["enabled"] else [])


def test_more_listeners_than_a_script_takes(house: House) -> None:
    document = Applet.model_validate(applet())
    for _ in range(MAX_LISTENERS):
        applets.create(house.database, OWNER, document)
    with pytest.raises(FieldError, match="60 applets"):
        applets.create(house.database, OWNER, document)
    answer = house.call("POST", "/applets", applet())
    assert answer.json()["errors"][0]["field"] == "trigger"
    # All of them run, with a large event too.
    assert house.fire(method="POST", json={"value1": "x" * 200_000}).status_code == 200
    assert len(house.activity(limit="200")) == MAX_LISTENERS
    off = house.call("POST", "/applets", applet(enabled=False)).json()
    assert house.call("PATCH", f"/applets/{off['id']}", {"enabled": True}).status_code == 422
    assert house.call("PATCH", f"/applets/{off['id']}", {"name": "x"}).status_code == 200


def test_making_again_after_an_unknown_outcome(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first try was written though no answer came: one applet, and it listens."""
    execute = house.database.execute
    lost: list[str] = []

    def lose_the_answer(sql: str, **options: Any) -> Any:
        rows = execute(sql, **options)
        if "INSERT INTO applets" in sql and not lost:
            lost.append(sql)
            raise OutcomeUnknown
        return rows

    monkeypatch.setattr(house.database, "execute", lose_the_answer)
    made = house.make_applet()
    assert lost
    assert [item["id"] for item in house.call("GET", "/applets").json()["items"]] == [made["id"]]
    assert fired(house) == [made["id"]]


def test_an_unknown_outcome_of_a_change_is_told(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    made = house.make_applet()
    execute = house.database.execute

    def lose_the_answer(sql: str, **options: Any) -> Any:
        execute(sql, **options)
        if "UPDATE applets" in sql:
            raise OutcomeUnknown
        return []

    with monkeypatch.context() as patch:
        patch.setattr(
            house.database,
            "execute",
            lambda sql, **o: lose_the_answer(sql, **o) if "UPDATE applets" in sql else execute(sql, **o),
        )
        assert house.call("PATCH", f"/applets/{made['id']}", {"name": "B"}).status_code == 503
    assert house.call("GET", f"/applets/{made['id']}").json()["name"] == "B"


def test_errors_of_the_functions(house: House) -> None:
    row = applets.create(house.database, OWNER, Applet.model_validate(applet()))
    document = applets.parse(row)
    with pytest.raises(Stale):
        applets.update(house.database, OWNER, row.applet_id, document, seen_version=7)
    with pytest.raises(NotFound):
        applets.update(house.database, "other", row.applet_id, document)
    with pytest.raises(NotFound):
        applets.delete(house.database, OWNER, "nothing")
    with pytest.raises(Duplicate):
        add_user(house.database, OWNER, "again")
