"""What the webhook routes do with too much, and the info page."""

from collections.abc import Iterator
from urllib.parse import quote

import pytest

from tests.support.embedded import House, make_house

INVALID_KEY = b'{"errors":[{"message":"You sent an invalid key."}]}'


@pytest.mark.parametrize("applets", [0, 1])
@pytest.mark.parametrize("value", ["a\\u0000b", "a\\ud800b"])
def test_text_that_cannot_be_stored(house: House, value: str, applets: int) -> None:
    for _ in range(applets):
        house.make_applet()
    headers = {"Content-Type": "application/json"}
    answer = house.fire(method="POST", content=f'{{"value2": "{value}"}}', headers=headers)
    assert answer.status_code == 400
    assert "Value2" in answer.json()["errors"][0]["message"]


def test_nul_in_query_and_name(listening: House) -> None:
    assert listening.hooks.get(f"/trigger/door/with/key/{listening.webhook_key}?value1=%00").status_code == 400
    assert listening.fire("do%00or").status_code == 400


def test_huge_query_and_headers(listening: House) -> None:
    answer = listening.fire(query={"value1": "v" * 15_000, **{f"x{i}": "y" for i in range(3000)}})
    assert answer.status_code == 200
    assert listening.messages() == [f"[{'v' * 15_000}||]"]
    assert listening.fire(headers={f"X-{i}": "z" * 100 for i in range(500)}).status_code == 200


class TestSize:
    LIMIT = 4096

    @pytest.fixture
    def small(self) -> Iterator[House]:
        with make_house(WHENTHEN_MAX_BODY_BYTES=str(self.LIMIT)) as house:
            house.make_applet(kind="json_event")
            yield house

    @pytest.mark.parametrize("form", ["", "/json"])
    @pytest.mark.parametrize("chunked", [False, True])
    def test_too_large(self, small: House, form: str, chunked: bool) -> None:
        body = b"1" * (self.LIMIT + 1)
        answer = small.hooks.post(
            f"/trigger/door{form}/with/key/{small.webhook_key}", content=iter([body]) if chunked else body
        )
        assert answer.status_code == 413
        assert answer.json() == {"errors": [{"message": "The body is too large."}]}
        assert small.activity() == []

    @pytest.mark.parametrize("length", ["9" * 5000, "99999999999999999999"])
    def test_an_absurd_content_length(self, small: House, length: str) -> None:
        assert small.fire(method="POST", content=b"", headers={"Content-Length": length}).status_code == 413

    def test_just_fits(self, small: House) -> None:
        body = b"1" * self.LIMIT
        path = f"/trigger/door/json/with/key/{small.webhook_key}"
        assert small.hooks.post(path, content=body).status_code == 200
        assert len(small.activity()) == 1

    def test_values_that_grow_in_the_script(self) -> None:
        with make_house(WHENTHEN_MAX_BODY_BYTES="262144") as house:
            house.make_applet()
            for filler in ['"', "\\", "'", "é", "€", "\x01", "💥"]:
                size = 262_000 // len(quote(filler, safe="'\"\\é€💥\x01").encode())
                body = b"value1=" + (filler * (size // len(filler.encode()))).encode()
                answer = house.fire(
                    method="POST", content=body, headers={"Content-Type": "application/x-www-form-urlencoded"}
                )
                assert answer.status_code in (200, 413), filler


def test_the_info_page(house: House) -> None:
    for slash in ("", "/"):
        answer = house.hooks.get(f"/use/{house.webhook_key}{slash}")
        assert answer.status_code == 200
        assert f"/with/key/{house.webhook_key}" in answer.text
    assert house.hooks.get("/use/wrong").status_code == 401
    assert house.hooks.get(f"/use/{house.api_key}").status_code == 401
    assert house.hooks.get(f"/use/{house.webhook_key}", headers={"Host": "[::1"}).status_code < 500
