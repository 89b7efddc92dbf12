"""Taking arrivals in, and saying why not: what all routes of the trigger function share."""

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from whenthen.clock import Deadline
from whenthen.engine import watching
from whenthen.engine.arrivals import MAX_INGREDIENTS_BYTES, Arrival
from whenthen.engine.connections.errors import ConnectionUnusable, SecretsShut
from whenthen.engine.intake import Reservation
from whenthen.errors import FieldError, NotConfigured, Refused, TooLarge, Unavailable
from whenthen.metrics import Metric, count
from whenthen.store.errors import InvalidText, NotReady, ScriptTooLong, StoreError
from whenthen.store.literals import check_text
from whenthen.store.units import run_unit
from whenthen.wiring import Runtime

if TYPE_CHECKING:
    from whenthen.engine.connections.accounts import Account

logger = logging.getLogger(__name__)

type Endpoint = Callable[[Request], Awaitable[Response]]
type Tell = Callable[[int, str, dict[str, str] | None], Response]

EVENT_ID_HEADER = "X-Event-Id"
"""Names the event that a webhook has become, the same each time it arrives; absent while it is not stored."""

_CONNECTION_ID = re.compile(r"[0-9a-f]{32}")


def errors(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    """Return an error as Maker's clients know it (PROTOCOLS.md 1)."""
    return JSONResponse({"errors": [{"message": message}]}, status, headers)


def guarded(endpoint: Endpoint, tell: Tell = errors) -> Endpoint:
    """Return the endpoint with its errors told, and HEAD refused: a link preview must not fire an event.

    Parameters
    ----------
    tell:
        Makes the answer of a status, a message and headers.
    """

    async def inner(request: Request) -> Response:
        if request.method == "HEAD":
            return tell(405, "Use GET or POST.", {"Allow": "GET, POST"})
        try:
            return await endpoint(request)
        except Refused as error:
            return tell(401, str(error), None)
        except (TooLarge, ScriptTooLong):
            return tell(413, "The body is too large.", None)
        except (FieldError, InvalidText) as error:
            return tell(400, f"{error}.", None)
        except (NotReady, NotConfigured) as error:
            logger.error("%s", error)
            return tell(503, "The database is not ready. Try again later.", {"Retry-After": "60"})
        except (StoreError, Unavailable) as error:
            logger.error("an event could be stored nowhere: %s", error)
            return tell(503, "The event could not be stored. Try again later.", {"Retry-After": "30"})

    return inner


def check_ingredients(ingredients: Mapping[str, str]) -> None:
    """Check that ingredients can be stored, also while nothing listens or the database is down.

    Raises
    ------
    InvalidText
        One can't.
    """
    for name, value in ingredients.items():
        check_text(value, name)


def open_connection(runtime: Runtime, connection_id: str, service: str, deadline: Deadline) -> "Account":
    """Return the connection that a path names. While the database is down, as it was when it was last read.

    Raises
    ------
    ConnectionUnusable
        There is none.
    Unavailable
        Its secrets don't open: a wrong key is no reason to tell the sender that it has signed wrongly.
    StoreError
        The database can't be asked, and this process has not read it yet.
    """
    if not _CONNECTION_ID.fullmatch(connection_id):
        raise ConnectionUnusable
    # First the intake: it waits for a database that is down no longer than a webhook may.
    _ = runtime.intake
    accounts = runtime.accounts
    try:
        return run_unit(lambda: accounts.find(connection_id, service, deadline), deadline=deadline, repeatable=True)
    except NotReady:
        raise
    except SecretsShut as error:
        raise Unavailable(str(error)) from error
    except StoreError:
        known = accounts.remembered(connection_id, service)
        if known is None:
            raise
        return known


def store(runtime: Runtime, arrival: Arrival, deadline: Deadline) -> Reservation | None:
    """Store the arrival in the database or, when that can't take it now, in the intake queue; then return None.

    Raises
    ------
    UnknownKey, TooLarge, InvalidText, ScriptTooLong
        It can never be stored, see `Intake.accept`.
    NotReady, Unavailable
        It can be stored nowhere now.
    """
    try:
        return runtime.intake.accept(arrival, deadline)
    except (NotReady, InvalidText, ScriptTooLong):
        raise
    except StoreError as error:
        message = arrival.to_json()
        if len(message.encode()) > MAX_INGREDIENTS_BYTES:
            # The database would not take it later either.
            raise TooLarge from error
        # The arrival's ids are fixed, so a write that did get through makes this one a duplicate.
        runtime.arrivals.send([message])
        count(Metric.SENT_TO_INTAKE_QUEUE)
        logger.warning("an event went to the intake queue: %s", error, extra=watching.arrival(arrival))
        return None


def event_header(reservation: Reservation | None) -> dict[str, str]:
    """Return the header that names the stored event, if there is one."""
    if reservation is None or reservation.event_id is None:
        return {}
    return {EVENT_ID_HEADER: reservation.event_id}
