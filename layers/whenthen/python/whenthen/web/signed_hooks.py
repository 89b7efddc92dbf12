"""The routes of signed webhooks."""

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from whenthen.web.body import read_body
from whenthen.web.receiving import guarded
from whenthen.wiring import Runtime


def routes(runtime: Runtime) -> list[Route]:
    """Return the routes, with and without a trailing slash."""

    async def endpoint(request: Request) -> Response:
        body = await read_body(request, runtime.settings.max_body_bytes)
        return await run_in_threadpool(_answer, runtime, request, body)

    return [Route(f"/hooks/{{connection}}{slash}", guarded(endpoint), methods=["GET", "POST"]) for slash in ("", "/")]


def _answer(runtime: Runtime, request: Request, body: bytes) -> Response:
    # With the service's models, that the cold start of other webhooks need not wait for.
    from whenthen.web import signed_requests

    return signed_requests.answer(runtime, request, body)
