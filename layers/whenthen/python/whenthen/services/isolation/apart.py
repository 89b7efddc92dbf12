"""Reading a document in a process of its own.

The libraries that read feeds, calendars and pages take quadratic time or memory for some texts: 4 MiB of one
attribute would keep feedparser busy for days, within a regular expression that nothing in the same process can
interrupt. So each new document is read by a process with limits, which also has none of our secrets.
"""

import hashlib
import json
import logging
import os
import subprocess
import sys
import threading
from collections import OrderedDict
from typing import Any

from whenthen.services.isolation.errors import TOO_BUSY, TOO_HARD, NotRead

logger = logging.getLogger(__name__)

CPU_SECONDS = 6
"""Processor time to read a document; an ordinary one takes a fifth of a second, most of it imports."""

WALL_SECONDS = 12
"""The same on the clock."""

WAIT_SECONDS = 20
"""How long to wait for others that are read: a batch of checks has less than a minute."""

MEMORY_BYTES = 512 * 1024 * 1024

REMEMBERED_BYTES = 8 * 1024 * 1024
"""How many bytes of documents are remembered as what was read: triggers that share a source read it once."""

_AT_ONCE = threading.BoundedSemaphore(2)
"""A batch of checks must not take the memory of ten such processes."""


def read_apart(program: str, body: bytes, **order: Any) -> Any:
    """Return what a program reads in a document, as plain JSON values that must not be changed.

    Parameters
    ----------
    program:
        A module of ours with a function ``read(body, **order)``. It raises `NotRead` for what it can't read.
    body:
        The document.
    order:
        What else the program is to know; plain JSON values.

    Raises
    ------
    NotRead
        The program says so, or reading would go beyond the limits.
    """
    key = program, json.dumps(order, sort_keys=True), hashlib.sha256(body).hexdigest()
    answer = _memory.find(key)
    if answer is None:
        if not _AT_ONCE.acquire(timeout=WAIT_SECONDS):
            raise NotRead(TOO_BUSY)
        try:
            answer = _run(program, body, order)
        finally:
            _AT_ONCE.release()
        _memory.keep(key, answer, len(body))
    if "failure" in answer:
        raise NotRead(answer["failure"])
    return answer["read"]


def _run(program: str, body: bytes, order: dict[str, Any]) -> dict[str, Any]:
    head = {"cpu_seconds": CPU_SECONDS, "memory_bytes": MEMORY_BYTES, "program": program, "order": order}
    environment = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    # Where the interpreter itself may be found.
    environment |= {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "PYTHONHOME") if name in os.environ}
    try:
        done = subprocess.run(
            [sys.executable, "-S", "-P", "-m", "whenthen.services.isolation.child"],
            input=json.dumps(head).encode() + b"\n" + body,
            env=environment,
            capture_output=True,
            timeout=WALL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"failure": TOO_HARD}
    if done.returncode < 0:  # ended by a limit
        return {"failure": TOO_HARD}
    if done.returncode > 0:
        logger.error("reading a document failed: %s", done.stderr.decode(errors="replace")[-2000:])
        raise NotRead("The document could not be read; whenthen's log says why.")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


class _Memory:
    """What was read last, within a number of bytes of documents."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: OrderedDict[tuple[str, ...], tuple[dict[str, Any], int]] = OrderedDict()
        self._size = 0

    def find(self, key: tuple[str, ...]) -> dict[str, Any] | None:
        with self._lock:
            if key not in self._answers:
                return None
            self._answers.move_to_end(key)
            return self._answers[key][0]

    def keep(self, key: tuple[str, ...], answer: dict[str, Any], size: int) -> None:
        with self._lock:
            if key not in self._answers:
                self._answers[key] = answer, size
                self._size += size
            while self._size > REMEMBERED_BYTES:
                _, (_, forgotten) = self._answers.popitem(last=False)
                self._size -= forgotten


_memory = _Memory()
