"""The cheapest target that an action can have: reads a request, counts it, answers 200 and closes."""

import asyncio
from multiprocessing.connection import Connection

_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"


def serve(pipe: Connection) -> None:
    """Send the port through `pipe`, then the number of requests so far whenever something is received."""
    asyncio.run(_serve(pipe))


async def _serve(pipe: Connection) -> None:
    count = 0

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal count
        head = await reader.readuntil(b"\r\n\r\n")
        for line in head.lower().split(b"\r\n"):
            if line.startswith(b"content-length:"):
                await reader.readexactly(int(line.partition(b":")[2]))
        count += 1
        writer.write(_ANSWER)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, backlog=256)
    pipe.send(server.sockets[0].getsockname()[1])
    async with server:
        while True:
            if pipe.poll():
                pipe.recv()
                pipe.send(count)
            await asyncio.sleep(0.02)
