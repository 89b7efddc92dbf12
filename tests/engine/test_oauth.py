"""The authorization flow: from a link to tokens, once (RFC 6749, RFC 7636)."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine

from tests.support.authorizing import CLIENT, Vendor, register
from tests.support.embedded import House, Json, make_house


@pytest.fixture
def vendor(monkeypatch: pytest.MonkeyPatch) -> Iterator[Vendor]:
    register(monkeypatch.setitem)
    with Vendor() as running:
        yield running


def begin(house: House, vendor: Vendor, **fields: Any) -> Json:
    """A connection that its owner has still to consent to."""
    document = {
        "service": "vendor",
        "name": "<b>My vendor</b>",
        "fields": {"url": vendor.url, "client_id": CLIENT[0], "client_secret": CLIENT[1], **fields},
        "oauth": True,
    }
    answer = house.call("POST", "/connections", document)
    assert answer.status_code == 201, answer.text
    made: Json = answer.json()
    return made


def come_back(house: House, query: dict[str, str]) -> Any:
    """The person's browser follows the service's redirect; it has no key."""
    return house.api.get("/oauth/callback", params=query)


def state_of(house: House, made: Json) -> Json:
    found: Json = house.call("GET", f"/connections/{made['id']}").json()
    return found


def test_a_person_consents_and_the_connection_works(house: House, vendor: Vendor) -> None:
    made = begin(house, vendor)
    query = vendor.consent(made["authorize_url"])
    page = come_back(house, query)
    assert page.status_code == 200
    assert "&lt;b&gt;My vendor&lt;/b&gt; is connected as @ada" in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert (page.headers["referrer-policy"], page.headers["cache-control"]) == ("no-referrer", "no-store")
    shown = state_of(house, made)
    assert (shown["state"], shown["account"], shown["oauth"]) == ("working", "@ada", True)
    assert shown["secrets"] == ["client_secret", "token"]


def test_the_link_tells_nothing_but_what_it_must(house: House, vendor: Vendor) -> None:
    made = begin(house, vendor)
    query = parse_qs(urlsplit(made["authorize_url"]).query)
    assert query["redirect_uri"] == ["http://testserver/oauth/callback"]
    assert "owner" not in made["authorize_url"]
    assert CLIENT[1] not in made["authorize_url"]


def test_the_public_url_is_where_people_come_back_to(vendor: Vendor) -> None:
    with make_house(WHENTHEN_PUBLIC_URL="https://when.example.org/") as house:
        query = parse_qs(urlsplit(begin(house, vendor)["authorize_url"]).query)
        assert query["redirect_uri"] == ["https://when.example.org/oauth/callback"]


def test_a_consent_works_once(house: House, vendor: Vendor) -> None:
    query = vendor.consent(begin(house, vendor)["authorize_url"])
    assert come_back(house, query).status_code == 200
    again = come_back(house, query)
    assert (again.status_code, "does not work any more" in again.text) == (400, True)
    assert vendor.calls == ["authorization_code"]


def test_a_consent_that_comes_twice_at_once_is_exchanged_once(house: House, vendor: Vendor) -> None:
    query = vendor.consent(begin(house, vendor)["authorize_url"])
    vendor.delay = 0.5
    with ThreadPoolExecutor(4) as pool:
        statuses = [page.status_code for page in pool.map(lambda _: come_back(house, query), range(4))]
    assert (sorted(statuses), vendor.calls) == ([200, 400, 400, 400], ["authorization_code"])


def test_a_consent_waits_ten_minutes(house: House, vendor: Vendor) -> None:
    with time_machine.travel("2026-11-29T18:00:00Z", tick=False) as clock:
        query = vendor.consent(begin(house, vendor)["authorize_url"])
        clock.shift(10 * 60 + 1)
        assert come_back(house, query).status_code == 400
    assert vendor.calls == []


def test_a_consent_that_is_denied_changes_nothing(house: House, vendor: Vendor) -> None:
    made = begin(house, vendor)
    state = vendor.consent(made["authorize_url"])["state"]
    page = come_back(house, {"error": "access_denied", "state": state})
    assert (page.status_code, "not allowed" in page.text) == (400, True)
    assert state_of(house, made)["state"] == "unfinished"
    assert come_back(house, {"code": "x", "state": state}).status_code == 400
    assert vendor.calls == []


@pytest.mark.parametrize(
    "state", ["", "x", "{id}.", "{id}.nonce", "00000000000000000000000000000000.{nonce}", "{id}.{nonce}x"]
)
def test_a_state_that_was_never_given_opens_nothing(house: House, vendor: Vendor, state: str) -> None:
    made = begin(house, vendor)
    query = vendor.consent(made["authorize_url"])
    nonce = query["state"].partition(".")[2]
    forged = state.replace("{id}", made["id"]).replace("{nonce}", nonce)
    assert come_back(house, {**query, "state": forged}).status_code == 400
    assert vendor.calls == []
    assert come_back(house, query).status_code == 200


def test_one_consent_does_not_open_another_connection(house: House, vendor: Vendor) -> None:
    mine, other = begin(house, vendor), begin(house, vendor)
    nonce = vendor.consent(mine["authorize_url"])["state"].partition(".")[2]
    assert come_back(house, {"code": "x", "state": f"{other['id']}.{nonce}"}).status_code == 400
    assert vendor.calls == []


def test_a_code_of_another_flow_is_refused_by_the_verifier(house: House, vendor: Vendor) -> None:
    """PKCE: a code that was stolen is worth nothing in another flow."""
    mine, other = begin(house, vendor), begin(house, vendor)
    stolen = vendor.consent(other["authorize_url"])["code"]
    page = come_back(house, {"code": stolen, "state": vendor.consent(mine["authorize_url"])["state"]})
    assert (page.status_code, "invalid_grant" in page.text) == (400, True)
    assert state_of(house, mine)["state"] == "unfinished"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ((200, {"error": "bad_verification_code", "error_description": "The code is wrong."}), "The code is wrong."),
        ((200, {"token_type": "bearer"}), "without a token"),
        ((500, {}), "500"),
        (None, "asked for a token"),
    ],
)
def test_f20_a_token_that_does_not_come_is_told(
    house: House, vendor: Vendor, said: tuple[int, Json] | None, words: str
) -> None:
    """F20: an answer of 200 with an error in it is no success."""
    made = begin(house, vendor)
    query = vendor.consent(made["authorize_url"])
    vendor.said = [said]
    page = come_back(house, query)
    assert (page.status_code, words in page.text) == (400, True), page.text
    assert state_of(house, made)["state"] == "unfinished"


def test_a_page_never_shows_what_was_sent_as_markup_or_secret(house: House, vendor: Vendor) -> None:
    made = begin(house, vendor)
    query = vendor.consent(made["authorize_url"])
    vendor.said = [(400, {"error": "x", "error_description": f"<script>{query['code']} {CLIENT[1]}</script>"})]
    text = come_back(house, query).text
    assert "<script>" not in text
    assert query["code"] not in text
    assert CLIENT[1] not in text


def test_a_new_link_repairs_and_voids_the_older_one(house: House, vendor: Vendor) -> None:
    made = begin(house, vendor)
    first = vendor.consent(made["authorize_url"])
    assert come_back(house, vendor.consent(authorize(house, made))).status_code == 200
    assert come_back(house, first).status_code == 400
    vendor.revoke()
    assert house.call("POST", f"/connections/{made['id']}/test").json()["state"] == "broken"
    assert come_back(house, vendor.consent(authorize(house, made))).status_code == 200
    assert state_of(house, made)["state"] == "working"


def authorize(house: House, made: Json) -> str:
    answer = house.call("POST", f"/connections/{made['id']}/authorize")
    assert answer.status_code == 200, answer.text
    url: str = answer.json()["authorize_url"]
    return url


def test_a_token_given_by_hand_ends_the_consent(house: House, vendor: Vendor) -> None:
    made = begin(house, vendor)
    vendor.give("by-hand")
    changed = house.call("PATCH", f"/connections/{made['id']}", {"fields": {"token": "by-hand"}})
    assert (changed.json()["state"], changed.json()["oauth"]) == ("working", False)
    assert house.call("POST", f"/connections/{made['id']}/authorize").status_code == 422


def test_another_address_needs_another_consent(house: House, vendor: Vendor) -> None:
    made = begin(house, vendor)
    come_back(house, vendor.consent(made["authorize_url"]))
    path = f"/connections/{made['id']}"
    with Vendor() as other:
        assert house.call("PATCH", path, {"fields": {"url": other.url}}).status_code == 422
        change = {"fields": {"url": other.url, "client_secret": CLIENT[1]}}
        assert house.call("PATCH", path, change).json()["state"] == "unfinished"
        assert come_back(house, other.consent(authorize(house, made))).status_code == 200
        assert (state_of(house, made)["state"], other.calls) == ("working", ["authorization_code"])


def test_an_address_that_changes_while_a_person_comes_back_gets_no_token(house: House, vendor: Vendor) -> None:
    """Given a token of one service that is on its way, when the connection is led to another, then it is not kept."""
    made = begin(house, vendor)
    query = vendor.consent(made["authorize_url"])
    with ThreadPoolExecutor(1) as pool, Vendor() as other:
        with vendor.held("/me"):
            page = pool.submit(come_back, house, query)
            vendor.wait_for_one()
            change = {"fields": {"url": other.url, "client_secret": "another"}}
            assert house.call("PATCH", f"/connections/{made['id']}", change).status_code == 200
        assert page.result().status_code == 400
    shown = state_of(house, made)
    assert (shown["state"], shown["secrets"]) == ("unfinished", ["client_secret"])


def test_a_test_does_not_finish_what_was_changed_meanwhile(house: House, vendor: Vendor) -> None:
    made = begin(house, vendor)
    come_back(house, vendor.consent(made["authorize_url"]))
    path = f"/connections/{made['id']}"
    with ThreadPoolExecutor(1) as pool, Vendor() as other:
        with vendor.held("/me"):
            tested = pool.submit(house.call, "POST", f"{path}/test")
            vendor.wait_for_one()
            house.call("PATCH", path, {"fields": {"url": other.url, "client_secret": CLIENT[1]}})
        assert (tested.result().status_code, tested.result().json()["state"]) == (200, "unfinished")


def test_a_test_of_a_connection_that_gets_no_new_token_now_says_so(house: House, vendor: Vendor) -> None:
    made = begin(house, vendor)
    come_back(house, vendor.consent(made["authorize_url"]))
    vendor.expire()
    vendor.said = [(503, {"error": "temporarily_unavailable"})]
    tested = house.call("POST", f"/connections/{made['id']}/test")
    assert (tested.status_code, tested.json()["state"]) == (200, "failing")
    assert "temporarily_unavailable" in tested.json()["message"]
    assert house.call("POST", f"/connections/{made['id']}/test").json()["state"] == "working"


def test_new_tokens_leave_a_started_consent_alone(house: House, vendor: Vendor) -> None:
    """Given a person on the way to the service, when tokens are renewed meanwhile, then they can come back."""
    made = begin(house, vendor)
    come_back(house, vendor.consent(made["authorize_url"]))
    query = vendor.consent(authorize(house, made))
    vendor.expire()
    assert house.call("POST", f"/connections/{made['id']}/test").json()["state"] == "working"
    assert vendor.calls == ["authorization_code", "refresh_token"]
    assert come_back(house, query).status_code == 200


def test_a_look_at_the_link_back_does_not_use_it_up(house: House, vendor: Vendor) -> None:
    query = vendor.consent(begin(house, vendor)["authorize_url"])
    assert house.api.head("/oauth/callback", params=query).status_code == 405
    assert come_back(house, query).status_code == 200


@pytest.mark.parametrize("seconds", [10**400, float("inf"), float("nan"), -5, [1], "soon"])
def test_a_token_whose_end_makes_no_sense_is_kept(house: House, vendor: Vendor, seconds: Any) -> None:
    vendor.seconds = seconds
    made = begin(house, vendor)
    assert come_back(house, vendor.consent(made["authorize_url"])).status_code == 200
    assert state_of(house, made)["state"] == "working"


def test_an_account_that_can_do_nothing_is_not_kept(house: House, vendor: Vendor) -> None:
    made = begin(house, vendor)
    vendor.refuses_account = True
    page = come_back(house, vendor.consent(made["authorize_url"]))
    assert (page.status_code, "403" in page.text) == (400, True)
    assert state_of(house, made)["secrets"] == ["client_secret"]
