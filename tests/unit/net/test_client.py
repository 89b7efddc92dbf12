"""What the client sends, and what it makes of the answers."""

import gzip
from concurrent.futures import ThreadPoolExecutor

import pytest

from whenthen.net import GuardedClient, InvalidRequest, NotSent, RedirectRefused, Request


def echo(handler) -> None:
    body = handler.path.encode()
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def test_request_arrives_as_given_and_answer_comes_back(client: GuardedClient, serve, reply) -> None:
    server = serve({"/in?a=1": reply(418, {"X-Tea": "Oolong"}, b"short and stout")})
    url = f"http://service.test:{server.port}/in?a=1#fragment"
    answer = client.send(Request("POST", url, (("X-A", "1"), ("Content-Type", "text/plain")), b"hello"))
    assert (answer.status, answer.body, answer.truncated) == (418, b"short and stout", False)
    assert answer.headers["x-tea"] == "Oolong"
    assert answer.url == url.removesuffix("#fragment")
    (received,) = server.received
    assert (received.method, received.path, received.body) == ("POST", "/in?a=1", b"hello")
    assert received.headers["host"] == f"service.test:{server.port}"
    assert received.headers["x-a"] == "1"
    assert received.headers["user-agent"].startswith("whenthen/")
    assert received.headers["content-length"] == "5"


def test_head_and_empty_answers(client: GuardedClient, serve, reply) -> None:
    server = serve({"/": reply(200, {"Content-Length": "5000", "Content-Encoding": "gzip"})})
    answer = client.send(Request("HEAD", f"http://service.test:{server.port}/"))
    assert (answer.status, answer.body, answer.truncated) == (200, b"", False)


def test_header_injection_is_refused_before_anything_is_sent(client: GuardedClient, serve) -> None:
    server = serve()
    with pytest.raises(InvalidRequest):
        client.send(Request("GET", f"http://service.test:{server.port}/", (("X-A", "1\r\nX-B: 2"),)))
    assert server.received == []


def test_cookies_are_not_kept(client: GuardedClient, serve, reply) -> None:
    server = serve({"/": reply(302, {"Set-Cookie": "a=b", "Location": "/two"})})
    for _ in range(2):
        client.send(Request("GET", f"http://service.test:{server.port}/"))
    assert len(server.received) == 4
    assert not any("cookie" in received.headers for received in server.received)


def test_connections_are_not_kept(client: GuardedClient, serve, reply) -> None:
    server = serve({"/": lambda handler: reply(200, {}, str(handler.client_address[1]).encode())(handler)})
    ports = {client.send(Request("GET", f"http://service.test:{server.port}/")).body for _ in range(3)}
    assert len(ports) == 3
    assert server.received[0].headers["connection"] == "close"


def test_post_to_an_address_that_has_moved_is_not_done_by_a_get(client: GuardedClient, serve, reply) -> None:
    """Given a 301, then what was to be posted is not taken for posted because a GET of the new address succeeds."""
    server = serve({"/": reply(301, {"Location": "/new"}), "/new": echo})
    with pytest.raises(RedirectRefused, match="moved for good") as raised:
        client.send(Request("POST", f"http://service.test:{server.port}/", body=b"x"))
    assert raised.value.status == 301
    assert client.send(Request("GET", f"http://service.test:{server.port}/")).status == 200


def test_post_redirected_by_303_becomes_get(client: GuardedClient, serve, reply) -> None:
    server = serve({"/": reply(303, {"Location": "/done"}), "/done": echo})
    answer = client.send(Request("POST", f"http://service.test:{server.port}/", (), b"x"))
    assert (answer.status, answer.body) == (200, b"/done")
    assert answer.url == f"http://service.test:{server.port}/done"
    assert [(r.method, r.body) for r in server.received] == [("POST", b"x"), ("GET", b"")]


def test_headers_stay_with_their_origin(client: GuardedClient, serve, reply) -> None:
    other = serve()
    server = serve(
        {
            "/": reply(307, {"Location": "/same"}),
            "/same": reply(307, {"Location": f"http://other.test:{other.port}/"}),
        }
    )
    headers = (("Authorization", "secret"), ("X-Api-Key", "secret"), ("Idempotency-Key", "1.0"))
    client.send(Request("POST", f"http://service.test:{server.port}/", headers, b"x"))
    assert [r.headers.get("x-api-key") for r in server.received] == ["secret", "secret"]
    (received,) = other.received
    assert "secret" not in received.headers.values()
    assert (received.method, received.body, received.headers["idempotency-key"]) == ("POST", b"x", "1.0")


def test_headers_do_not_come_back_with_the_way_back(client: GuardedClient, serve, reply) -> None:
    routes: dict = {}
    server, other = serve(routes), serve({"/": lambda handler: reply(302, {"Location": back})(handler)})
    back = f"http://service.test:{server.port}/back"
    routes["/"] = reply(302, {"Location": f"http://other.test:{other.port}/"})
    client.send(Request("GET", f"http://service.test:{server.port}/", (("X-Api-Key", "secret"),)))
    assert [r.headers.get("x-api-key") for r in server.received] == ["secret", None]


@pytest.mark.parametrize(
    ("chain", "moved_to"),
    [
        ([], None),
        ([301], "/1"),
        ([308], "/1"),
        ([302], None),
        ([303], None),
        ([307], None),
        ([301, 308, 301], "/3"),
        ([301, 302], "/1"),
        ([301, 302, 301], "/1"),
        ([302, 301], None),
    ],
)
def test_moved_for_good_as_far_as_all_redirects_are(
    client: GuardedClient, serve, reply, chain: list[int], moved_to: str | None
) -> None:
    routes = {f"/{n}": reply(status, {"Location": f"/{n + 1}#part"}) for n, status in enumerate(chain)}
    server = serve(routes | {f"/{len(chain)}": echo})
    base = f"http://service.test:{server.port}"
    answer = client.send(Request("GET", f"{base}/0"))
    assert (answer.status, answer.url) == (200, f"{base}/{len(chain)}")
    assert answer.moved_to == (f"{base}{moved_to}" if moved_to else "")


def test_moved_for_good_to_another_origin(client: GuardedClient, serve, reply) -> None:
    other = serve({"/b": reply(404)})
    server = serve({"/a": reply(301, {"Location": f"http://other.test:{other.port}/b"})})
    answer = client.send(Request("GET", f"http://service.test:{server.port}/a"))
    assert (answer.status, answer.moved_to) == (404, f"http://other.test:{other.port}/b")


def test_what_may_not_move_is_sent_once(client: GuardedClient, serve, reply) -> None:
    """A body with a secret does not go on to whom a 307 names."""
    other = serve({"/": reply(200)})
    server = serve({"/": reply(307, {"Location": f"http://other.test:{other.port}/"})})
    answer = client.send(Request("POST", f"http://service.test:{server.port}/", (), b"secret", may_move=False))
    assert (answer.status, other.received) == (307, [])


def test_a_permanent_redirect_without_a_location_leads_nowhere(client: GuardedClient, serve, reply) -> None:
    server = serve({"/": reply(301)})
    answer = client.send(Request("GET", f"http://service.test:{server.port}/"))
    assert (answer.status, answer.moved_to) == (301, "")


def test_redirects_are_counted(make_client, serve, reply) -> None:
    server = serve({f"/{n}": reply(302, {"Location": f"/{n + 1}"}) for n in range(9)})
    client = make_client(max_redirects=3)
    assert client.send(Request("GET", f"http://service.test:{server.port}/6")).status == 204
    with pytest.raises(RedirectRefused) as raised:
        client.send(Request("GET", f"http://service.test:{server.port}/0"))
    assert raised.value.status == 302
    assert [r.path for r in server.received] == ["/6", "/7", "/8", "/9", "/0", "/1", "/2", "/3"]


@pytest.mark.parametrize(
    "location", ["file:///etc/passwd", "ftp://other.test/", "http://user:pw@other.test/", "http://["]
)
def test_g02_redirect_to_what_is_no_url_of_ours_is_refused(client, serve, reply, location: str) -> None:
    server = serve({"/": reply(302, {"Location": location})})
    with pytest.raises(RedirectRefused) as raised:
        client.send(Request("POST", f"http://service.test:{server.port}/"))
    assert raised.value.status == 302
    assert "pw" not in str(raised.value)


def test_body_beyond_the_limit_is_cut(client: GuardedClient, serve, reply) -> None:
    server = serve({"/": reply(200, {}, b"a" * (3 * 1024 * 1024))})
    answer = client.send(Request("GET", f"http://service.test:{server.port}/"))
    assert (answer.status, len(answer.body), answer.truncated) == (200, 1024 * 1024, True)


def test_gzip_is_undone(client: GuardedClient, serve, reply) -> None:
    server = serve({"/": reply(200, {"Content-Encoding": "GZIP"}, gzip.compress(b"hello"))})
    answer = client.send(Request("GET", f"http://service.test:{server.port}/"))
    assert (answer.body, answer.truncated) == (b"hello", False)


def test_decompression_bomb_is_cut_at_the_limit(client: GuardedClient, serve, reply) -> None:
    bomb = gzip.compress(bytes(200 * 1024 * 1024), compresslevel=9)
    server = serve({"/": reply(200, {"Content-Encoding": "gzip"}, bomb)})
    answer = client.send(Request("GET", f"http://service.test:{server.port}/"))
    assert (answer.status, answer.body, answer.truncated) == (200, bytes(1024 * 1024), True)


@pytest.mark.parametrize("coding", ["gzip, gzip", "br", "deflate"])
def test_other_codings_are_left_as_they_came(client: GuardedClient, serve, reply, coding: str) -> None:
    server = serve({"/": reply(200, {"Content-Encoding": coding}, b"packed")})
    answer = client.send(Request("GET", f"http://service.test:{server.port}/"))
    assert (answer.body, answer.headers["content-encoding"]) == (b"packed", coding)


def test_ten_threads_share_a_client(client: GuardedClient, serve) -> None:
    paths = [f"/{n}" for n in range(200)]
    server = serve(dict.fromkeys(paths, echo))
    with ThreadPoolExecutor(10) as pool:
        answers = pool.map(lambda path: client.send(Request("GET", f"http://service.test:{server.port}{path}")), paths)
        assert [answer.body.decode() for answer in answers] == paths


def test_closed_client_sends_nothing(client: GuardedClient, serve) -> None:
    server = serve()
    client.close()
    with pytest.raises(NotSent):
        client.send(Request("GET", f"http://service.test:{server.port}/"))
    assert server.received == []
