"""Reading feeds in a process of their own.

feedparser takes quadratic time and memory for some texts: 4 MiB of one attribute would keep it busy for days, within
a regular expression that nothing in the same process can interrupt. So each new document is read by a process with
limits, which also has none of our secrets.
"""

import hashlib
import json
import logging
import os
import subprocess
import sys
import threading
from collections import OrderedDict

from whenthen.services.feed.feeds import TOO_HARD, Feed, NotAFeed

logger = logging.getLogger(__name__)

CPU_SECONDS = 10
"""Processor time to read a document; an ordinary one takes a tenth of a second, one of 10,000 items about three."""

WALL_SECONDS = 20
"""The same on the clock."""

MEMORY_BYTES = 512 * 1024 * 1024

_AT_ONCE = threading.BoundedSemaphore(2)
"""A batch of checks must not take the memory of ten such processes."""

REMEMBERED_BYTES = 8 * 1024 * 1024
"""How many bytes of documents are remembered as feeds: triggers that share a feed read it once."""


def read_feed_apart(body: bytes, content_type: str, url: str) -> Feed:
    """Return the feed that a document is, read in a process of its own. The parameters are those of `read_feed`.

    Raises
    ------
    NotAFeed
        It is something else, or can't be read within the limits.
    """
    key = hashlib.sha256(body).hexdigest(), content_type, url
    feed = _memory.find(key)
    if feed is None:
        with _AT_ONCE:
            feed = _read_apart(body, content_type, url)
        _memory.keep(key, feed, len(body))
    return feed


class _Memory:
    """The feeds that were read last, within a number of bytes of their documents."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._feeds: OrderedDict[tuple[str, ...], tuple[Feed, int]] = OrderedDict()
        self._size = 0

    def find(self, key: tuple[str, ...]) -> Feed | None:
        with self._lock:
            if key not in self._feeds:
                return None
            self._feeds.move_to_end(key)
            return self._feeds[key][0]

    def keep(self, key: tuple[str, ...], feed: Feed, size: int) -> None:
        with self._lock:
            if key not in self._feeds:
                self._feeds[key] = feed, size
                self._size += size
            while self._size > REMEMBERED_BYTES:
                _, (_, forgotten) = self._feeds.popitem(last=False)
                self._size -= forgotten


_memory = _Memory()


def _read_apart(body: bytes, content_type: str, url: str) -> Feed:
    order = {"cpu_seconds": CPU_SECONDS, "memory_bytes": MEMORY_BYTES, "content_type": content_type, "url": url}
    environment = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    # Where the interpreter itself may be found.
    environment |= {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "PYTHONHOME") if name in os.environ}
    try:
        done = subprocess.run(
            [sys.executable, "-S", "-P", "-m", "whenthen.services.feed.child"],
            input=json.dumps(order).encode() + b"\n" + body,
            env=environment,
            capture_output=True,
            timeout=WALL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise NotAFeed(TOO_HARD) from error
    if done.returncode < 0:  # ended by a limit
        raise NotAFeed(TOO_HARD)
    if done.returncode > 0:
        logger.error("reading a feed failed: %s", done.stderr.decode(errors="replace")[-2000:])
        raise NotAFeed("The document could not be read as a feed; whenthen's log says why.")
    answer = json.loads(done.stdout)
    if "failure" in answer:
        raise NotAFeed(answer["failure"])
    return Feed.read(answer["feed"])
