"""The server itself: a socket, an event loop, a clean end. Uvicorn is known here alone."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn

from lifagu.basics.temporary_folders import temporary_folder
from lifagu.basics.terminating import ASKING
from lifagu.errors import ModelError, Remedy
from lifagu.web.app import Application
from lifagu.web.connections import Connection, Patience
from lifagu.web.guard import Gate, in_address, is_loopback
from lifagu.web.limits import Limits, files_at_once
from lifagu.web.model_process import prepare_processes
from lifagu.web.sessions import Sessions
from lifagu.web.sources import ModelSource

SWEEP = 60.0  # seconds between two looks for idle sessions
BACKLOG = 1024  # connections that wait to be let in
UNREAD = 2**18
OTHER_FILES = 400  # what the server has open beside connections, and uploads on them


@dataclass(frozen=True)
class Settings:
    """How to serve.

    opening: how `lifagu.io.load` reads the model; port 0: any free one.
    """

    model: Path | None = None
    opening: Mapping[str, Any] = field(default_factory=dict)
    host: str = "127.0.0.1"
    port: int = 8350
    read_only: bool = False
    limits: Limits = field(default_factory=Limits)
    patience: Patience = field(default_factory=Patience)


def run(settings: Settings, ready: Callable[[str], None]) -> None:
    """Serve until interrupted, and leave nothing behind; ready is called with the address."""
    with _listening(settings.host, settings.port) as listening, temporary_folder("serve") as folder:
        prepare_processes()
        asyncio.run(_serve(settings, listening, folder, ready))


async def _serve(
    settings: Settings, listening: socket.socket, folder: Path, ready: Callable[[str], None]
) -> None:
    port = listening.getsockname()[1]
    gate = Gate(settings.host, port, open=not is_loopback(settings.host))
    token = secrets.token_urlsafe(32)
    model = settings.model
    given = (
        None
        if model is None
        else ModelSource(model.name, model.absolute(), opening=settings.opening)
    )
    sessions = Sessions(folder, settings.limits, at_once=max(4, 2 * (os.cpu_count() or 1)))
    application = Application(sessions, gate, given, token, settings.read_only)
    patience = _possible(settings.patience)
    http: Any = partial(Connection, patience)
    server = _Server(
        uvicorn.Config(
            application.guarded(),
            http=http,
            backlog=min(BACKLOG, patience.connections),  # also let in at once
            ws="none",
            lifespan="off",
            # clients that hang up are no news; mistakes of ours are shown where they are caught
            log_level="critical",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=3600,  # never reached: connections know their own time
            timeout_graceful_shutdown=1,
        )
    )
    ready(f"http://{in_address(gate.host)}:{port}/?token={token}")
    sweeping = asyncio.create_task(_sweep(sessions))
    try:
        await server.serve(sockets=[listening])
    finally:
        sweeping.cancel()
        sessions.close()


def _possible(patience: Patience) -> Patience:
    """As many connections as wanted, or as there are files for."""
    most = max((files_at_once() - OTHER_FILES) // 2, 16)
    return replace(patience, connections=min(patience.connections, most))


async def _sweep(sessions: Sessions) -> None:
    """Forget idle sessions now and then."""
    while True:
        await asyncio.sleep(SWEEP)
        sessions.forget_idle()


class _Server(uvicorn.Server):
    """A server that just returns when it is asked to end, so that what follows still runs."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Let Ctrl-C and a wish to terminate end the server."""
        loop = asyncio.get_running_loop()
        for each in (signal.SIGINT, *ASKING):
            # where signals have no place in event loops, Ctrl-C still interrupts
            with suppress(NotImplementedError):
                loop.add_signal_handler(each, self.handle_exit, each, None)
        yield


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens; where it cannot, the error has a remedy."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # named, so that asyncio sends at once
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # what the system keeps of a reply for each client, which shows soon who does not read
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, UNREAD)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except (OSError, UnicodeError) as error:
        listening.close()
        reason = getattr(error, "strerror", None) or str(error)
        what = f"cannot listen on {host}, port {port}: {reason}"
        raise ModelError(what, remedy=Remedy.OTHER_PORT) from None
    return listening
