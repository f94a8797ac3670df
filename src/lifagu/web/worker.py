"""The process aside: it reads one model, and answers requests about it within its limits."""

from __future__ import annotations

import json
import signal
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from lifagu.errors import LifaguError
from lifagu.web.limits import Limits, allow_seconds, hold_to, size_text
from lifagu.web.reply import HIGHER, OWN_MISTAKE, PROGRESS, Reply, error_reply, refusal, too_large
from lifagu.web.sources import ModelSource
from lifagu.web.views import OPERATIONS
from lifagu.web.workbench import Workbench

INTERVAL = 0.1  # seconds between two messages about progress


class Telling:
    """Progress for the other side: what is done now and how far, not too often."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._stage = ""
        self._next = 0.0

    def stage(self, text: str) -> None:
        """Say what is being done from now on."""
        self._stage = text
        self._send({"stage": text})

    def __call__(self, done: int, total: int) -> None:
        """Say how much of it is done."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + INTERVAL
            self._send({"stage": self._stage, "done": min(done / max(total, 1), 1.0)})

    def _send(self, progress: dict[str, Any]) -> None:
        try:
            self._connection.send_bytes(PROGRESS + json.dumps(progress).encode())
        except OSError:  # nobody is interested any more
            raise SystemExit from None


def work(connection: Connection, source: ModelSource, limits: Limits, folder: Path) -> None:
    """Answer requests until the other side has gone.

    A request is an operation, a newline, and a JSON object; folder: for files on their way out.
    """
    # Ctrl-C is for the server, which ends this process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    hold_to(limits)
    telling = Telling(connection)
    bench: Workbench | None = None
    while True:
        try:
            operation, _, body = connection.recv_bytes().partition(b"\n")
        except (EOFError, OSError):
            return
        allow_seconds(limits.seconds)
        try:
            if bench is None:
                bench = Workbench.opened(source, limits, folder, telling)
            reply = _answered(OPERATIONS[operation.decode()], bench, body)
        except MemoryError:
            bench, reply = None, _out_of_memory(limits)  # what was kept is let go
        except LifaguError as error:
            reply = refusal(error)
        # a mistake of ours, which must not end the session; the server's terminal shows it
        except Exception:
            traceback.print_exc()
            reply = OWN_MISTAKE
        try:
            connection.send_bytes(reply.as_bytes())
        except OSError:
            return


def _answered(operation: Callable[[Workbench, Any], Reply], bench: Workbench, body: bytes) -> Reply:
    try:
        return operation(bench, json.loads(body or b"{}"))
    except RecursionError:
        return error_reply(422, "this is nested too deeply; make it flatter", 2)
    except (ValueError, UnicodeDecodeError):
        return error_reply(400, "the request is not JSON", 2)


def _out_of_memory(limits: Limits) -> Reply:
    what = f"the memory ran out: a model may use {size_text(limits.memory)} here"
    return too_large(f"{what}; {HIGHER}, or ask a smaller question")
