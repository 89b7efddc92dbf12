"""The route of buttons."""

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from whenthen.web.body import read_body
from whenthen.web.pages import page
from whenthen.web.receiving import guarded
from whenthen.wiring import Runtime


def routes(runtime: Runtime) -> list[Route]:
    """Return the route of all buttons."""

    async def endpoint(request: Request) -> Response:
        body = await read_body(request, runtime.settings.max_body_bytes)
        return await run_in_threadpool(_answer, runtime, request, body)

    path = "/button/{connection}/{expires}/{signature}"
    return [Route(path, guarded(endpoint, _tell), methods=["GET", "POST"])]


def _answer(runtime: Runtime, request: Request, body: bytes) -> Response:
    # With the service's models, that the cold start of webhooks need not wait for.
    from whenthen.web import button_pages

    return button_pages.answer(runtime, request, body)


def _tell(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    return page("This did not work", message, status=status, headers=headers)
