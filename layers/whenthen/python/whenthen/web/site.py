"""What the console function serves: pages for people, the management API for programs."""

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from whenthen.web import api
from whenthen.web.console import routes as pages
from whenthen.web.console.serving import endpoint
from whenthen.web.console.visit import Visit
from whenthen.web.problems import from_error
from whenthen.wiring import Runtime


def routes(runtime: Runtime) -> list[Route]:
    """Return the routes of API and pages."""
    return api.routes(runtime) + pages.routes(runtime)


def make_app(runtime: Runtime, *others: Route) -> Starlette:
    """Return the ASGI app.

    Parameters
    ----------
    others:
        Routes that come first.
    """

    async def http_error(request: Request, error: Exception) -> Response:
        # What the router refuses: no such path, wrong method.
        if request.url.path.startswith("/api/") or "text/html" not in request.headers.get("accept", ""):
            return from_error(error)

        def refuse(_visit: Visit) -> Response:
            raise error

        # Whatever the method, and whatever form came along, it is not looked at.
        asked = Request({**request.scope, "method": "GET"}, request.receive)
        return await endpoint(runtime, {"GET": refuse}, for_everybody=True)(asked)

    return Starlette(routes=[*others, *routes(runtime)], exception_handlers={HTTPException: http_error})
