"""The Maker-compatible routes, exactly (PROTOCOLS.md 1), from the ASGI app to the rows."""

import json
from urllib.parse import quote

import pytest

from tests.support.embedded import House

INVALID_KEY = b'{"errors":[{"message":"You sent an invalid key."}]}'


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("slash", ["", "/"])
def test_the_answer_is_the_one_that_clients_compare(house: House, method: str, slash: str) -> None:
    answer = house.hooks.request(method, f"/trigger/door/with/key/{house.webhook_key}{slash}")
    assert answer.status_code == 200
    assert answer.content == b"Congratulations! You've fired the door event"
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("slash", ["", "/"])
def test_the_answer_of_the_json_form(house: House, method: str, slash: str) -> None:
    answer = house.hooks.request(method, f"/trigger/door/json/with/key/{house.webhook_key}{slash}")
    assert (answer.status_code, answer.content) == (200, b"Congratulations! You've fired the door JSON event")


@pytest.mark.parametrize("name", ["front door", "Tür", "日本", "a%2Fb", "50%25", "a+b", "a?b#c", "🚪"])
def test_names_are_matched_after_decoding(house: House, name: str) -> None:
    decoded = name.replace("%2F", "/").replace("%25", "%")
    if "/" not in decoded:
        house.make_applet(event=decoded)
    answer = house.fire(quote(decoded, safe=""))
    assert answer.content.decode() == f"Congratulations! You've fired the {decoded} event"
    assert house.messages() == ([] if "/" in decoded else [f"{decoded}: "])


@pytest.mark.parametrize("form", ["", "/json"])
@pytest.mark.parametrize("key", ["wrong", "%00", "%ff", "a%20b", "x" * 5000, "'--"])
def test_a_wrong_key(house: House, form: str, key: str) -> None:
    answer = house.hooks.post(f"/trigger/door{form}/with/key/{key}")
    assert (answer.status_code, answer.content) == (401, INVALID_KEY)
    assert answer.headers["content-type"] == "application/json"


def test_an_api_key_fires_nothing(house: House) -> None:
    answer = house.hooks.get(f"/trigger/door/with/key/{house.api_key}")
    assert (answer.status_code, answer.content) == (401, INVALID_KEY)


@pytest.mark.parametrize("path", ["/trigger/door/with/key/", "/trigger/door/with/key", "/trigger/door", "/", "/x"])
def test_an_empty_key_and_other_paths_are_not_found(house: House, path: str) -> None:
    assert house.hooks.post(path).status_code == 404


def test_nothing_is_stored_when_nothing_listens(house: House) -> None:
    house.make_applet(event="other")
    house.make_applet(enabled=False)
    assert house.fire().status_code == 200
    assert house.table("SELECT COUNT(*) AS n FROM trigger_events") == [{"n": 0}]
    assert house.activity() == []
    assert house.work() == 0


@pytest.mark.parametrize("form", ["", "/json"])
def test_head_fires_nothing(listening: House, form: str) -> None:
    answer = listening.hooks.head(f"/trigger/door{form}/with/key/{listening.webhook_key}")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, POST"
    assert listening.activity() == []


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"])
def test_other_methods_fire_nothing(listening: House, method: str) -> None:
    assert listening.fire(method=method).status_code == 405
    assert listening.activity() == []


def test_values_from_query_form_json_and_multipart(listening: House) -> None:
    values = {"value1": "ä &=", "value2": "'\"\\\n", "value4": "ignored"}
    expected = "[ä &=|'\"\\\n|]"
    assert listening.fire(query=values).status_code == 200
    assert listening.fire(method="POST", data=values).status_code == 200
    assert listening.fire(method="POST", json=values).status_code == 200
    assert listening.fire(method="POST", files={k: (None, v) for k, v in values.items()}).status_code == 200
    assert listening.messages() == [expected] * 4


def test_a_file_is_no_value(listening: House) -> None:
    answer = listening.fire(
        method="POST", query={"value1": "query"}, files={"value1": ("a.txt", b"file"), "value2": (None, "part")}
    )
    assert answer.status_code == 200
    assert listening.messages() == ["[query|part|]"]


def test_the_body_wins_over_the_query(listening: House) -> None:
    listening.fire(method="POST", query={"value1": "query", "value2": "query"}, json={"value1": "body"})
    assert listening.messages() == ["[body|query|]"]


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "Application/JSON; charset=utf-8",
        "application/json;charset=UTF-8",
        'application/json; charset="utf-8"',
        "application/vnd.github+json",
    ],
)
def test_json_content_types(listening: House, content_type: str) -> None:
    body = json.dumps({"value1": "ü"}, ensure_ascii=False).encode()
    assert listening.fire(method="POST", content=body, headers={"Content-Type": content_type}).status_code == 200
    assert listening.messages() == ["[ü||]"]


def test_get_of_the_json_form_takes_the_query(listening: House) -> None:
    listening.hooks.get(f"/trigger/door/json/with/key/{listening.webhook_key}?a=1&b=x%20y")
    assert [json.loads(text) for text in listening.messages()] == [{"a": "1", "b": "x y"}]


def test_json_payload_keeps_its_digits(listening: House) -> None:
    text = '{"id": 9007199254740993, "pi": 3.14159265358979323846, "big": 1' + "0" * 5000 + "}"
    answer = listening.hooks.post(f"/trigger/door/json/with/key/{listening.webhook_key}", content=text)
    assert answer.status_code == 200
    assert listening.messages() == [text]


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/json", b"{"),
        ("application/json", b'{"value1": NaN}'),
        ("application/json", b"\xff\xfe{\x00}\x00"),
        ("application/json", b"[" * 100_000),
        ("application/x-www-form-urlencoded", b"value1=\xe4"),
        ("multipart/form-data", b"no boundary"),
        ("multipart/form-data; boundary=x", b"not multipart"),
        ("multipart/form-data; boundary=x", b"--x\r\nContent-Disposition: nonsense\r\n\r\na\r\n--x--\r\n"),
        # Minutes for a body of the size that is allowed.
        (
            "multipart/form-data; boundary=x; charset=punycode",
            b'--x\r\nContent-Disposition: form-data; name="value1"\r\n\r\na-9\r\n--x--\r\n',
        ),
    ],
)
def test_a_body_that_is_not_what_it_says(listening: House, content_type: str, body: bytes) -> None:
    answer = listening.fire(method="POST", content=body, headers={"Content-Type": content_type})
    assert answer.status_code == 400
    assert "body" in answer.json()["errors"][0]["message"]
    assert listening.activity() == []


def test_hostile_text_comes_through(listening: House) -> None:
    for value in [
        "'; DROP TABLE keys; --",
        "\\",
        "{{Value2}}",
        "{% x %}",
        "\u2028",
        "\x01\x7f",
        "💥" * 500,
        "%s",
        ":a",
    ]:
        assert listening.fire(method="POST", json={"value1": value}).status_code == 200
        listening.work()
        assert listening.inbox()[0]["message"] == f"[{value}||]"


def test_the_largest_body_is_run(listening: House) -> None:
    value = "x" * (listening.runtime.settings.max_body_bytes - 100)
    answer = listening.fire(method="POST", json={"value1": value})
    assert answer.status_code == 200
    listening.work()
    item = listening.execution()
    assert item["ingredients"]["Value1"] == value
    # The inbox takes 16,384 characters: failed with a reason, and the rest goes on.
    assert item["state"] == "failed"
    assert "message" in item["reason"]


def test_json_sent_as_a_form(listening: House) -> None:
    """D18, the curl of people who forget -H: the JSON form reads it, the three-value form finds no values."""
    body = b'{"value1": "open"}'
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    listening.hooks.post(f"/trigger/door/json/with/key/{listening.webhook_key}", content=body, headers=form)
    assert listening.messages() == ['{"value1": "open"}']
    assert listening.fire(method="POST", content=body, headers=form).status_code == 200
    assert listening.messages()[0] == "[||]"
