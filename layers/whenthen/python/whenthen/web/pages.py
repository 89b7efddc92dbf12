"""Pages that need no program in the browser: one style, no script, and a policy that lets nothing else in."""

import base64
import hashlib
from html import escape

from starlette.responses import HTMLResponse, Response

_STYLE = (
    "body{font:1.1rem/1.5 system-ui,sans-serif;margin:0;display:grid;min-height:100vh;place-items:center}"
    "main{padding:2rem;max-width:30rem;text-align:center}"
    "button{font:inherit;padding:1rem 2rem;border:0;border-radius:.5rem;background:#1a5fb4;color:#fff;cursor:pointer}"
)
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()

_HEADERS = {
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
    "Cache-Control": "no-store",
}


def page(
    title: str, text: str = "", *, form: str = "", status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """Return a page.

    Parameters
    ----------
    title, text:
        Plain text.
    form:
        HTML after the text.
    """
    paragraph = f"<p>{escape(text)}</p>" if text else ""
    html = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>"
        f"<body><main><h1>{escape(title)}</h1>{paragraph}{form}</main></body></html>"
    )
    return HTMLResponse(html, status, {**_HEADERS, **(headers or {})})
