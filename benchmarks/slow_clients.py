"""Clients of a page's server that let it wait, to be run beside others that work.

    python benchmarks/slow_clients.py PORT [--clients N] [--seconds S]

One in four each: headers that come a byte a second and never end; silence after a request; many
requests whose replies are read a byte a second; a body that comes a byte a second. Whoever is hung
up on comes again at once, so that there are always as many. `benchmarks/web.py --slow N` starts
this beside its users.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import socket
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable

PAUSE = 1.0  # seconds between two bytes
Reader, Writer = asyncio.StreamReader, asyncio.StreamWriter


async def headers(_: Reader, writer: Writer, __: str) -> None:
    """Headers that never end."""
    writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nX-")
    while True:
        writer.write(b"a")
        await writer.drain()
        await asyncio.sleep(PAUSE)


async def silence(reader: Reader, writer: Writer, head: str) -> None:
    """One request, and then nothing."""
    writer.write(f"GET /static/style.css HTTP/1.1\r\n{head}\r\n".encode())
    while await reader.read(2**16):
        pass


async def reading(reader: Reader, writer: Writer, head: str) -> None:
    """Many requests whose replies are hardly read."""
    writer.write(f"GET /static/main.js HTTP/1.1\r\n{head}\r\n".encode() * 1000)
    while await reader.read(1):
        await asyncio.sleep(PAUSE)


async def body(_: Reader, writer: Writer, head: str) -> None:
    """A body that takes its time."""
    writer.write(
        f"POST /api/models?ending=.json HTTP/1.1\r\n{head}Content-Length: 1000\r\n\r\n".encode()
    )
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(PAUSE)


KINDS: tuple[Callable[[Reader, Writer, str], Awaitable[None]], ...] = (
    headers,
    silence,
    reading,
    body,
)


async def client(number: int, port: int, head: str, came: Counter[str]) -> None:
    """One client, who comes again whenever it is hung up on."""
    kind = KINDS[number % len(KINDS)]
    while True:
        line = socket.socket()
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.setblocking(False)
        writer = None
        try:
            await asyncio.get_running_loop().sock_connect(line, ("127.0.0.1", port))
            came[kind.__name__] += 1
            reader, writer = await asyncio.open_connection(sock=line, limit=4096)
            # who is hung up on while it sends learns it from what it reads
            await kind(reader, writer, head)
        except OSError:
            came["hung up on"] += 1
        finally:
            line.close() if writer is None else writer.transport.abort()
        await asyncio.sleep(PAUSE / 10)


async def all_of(port: int, clients: int, seconds: float) -> Counter[str]:
    """How often clients of each kind came."""
    visit = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    visit.request("GET", "/")
    cookie = (visit.getresponse().getheader("set-cookie") or "").partition(";")[0]
    head = f"Host: 127.0.0.1:{port}\r\nCookie: {cookie}\r\n"
    came: Counter[str] = Counter()
    tasks = [asyncio.create_task(client(each, port, head, came)) for each in range(clients)]
    await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
    for task in tasks:
        if task.done():
            task.result()
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return came


def main() -> int:
    """Print how often they came."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("port", type=int, help="of the server, on this machine")
    parser.add_argument("--clients", type=int, default=300, help="how many (default 300)")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long (default 60)")
    options = parser.parse_args()
    start = time.monotonic()
    came = asyncio.run(all_of(options.port, options.clients, options.seconds))
    told = ", ".join(f"{name} {count}" for name, count in sorted(came.items()))
    taken = time.monotonic() - start
    print(f"{options.clients} slow clients for {taken:.0f} seconds came so often: {told}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
