"""Connections in the management API: made, shown, changed, tried out, deleted, and never told."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from starlette.testclient import TestClient

from tests.support.authorizing import CLIENT, Vendor, register
from tests.support.embedded import House, Json, make_house, notification
from whenthen.clock import Deadline
from whenthen.engine import keys
from whenthen.engine.erasure import request_erasure
from whenthen.engine.wakeups import read_wakeup
from whenthen.local.setup import make_secrets_key
from whenthen.store.errors import Unreachable
from whenthen.store.keys import add_user
from whenthen.web import site
from whenthen.wiring import Runtime

TOKEN = "at-by-hand"


@pytest.fixture
def vendor(monkeypatch: pytest.MonkeyPatch) -> Iterator[Vendor]:
    register(monkeypatch.setitem)
    with Vendor() as running:
        running.give(TOKEN)
        yield running


def make(house: House, vendor: Vendor, *, token: str = TOKEN, **fields: Any) -> Json:
    """A connection with a token that was given by hand."""
    answer = ask(house, vendor, token=token, **fields)
    assert answer.status_code == 201, answer.text
    made: Json = answer.json()
    return made


def ask(house: House, vendor: Vendor, **fields: Any) -> Any:
    return house.call("POST", "/connections", connection({"url": vendor.url, **fields}))


def connection(fields: Json, **changes: Any) -> Json:
    return {"service": "vendor", "name": "My vendor", "fields": fields, **changes}


def post(connection_id: str, text: str = "{{Value1}}") -> Json:
    """An action that uses the connection."""
    return {"service": "vendor", "action": "post", "fields": {"text": text}, "connection": connection_id}


def errors(answer: Any) -> dict[str, str]:
    assert answer.status_code == 422, answer.text
    return {error["field"]: error["message"] for error in answer.json()["errors"]}


def test_a_connection_is_tried_out_and_shown_without_its_secrets(house: House, vendor: Vendor) -> None:
    made = make(house, vendor, note="for me")
    assert (made["state"], made["account"], made["message"], made["oauth"]) == ("working", "@ada", "", False)
    assert made["fields"] == {"url": vendor.url, "client_id": "", "note": "for me"}
    assert made["secrets"] == ["token"]
    assert house.call("GET", f"/connections/{made['id']}").json() == made
    assert house.call("GET", "/connections").json() == {"items": [made], "next": None}


def test_no_secret_is_readable_in_the_database_or_in_any_answer(house: House, vendor: Vendor) -> None:
    made = make(house, vendor, client_secret="s3cret-of-the-app")
    stored = json.dumps(house.table("SELECT * FROM connections"))
    shown = house.call("GET", "/connections").text + json.dumps(made)
    for secret in (TOKEN, "s3cret-of-the-app"):
        assert secret not in stored + shown


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"service": "nothing", "name": "n"}, "service"),
        ({"service": "webhooks", "name": "n"}, "service"),
        ({"service": "vendor", "name": ""}, "name"),
        ({"service": "vendor", "name": "n"}, "fields.url"),
        ({"service": "vendor", "name": "n", "fields": {"url": "http://x", "more": 1}}, "fields.more"),
        ({"service": "vendor", "name": "n", "fields": {"url": "http://x", "token": "a b"}}, "fields.token"),
        ({"service": "vendor", "name": "n", "fields": {"url": "http://x"}, "oauth": True}, "fields.client_id"),
        ({"service": "ntfy", "name": "n", "fields": {}, "oauth": True}, "oauth"),
    ],
)
def test_what_is_wrong_is_told_at_the_field(house: House, vendor: Vendor, document: Json, field: str) -> None:
    assert field in errors(house.call("POST", "/connections", document))
    assert house.table("SELECT * FROM connections") == []


def test_an_account_that_is_refused_is_not_stored(house: House, vendor: Vendor) -> None:
    assert "Bad credentials" in errors(ask(house, vendor, token="wrong"))["fields.token"]
    vendor.refuses_account = True
    assert "403" in errors(ask(house, vendor, token=TOKEN))["fields"]
    assert "public internet" in errors(ask(house, vendor, token=TOKEN, url="http://10.0.0.1"))["fields"]
    assert house.table("SELECT * FROM connections") == []


def test_a_service_that_is_down_is_no_reason_to_refuse(house: House, vendor: Vendor) -> None:
    made = make(house, vendor, url="http://127.0.0.1:1")
    assert made["state"] == "failing"
    assert made["failing_since"] is not None
    assert "could not be asked" in made["message"]


def test_secrets_that_are_left_out_keep_their_values(house: House, vendor: Vendor) -> None:
    made = make(house, vendor)
    answer = house.call("PATCH", f"/connections/{made['id']}", {"name": "Other", "fields": {"note": "new"}})
    assert answer.status_code == 200, answer.text
    assert (answer.json()["name"], answer.json()["fields"]["note"], answer.json()["version"]) == ("Other", "new", 2)
    run(house, vendor, made["id"])


def run(house: House, vendor: Vendor, connection_id: str) -> None:
    """Let an applet post with the connection."""
    house.make_applet(actions=[post(connection_id)])
    house.fire(query={"value1": "hello"})
    house.work()
    assert vendor.posts == [b"hello"], house.execution()["attempts"]


def test_secrets_do_not_follow_to_another_address(house: House, vendor: Vendor) -> None:
    """Given an API key alone, nobody can have secrets sent to a place of their own."""
    made = make(house, vendor)
    with Vendor() as other:
        other.give(TOKEN)
        path = f"/connections/{made['id']}"
        assert "given again" in errors(house.call("PATCH", path, {"fields": {"url": other.url}}))["fields.token"]
        answer = house.call("PATCH", path, {"fields": {"url": other.url, "token": TOKEN}})
        assert answer.status_code == 200, answer.text


def test_a_change_needs_the_version_that_was_read(house: House, vendor: Vendor) -> None:
    made = make(house, vendor)
    path = f"/connections/{made['id']}"
    etag = house.call("GET", path).headers["etag"]
    assert house.call("PATCH", path, {"name": "One"}, headers={"If-Match": etag}).status_code == 200
    assert house.call("PATCH", path, {"name": "Two"}, headers={"If-Match": etag}).status_code == 409
    assert house.call("DELETE", path, headers={"If-Match": etag}).status_code == 409


def test_a_test_sets_the_state(house: House, vendor: Vendor) -> None:
    made = make(house, vendor)
    vendor.expire()
    broken = house.call("POST", f"/connections/{made['id']}/test").json()
    assert broken["state"] == "broken"
    assert "Bad credentials" in broken["message"]
    vendor.give(TOKEN)
    works = house.call("POST", f"/connections/{made['id']}/test").json()
    assert (works["state"], works["message"], works["failing_since"]) == ("working", "", None)


def test_a_connection_in_use_is_not_deleted(house: House, vendor: Vendor) -> None:
    made = make(house, vendor)
    path = f"/connections/{made['id']}"
    applet = house.make_applet(name="Poster", actions=[notification(), post(made["id"])], enabled=False)
    refused = house.call("DELETE", path)
    assert (refused.status_code, "Poster" in refused.json()["detail"]) == (409, True)
    house.call("DELETE", f"/applets/{applet['id']}")
    assert house.call("DELETE", path).status_code == 204
    assert house.call("GET", path).status_code == 404
    (row,) = house.table("SELECT sealed, shown, account_name FROM connections")
    assert row == {"sealed": "", "shown": "{}", "account_name": ""}


def test_another_owners_connection_is_not_there(house: House, vendor: Vendor) -> None:
    made = make(house, vendor)
    add_user(house.database, "other", "Other")
    _, key = keys.create(house.database, "other", "api", "k")
    theirs = {"headers": {"Authorization": f"Bearer {key}"}}
    for method, path in (("GET", ""), ("PATCH", ""), ("DELETE", ""), ("POST", "/test"), ("POST", "/authorize")):
        body = {"name": "x"} if method == "PATCH" else None
        assert house.call(method, f"/connections/{made['id']}{path}", body, **theirs).status_code == 404
    applet = {"name": "x", "trigger": {"service": "webhooks", "trigger": "event", "fields": {"event": "e"}}}
    answer = house.call("POST", "/applets", {**applet, "actions": [post(made["id"])]}, **theirs)
    assert errors(answer) == {"actions.0.connection": "there is no such connection"}


@pytest.mark.parametrize(
    ("parts", "path", "words"),
    [
        ({"actions": [{"service": "vendor", "action": "post", "fields": {"text": "x"}}]}, "actions.0", "is needed"),
        ({"actions": [post("0" * 32)]}, "actions.0", "no such"),
        ({"actions": [notification() | {"connection": "{id}"}]}, "actions.0", "takes none"),
        ({"actions": [post("{other}")]}, "actions.0", "connection to vendor"),
        (
            {"trigger": {"service": "webhooks", "trigger": "event", "fields": {"event": "e"}, "connection": "{id}"}},
            "trigger",
            "takes none",
        ),
    ],
)
def test_an_applet_names_connections_that_fit(house: House, vendor: Vendor, parts: Json, path: str, words: str) -> None:
    made = make(house, vendor)
    button = house.call("POST", "/connections", {"service": "button", "name": "B"}).json()
    document = json.loads(json.dumps(parts).replace("{id}", made["id"]).replace("{other}", button["id"]))
    default = {"name": "n", "trigger": {"service": "webhooks", "trigger": "event", "fields": {"event": "e"}}}
    answer = house.call("POST", "/applets", {**default, "actions": [notification()], **document})
    assert words in errors(answer)[f"{path}.connection"]


def test_the_catalogue_says_what_connects(house: House, vendor: Vendor) -> None:
    items = {item["service"]: item for item in house.call("GET", "/services").json()["items"]}
    shown = items["vendor"]["connection"]
    assert (shown["oauth"], shown["fields"]["properties"]["token"]["writeOnly"]) == (True, True)
    assert (items["vendor"]["actions"][0]["connects"], items["webhooks"]["connection"]) == ("vendor", None)


def test_a_house_without_a_key_says_what_is_missing(
    house: House, vendor: Vendor, caplog: pytest.LogCaptureFixture
) -> None:
    house.runtime.settings.secrets_key_path.unlink()
    answer = ask(house, vendor, token=TOKEN)
    assert answer.status_code == 503
    assert "WHENTHEN_KMS_KEY_ID" in caplog.text
    assert house.table("SELECT * FROM connections") == []


def test_a_local_run_makes_a_key_but_never_instead_of_one_that_is_missed(
    house: House, vendor: Vendor, caplog: pytest.LogCaptureFixture
) -> None:
    settings = house.runtime.settings
    settings.secrets_key_path.unlink()
    make_secrets_key(house.database, settings)
    assert settings.secrets_key_path.exists()
    make(house, vendor)
    settings.secrets_key_path.unlink()
    make_secrets_key(house.database, settings)
    assert not settings.secrets_key_path.exists()
    assert "is missing" in caplog.text


def test_a_key_that_is_missing_holds_up_nobody_else(house: House, vendor: Vendor) -> None:
    """Given a process without the key, then what needs it is tried again, with the reason, and its neighbours are
    done."""
    made = make(house, vendor)
    house.make_applet(name="Post", actions=[post(made["id"])])
    house.make_applet(name="Plain")
    house.fire(query={"value1": "hello"})
    path = house.runtime.settings.secrets_key_path
    path.rename(path.with_name("elsewhere"))
    ids = [read_wakeup(item.body) for item in house.wakeups.receive(wait_seconds=0)]
    assert not Runtime(house.runtime.settings, database=house.database, wakeups=house.wakeups).worker.run(
        ids, Deadline(60)
    )
    items = {item["applet_name"]: item for item in house.activity()}
    assert (items["Plain"]["state"], items["Post"]["state"]) == ("succeeded", "waiting")
    assert items["Post"]["reason"] == "The connection could not be read now; the log says why."
    path.with_name("elsewhere").rename(path)
    with time_machine.travel(datetime.now(UTC) + timedelta(minutes=10)):
        house.tick()
        house.work()
    assert (vendor.posts, house.activity()[0]["state"]) == ([b"hello"], "succeeded")


def test_a_key_that_can_not_be_had_is_told_at_once(house: House, vendor: Vendor) -> None:
    made = make(house, vendor)
    path = house.runtime.settings.secrets_key_path
    path.rename(path.with_name("elsewhere"))
    other = TestClient(site.make_app(Runtime(house.runtime.settings, database=house.database, wakeups=house.wakeups)))
    answer = other.post(f"/api/connections/{made['id']}/test", headers={"Authorization": f"Bearer {house.api_key}"})
    assert (answer.status_code, "key that opens secrets" in answer.json()["detail"]) == (503, True)


@pytest.mark.parametrize("name", ["", "\x00", "x" * 201, None])
def test_a_bad_name_is_told(house: House, vendor: Vendor, name: str | None) -> None:
    answer = house.call("POST", "/connections", {"service": "vendor", "name": name, "fields": {}})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "name")


def test_a_database_that_is_down_is_told(house: House, vendor: Vendor) -> None:
    made = make(house, vendor)
    house.database.error = Unreachable()
    assert house.call("GET", f"/connections/{made['id']}").status_code == 503


def test_erasing_an_owner_ends_their_connections(house: House, vendor: Vendor) -> None:
    make(house, vendor)
    house.make_applet()
    request_erasure(house.database, "owner")
    (row,) = house.table("SELECT connection_name, sealed, shown, deleted_at FROM connections")
    assert (row["connection_name"], row["sealed"], row["shown"]) == ("", "", "{}")
    assert row["deleted_at"] is not None


def test_oauth_that_is_not_finished_does_nothing(house: House, vendor: Vendor) -> None:
    fields = {"url": vendor.url, "client_id": CLIENT[0], "client_secret": CLIENT[1]}
    made = house.call("POST", "/connections", connection(fields, oauth=True)).json()
    assert made["state"] == "unfinished"
    house.make_applet(actions=[post(made["id"])])
    house.fire()
    house.work()
    assert "not finished" in house.execution()["reason"]
    assert vendor.posts == []


def test_two_houses_have_two_keys(vendor: Vendor) -> None:
    """Given rows in a house with another key, then they do not open, and the house says so."""
    with make_house() as one, make_house() as two:
        made = make(one, vendor)
        (row,) = one.table(f"SELECT sealed FROM connections WHERE connection_id = '{made['id']}'")
        other = make(two, vendor)
        two.table(f"UPDATE connections SET sealed = '{row['sealed']}' WHERE connection_id = '{other['id']}'")
        answer = two.call("POST", f"/connections/{other['id']}/test")
        assert (answer.status_code, "another key" in answer.json()["detail"]) == (422, True)
        # With the right key it works as before.
        assert two.call("GET", f"/connections/{other['id']}").json()["state"] == "working"
