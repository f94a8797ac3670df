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
from contextlib import suppress

PAUSE = 1.0  # seconds between two bytes


async def send(line: socket.socket, text: str) -> None:
    """Send a text."""
    await asyncio.get_running_loop().sock_sendall(line, text.encode())


async def read(line: socket.socket, most: int) -> bytes:
    """So many bytes, fewer, or none at the end."""
    return await asyncio.get_running_loop().sock_recv(line, most)


async def headers(line: socket.socket, _: str) -> None:
    """Headers that never end."""
    await send(line, "GET / HTTP/1.1\r\nHost: x\r\nX-")
    while True:
        await send(line, "a")
        await asyncio.sleep(PAUSE)


async def silence(line: socket.socket, head: str) -> None:
    """One request, and then nothing."""
    await send(line, f"GET /static/style.css HTTP/1.1\r\n{head}\r\n")
    while await read(line, 2**16):
        pass


async def reading(line: socket.socket, head: str) -> None:
    """Many requests whose replies are hardly read, not at all while requests are still sent."""
    await send(line, f"GET /static/style.css HTTP/1.1\r\n{head}\r\n" * 300)
    # what came before is read to its end, unless one asks whether the other side has hung up
    while await read(line, 1) and not line.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
        await asyncio.sleep(PAUSE)


async def body(line: socket.socket, head: str) -> None:
    """A body that takes its time."""
    await send(
        line, f"POST /api/models?ending=.json HTTP/1.1\r\n{head}Content-Length: 1000\r\n\r\n"
    )
    while True:
        await send(line, " ")
        await asyncio.sleep(PAUSE)


KINDS: tuple[Callable[[socket.socket, str], Awaitable[None]], ...] = (
    headers,
    silence,
    reading,
    body,
)


async def client(number: int, port: int, head: str, came: Counter[str]) -> None:
    """One client, who comes again whenever it is hung up on."""
    kind = KINDS[number % len(KINDS)]
    while True:
        with socket.socket() as line, suppress(OSError):
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            line.setblocking(False)
            await asyncio.get_running_loop().sock_connect(line, ("127.0.0.1", port))
            came[kind.__name__] += 1
            await kind(line, head)
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
