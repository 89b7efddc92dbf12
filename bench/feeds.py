"""A server of feeds for the benchmark of checks: answers 304 to the validator of what it shows."""

import asyncio
from multiprocessing.connection import Connection

ITEMS = 50


def _document(feed: int, edition: int) -> bytes:
    """Return a feed's document with as many new items as `edition` says, the newest first."""
    items = "".join(
        f"<item><guid isPermaLink='false'>{feed}-{number}</guid><title>Item {number} of feed {feed}</title>"
        f"<link>https://feeds.example/{feed}/{number}</link>"
        f"<description>{'What there is to say about it. ' * 8}</description>"
        f"<pubDate>Mon, 30 Nov 2026 {number // 60 % 24:02}:{number % 60:02}:00 +0000</pubDate></item>"
        for number in range(ITEMS + edition - 1, edition - 1, -1)
    )
    head = f"<title>Feed {feed}</title><link>https://feeds.example/{feed}</link><description>A feed.</description>"
    return f"<?xml version='1.0'?><rss version='2.0'><channel>{head}{items}</channel></rss>".encode()


def serve(pipe: Connection) -> None:
    """Send the port through `pipe`; show one new item more in each feed whenever something is received.

    The number of requests so far is sent back.
    """
    asyncio.run(_serve(pipe))


async def _serve(pipe: Connection) -> None:
    edition = count = 0
    documents: dict[tuple[int, int], bytes] = {}

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal count
        head = await reader.readuntil(b"\r\n\r\n")
        count += 1
        feed = int(head.split(b" ", 2)[1].strip(b"/"))
        etag = f'"{edition}"'
        if f"if-none-match: {etag}".encode() in head.lower():
            writer.write(b"HTTP/1.1 304 Not Modified\r\nConnection: close\r\n\r\n")
        else:
            if (feed, edition) not in documents:
                documents[feed, edition] = _document(feed, edition)
            body = documents[feed, edition]
            fields = f"ETag: {etag}\r\nContent-Type: application/rss+xml\r\nContent-Length: {len(body)}"
            writer.write(f"HTTP/1.1 200 OK\r\n{fields}\r\nConnection: close\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, backlog=256)
    pipe.send(server.sockets[0].getsockname()[1])
    async with server:
        while True:
            if pipe.poll():
                pipe.recv()
                edition += 1
                pipe.send(count)
            await asyncio.sleep(0.01)
