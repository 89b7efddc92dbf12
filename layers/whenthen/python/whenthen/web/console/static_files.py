"""Styles and programs of the pages: their address changes with their content, so browsers keep them for good."""

import hashlib
from functools import cache
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_FOLDER = Path(__file__).parent / "static"
_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
_DIGEST_LENGTH = 12


@cache
def _contents() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in _FOLDER.iterdir() if path.suffix in _TYPES}


@cache
def address(name: str) -> str:
    """Return the path at which the file of this name is served. Raises `KeyError` when there is none."""
    digest = hashlib.sha256(_contents()[name]).hexdigest()[:_DIGEST_LENGTH]
    return f"/static/{digest}/{name}"


async def _serve(request: Request) -> Response:
    name = request.path_params["name"]
    content = _contents().get(name)
    if content is None:
        raise HTTPException(404)
    # Under the address of another version, a page of before is asking: it is answered, and nobody keeps it.
    kept = request.url.path.endswith(address(name))
    headers = {
        "Cache-Control": "public, max-age=31536000, immutable" if kept else "no-store",
        "X-Content-Type-Options": "nosniff",
    }
    return Response(content, media_type=_TYPES[Path(name).suffix], headers=headers)


def route() -> Route:
    """Return the route of all files."""
    return Route("/static/{digest}/{name}", _serve, methods=["GET"])
