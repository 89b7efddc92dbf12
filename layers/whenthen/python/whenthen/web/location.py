"""The route that phones report to with OwnTracks in HTTP mode."""

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from whenthen.clock import Deadline, now_ms
from whenthen.engine import phones
from whenthen.services.location.owntracks import read_report
from whenthen.web.body import read_body
from whenthen.web.receiving import guarded
from whenthen.wiring import Runtime


def routes(runtime: Runtime) -> list[Route]:
    """Return the route, with and without a trailing slash."""

    async def endpoint(request: Request) -> Response:
        body = await read_body(request, runtime.settings.max_body_bytes)
        return await run_in_threadpool(_take, runtime, request, body)

    return [Route(f"/location/{{key}}{slash}", guarded(endpoint), methods=["POST"]) for slash in ("", "/")]


def _take(runtime: Runtime, request: Request, body: bytes) -> Response:
    """Store where the phone was. While the database is down the app is told so: it keeps what it could not send.

    The answer is a list of messages for the app, here of none (owntracks.org/booklet, "HTTP").
    """
    deadline = Deadline(runtime.settings.intake_timeout_seconds)
    # First the intake: it waits for a database that is down no longer than a phone should.
    _ = runtime.intake
    owner_id = phones.owner_of(runtime.database, request.path_params["key"], deadline)
    names = {name: request.headers.get(f"x-limit-{name}") or request.query_params.get(name, "") for name in ("u", "d")}
    report = read_report(body, names, now_ms() // 1000)
    if report is not None:
        phones.take(runtime.database, owner_id, report, deadline)
    return JSONResponse([])
