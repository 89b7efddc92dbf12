"""Where a redirect leads, and what goes along. Pure: the caller sends the new request through all checks."""

from whenthen.net.messages import Answer, Request
from whenthen.net.urls import join_url, parse_url, same_origin

_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_PERMANENT = frozenset((301, 308))

# What another origin may see. All else that the caller set may be a credential, whatever its name.
_KEPT_ACROSS_ORIGINS = frozenset(("accept", "accept-language", "content-type", "user-agent", "idempotency-key"))


def is_redirect(answer: Answer) -> bool:
    """Say if `answer` sends us elsewhere. Without a Location it is an answer like any other."""
    return answer.status in _REDIRECTS and bool(answer.headers.get("location"))


def is_permanent(answer: Answer) -> bool:
    """Say if a redirect is for good (RFC 9110, 15.4.2 and 15.4.9)."""
    return answer.status in _PERMANENT


def redirected(request: Request, answer: Answer) -> Request:
    """Return the request that follows a redirect (RFC 9110 15.4).

    301 and 302 turn POST into GET, 303 turns all but HEAD into GET, each without the body and the headers
    that describe it. 307 and 308 keep both. On another origin most headers are dropped.

    Raises
    ------
    InvalidUrl
        The Location is not a URL that we call.
    """
    target = join_url(answer.url, answer.headers["location"])
    method, headers, body = request.method, request.headers, request.body
    if (answer.status in (301, 302) and method == "POST") or (answer.status == 303 and method != "HEAD"):
        method, body = "GET", None
        headers = tuple(header for header in headers if not header[0].lower().startswith("content-"))
    if not same_origin(parse_url(answer.url), target):
        headers = tuple(header for header in headers if header[0].lower() in _KEPT_ACROSS_ORIGINS)
    return Request(method, str(target), headers, body)
