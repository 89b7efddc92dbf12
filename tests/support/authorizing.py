"""A service with OAuth 2 as vendors run it: it checks what it is sent, and what was used once works no second time."""

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from typing import Annotated, Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

from pydantic import Field

from tests.support.sink import _Server
from whenthen.net.messages import Answer, Request
from whenthen.services.answers import json_object, read_status
from whenthen.services.connecting import ConnectionType, OAuth, Test, Token
from whenthen.services.contract import Action, Fields, Service
from whenthen.services.work import Meaning, Reading, Send, Task

type _Said = tuple[int, Mapping[str, Any]] | None

CLIENT = ("client-1", "client-secret-1")


@dataclass
class _Code:
    redirect_uri: str
    challenge: str
    used: bool = False


@dataclass
class _Family:
    """A consent: its present pair. Whoever uses an older refresh token ends it (RFC 9700 4.14.2)."""

    access: str = ""
    refresh: str = ""
    older: set[str] = field(default_factory=set)
    revoked: bool = False


class Vendor:
    """The service on a free loopback port. Use as a context manager.

    Attributes:
        calls: grants that were asked for, in order.
        said: how to answer token requests instead, the first one first: status and JSON, or None for no answer at all.
        seconds: the `expires_in` of tokens, left out when None.
        delay: seconds that each token request takes.
        rotates: whether each refresh gives another refresh token.
        posts: bodies that were posted with a good token.
        refused: how many requests came with another one, each answered with the status `refusal`.
        scope: what has to be asked for.
        events: ids that it shows as a partner, the newest first (PROTOCOLS.md B.3).
    """

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.said: list[_Said] = []
        self.seconds: Any = 3600
        self.delay = 0.0
        self.rotates = True
        self.posts: list[bytes] = []
        self.refused = 0
        self.scope = "read write"
        self.events: list[str] = []
        self.refuses_account = False
        self.refusal = 401
        self._codes: dict[str, _Code] = {}
        self._families: list[_Family] = []
        self._lock = threading.Lock()
        self._held = ""
        self._is_held = threading.Event()
        self._go_on = threading.Event()
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> "Vendor":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def consent(self, authorize_url: str) -> dict[str, str]:
        """The person says yes at this URL; the query that their browser brings back."""
        parts = urlsplit(authorize_url)
        asked = dict(parse_qsl(parts.query))
        assert parts.path == "/authorize"
        assert (asked["response_type"], asked["client_id"], asked["scope"]) == ("code", CLIENT[0], self.scope)
        assert (asked["code_challenge_method"], len(asked["code_challenge"])) == ("S256", 43)
        assert asked["prompt"] == "consent"
        code = secrets.token_urlsafe(8)
        self._codes[code] = _Code(asked["redirect_uri"], asked["code_challenge"])
        return {"code": code, "state": asked["state"]}

    def give(self, token: str) -> None:
        """Accept a token that was given by hand."""
        self._families.append(_Family(access=token))

    def expire(self) -> None:
        """No access token that was given is accepted any more."""
        for family in self._families:
            family.access = ""

    def revoke(self) -> None:
        """Nothing that was given works any more."""
        for family in self._families:
            family.revoked = True

    @contextmanager
    def held(self, path: str) -> Iterator[None]:
        """Requests to this path are answered at the end of the block."""
        self._held = path
        try:
            yield
        finally:
            self._go_on.set()

    def wait_for_one(self) -> None:
        """Wait until a request is held."""
        assert self._is_held.wait(10)

    def accepts(self, token: str) -> bool:
        """Whether an access token works."""
        return any(token and token == family.access and not family.revoked for family in self._families)

    def _token(self, form: Mapping[str, str], headers: Mapping[str, str]) -> tuple[int, Mapping[str, Any]] | None:
        if (
            headers.get("content-type") != "application/x-www-form-urlencoded"
            or headers.get("accept") != "application/json"
        ):
            return 400, {"error": "invalid_request"}
        time.sleep(self.delay)
        with self._lock:
            self.calls.append(form.get("grant_type", ""))
            if self.said:
                return self.said.pop(0)
            if (form.get("client_id"), form.get("client_secret")) != CLIENT:
                return 401, {"error": "invalid_client"}
            family = self._by_code(form) if form["grant_type"] == "authorization_code" else self._by_refresh(form)
            return (400, {"error": "invalid_grant"}) if family is None else (200, self._pair(family))

    def _by_code(self, form: Mapping[str, str]) -> _Family | None:
        code = self._codes.get(form.get("code", ""))
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if code is None or code.used or code.redirect_uri != form.get("redirect_uri") or code.challenge != challenge:
            return None
        code.used = True
        self._families.append(_Family())
        return self._families[-1]

    def _by_refresh(self, form: Mapping[str, str]) -> _Family | None:
        token = form.get("refresh_token", "")
        for family in self._families:
            if token in family.older:
                family.revoked = True
            if token == family.refresh and not family.revoked:
                return family
        return None

    def _pair(self, family: _Family) -> dict[str, Any]:
        family.access = f"at-{secrets.token_hex(8)}"
        answer: dict[str, Any] = {"access_token": family.access, "token_type": "Bearer"}
        if self.rotates or not family.refresh:
            family.older.add(family.refresh)
            family.refresh = answer["refresh_token"] = f"rt-{secrets.token_hex(8)}"
        if self.seconds is not None:
            answer["expires_in"] = self.seconds
        return answer

    def _answer(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, Mapping[str, Any]] | None:
        if path == self._held:
            self._is_held.set()
            assert self._go_on.wait(10)
        if path == "/token" and method == "POST":
            return self._token({name: values[0] for name, values in parse_qs(body.decode()).items()}, headers)
        if not self.accepts(headers.get("authorization", "").removeprefix("Bearer ")):
            with self._lock:
                self.refused += 1
            return self.refusal, {"message": "Bad credentials"}
        if path == "/me":
            return (403, {"message": "no"}) if self.refuses_account else (200, {"login": "ada"})
        if path.startswith("/ifttt/v1/"):
            return 200, {"data": [{"meta": {"id": name, "timestamp": 1_790_000_000}} for name in self.events]}
        with self._lock:
            self.posts.append(body)
        return 200, {}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        vendor = self

        class Handler(BaseHTTPRequestHandler):
            def _do(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", "0")))
                headers = {name.lower(): value for name, value in self.headers.items()}
                answer = vendor._answer(self.command, self.path, headers, body)
                self.close_connection = True
                if answer is None:
                    return
                text = json.dumps(answer[1]).encode()
                self.send_response(answer[0])
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = _do  # noqa: N815

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler


class VendorFields(Fields):
    """A connection to the vendor."""

    url: Annotated[str, Field(min_length=1)]
    token: Token = ""
    client_id: str = ""
    client_secret: Token = ""
    note: str = ""


class PostFields(Fields):
    """What to post."""

    text: str


def _test(fields: VendorFields) -> Test:
    return Test(Request("GET", f"{fields.url}/me", (("Authorization", f"Bearer {fields.token}"),)), _account)


def _account(answer: Answer) -> str | Reading:
    reading = read_status(answer, str(json_object(answer).get("message", "")))
    return f"@{json_object(answer)['login']}" if reading.meaning is Meaning.SUCCEEDED else reading


def _post(task: Task[PostFields]) -> Send:
    headers = (("Authorization", f"Bearer {task.account.token}"),)
    request = Request("POST", f"{task.account.url}/posts", headers, task.fields.text.encode())
    return Send(request, repeatable=False, read=_read_post)


def _read_post(answer: Answer) -> Reading:
    said = str(json_object(answer).get("message", ""))
    reading = read_status(answer, said)
    # Some services tell with 403 that a token has ended (F10).
    return replace(reading, meaning=Meaning.UNAUTHORIZED) if said == "Bad credentials" else reading


SERVICE = Service(
    slug="vendor",
    name="Vendor",
    actions=(Action("post", "Post", "Posts.", PostFields, _post, connects="vendor"),),
    connection=ConnectionType(
        fields=VendorFields,
        description="An account at the vendor.",
        test=_test,
        oauth=OAuth(
            authorize_url=lambda fields: f"{fields.url}/authorize?prompt=consent",
            token_url=lambda fields: f"{fields.url}/token",
            scope="read write",
        ),
    ),
)


def register(set_item: Any) -> None:
    """Put the service into the catalogue, with `monkeypatch.setitem` or alike."""
    from whenthen.services import registry

    set_item(registry.SERVICES, SERVICE.slug, SERVICE)


@contextmanager
def registered() -> Iterator[None]:
    """The service in the catalogue of this process."""
    from whenthen.services import registry

    registry.SERVICES[SERVICE.slug] = SERVICE
    try:
        yield
    finally:
        del registry.SERVICES[SERVICE.slug]
