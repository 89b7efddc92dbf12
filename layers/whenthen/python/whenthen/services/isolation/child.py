"""The process that reads a document: it comes in and what was read goes out, on the standard streams."""

import importlib
import json
import resource
import sys
from contextlib import suppress

from whenthen.services.isolation.errors import TOO_HARD, NotRead

MAX_ANSWER_BYTES = 32 * 1024 * 1024
"""The most that is given back; an ordinary feed is about as large as its document."""


def main() -> None:
    """Read a line of JSON and a document from standard input, and write what was read or the failure as JSON.

    The line holds ``cpu_seconds``, ``memory_bytes``, ``program`` and ``order``, see `apart.read_apart`. What goes
    beyond the limits ends the process.
    """
    head = json.loads(sys.stdin.buffer.readline())
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_CPU, head["cpu_seconds"])
    _limit(resource.RLIMIT_AS, head["memory_bytes"])
    body = sys.stdin.buffer.read()
    answer: dict[str, object]
    try:
        answer = {"read": importlib.import_module(head["program"]).read(body, **head["order"])}
    except NotRead as error:
        answer = {"failure": str(error)}
    except MemoryError:
        answer = {"failure": TOO_HARD}
    written = json.dumps(answer).encode()
    if len(written) > MAX_ANSWER_BYTES:
        # Links that are resolved against a long address can make a feed many times its size.
        written = json.dumps({"failure": TOO_HARD}).encode()
    sys.stdout.buffer.write(written)


def _limit(kind: int, most: int) -> None:
    # Not every system lets every limit be set, and one below may be in force already.
    with suppress(ValueError, OSError):
        resource.setrlimit(kind, (most, most))


if __name__ == "__main__":
    main()
