"""A whenthen that has something to show: applets that ran, were skipped and failed, a connection, a table, messages."""

from typing import Any

import httpx2

from tests.support.local import LocalRun
from tests.support.processes import wait_for

DOOR = "Door to the family's inbox"


def web(path: str) -> dict[str, Any]:
    """An action that nobody answers: its port is closed."""
    return {
        "service": "webhooks",
        "action": "make_web_request",
        "fields": {"url": f"http://127.0.0.1:9{path}", "method": "POST", "body": '{"said": "{{Value1}}"}'},
    }


def _event(name: str) -> dict[str, Any]:
    return {"service": "webhooks", "trigger": "event", "fields": {"event": name}}


def _notify(message: str, title: str = "") -> dict[str, Any]:
    fields = {"message": message, "title": title}
    return {"service": "notifications", "action": "send_notification", "fields": fields}


def _at(time: str, *days: str) -> dict[str, Any]:
    return {"service": "date_time", "trigger": "every_weekday_at", "fields": {"time": time, "weekdays": list(days)}}


def make_demo(run: LocalRun) -> dict[str, str]:
    """Fill the owner's account; ids by what they are of: ``applet``, ``execution``, ``connection``."""
    row = {"service": "table", "action": "add_row", "fields": {"table": "Visitors", "values": {"Who": "{{Value1}}"}}}
    documents: list[dict[str, Any]] = [
        {
            "name": DOOR,
            "trigger": _event("door"),
            "filter": "Value1 == 'open' or skip('the door was closed')",
            "actions": [_notify("The {{Value2}} door is open.", "Door")],
        },
        {"name": "Guest book", "trigger": _event("guest"), "actions": [row, _notify("{{Value1}} is here")]},
        {
            "name": "Lights in the old shed",
            "trigger": _event("shed"),
            "actions": [web("/lights")],
            "on_failure": "stop",
        },
        {
            "name": "Bins out",
            "trigger": _at("19:30", "sunday", "wednesday"),
            "actions": [_notify("Tomorrow the bins are collected.", "Bins")],
        },
        {
            "name": "Good evening at sunset",
            "trigger": {"service": "date_time", "trigger": "sunset", "fields": {"latitude": 48.85, "longitude": 2.35}},
            "actions": [_notify("The sun goes down at {{SunsetAt}}.")],
            "enabled": False,
        },
    ]
    applets = [run.post("/applets", document)["id"] for document in documents]
    secret = {"secret": "It's a secret to everybody", "scheme": "github"}
    connection = run.post("/connections", {"service": "signed_webhooks", "name": "My repositories", "fields": secret})
    known = run.credentials()

    def fire(event: str, *values: str) -> None:
        params = {f"value{number}": value for number, value in enumerate(values, 1)}
        url = f"{known['url']}/trigger/{event}/with/key/{known['webhook_key']}"
        assert httpx2.get(url, params=params, trust_env=False).status_code == 200

    for event, *values in (
        ("door", "open", "front"), ("door", "closed", "front"), ("guest", "Grace"), ("guest", "Linus"),
        ("shed", "on"), ("door", "open", "garden"), ("door", "closed", "garden"), ("guest", "Barbara"),
        ("door", "open", "front"), ("hello", "World"),
    ):  # fmt: skip
        fire(event, *values)

    def done() -> bool:
        items = run.get("/activity")["items"]
        return len(items) == 10 and sum(item["state"] in ("succeeded", "skipped") for item in items) == 9

    assert wait_for(done, 30), run.get("/activity")
    (execution,) = (item for item in run.get("/activity")["items"] if item["applet_id"] == applets[2])
    return {
        "applet": applets[0],
        "schedule": applets[3],
        "execution": execution["execution_id"],
        "connection": connection["id"],
        "table": "Visitors",
    }
