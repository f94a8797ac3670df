"""A process aside for one opened model, seen from the server: asked, watched, ended if slow.

Whatever it holds can be computed again from the model's source, so it may be ended at any moment.
"""

from __future__ import annotations

import multiprocessing
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from lifagu.web.limits import Limits
from lifagu.web.reply import PROGRESS, Reply, error_reply, too_large
from lifagu.web.sources import ModelSource

PRELOADED = (  # what processes will need beside the worker; numpy itself imports numpy.ma late
    "lifagu.web.worker",
    "lifagu.drawing.svg",
    "lifagu.filling.transfer",
    "lifagu.formats.json_lines",
    "lifagu.io",
    "lifagu.questions.competing_tables",
    "lifagu.questions.showing",
    "lifagu.questions.planning",
    "lifagu.symmetry.lifting",
    "numpy.ma",
)
LOOK = 0.05  # seconds after which a wish to stop is noticed
TRIES = 20  # to begin a process
CANCELLED = error_reply(409, "cancelled")
NOT_BEGUN = error_reply(422, "the process for this model could not be started; ask again", 2)
BROKEN = too_large(
    "the computation broke off, most likely because the memory ran out; ask a smaller question"
)


def prepare_processes() -> None:
    """Have a process that has everything imported, from which others begin at once, if possible."""
    if sys.platform != "win32":
        multiprocessing.set_forkserver_preload(list(PRELOADED))
        forkserver.ensure_running()


class Aside:
    """The process of one model; it begins when it is asked.

    `ask` is for one thread at a time, `end` for any.

    While it is asked, only the thread that asks closes its end of the pipe, so that no other can
    come to stand in its place meanwhile.
    """

    def __init__(self, source: ModelSource, limits: Limits, folder: Path) -> None:
        self._source, self._limits, self._folder = source, limits, folder
        self._guard = threading.Lock()
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None
        self._is_asked = self._is_closed = False

    @property
    def runs(self) -> bool:
        """Whether there is a process now."""
        return self._process is not None

    def ask(
        self, operation: str, body: bytes, tell: Callable[[bytes], None], stop: threading.Event
    ) -> Reply:
        """The reply to a request.

        tell is called with progress as JSON; stop ends the process and the request.
        """
        with self._guard:
            self._is_asked = True
        try:
            return self._answer(operation, body, tell, stop)
        finally:
            with self._guard:
                self._is_asked = False
                if self._process is None:
                    self._hang_up()

    def _answer(
        self, operation: str, body: bytes, tell: Callable[[bytes], None], stop: threading.Event
    ) -> Reply:
        process, connection = self._process, self._connection
        if process is None or connection is None or not process.is_alive():
            try:
                connection = self._begun()
            except (EOFError, OSError):
                return NOT_BEGUN
            if connection is None:
                return CANCELLED
        deadline = time.monotonic() + self._limits.seconds
        try:
            connection.send_bytes(operation.encode() + b"\n" + body)
            while not stop.is_set():
                if connection.poll(LOOK):
                    message = connection.recv_bytes()
                    if message[:1] != PROGRESS:
                        return Reply.from_bytes(message)
                    tell(message[1:])
                if time.monotonic() > deadline:
                    self.end()
                    return self._too_long()
        except (EOFError, OSError):
            if not stop.is_set() and self.runs:
                self.end()
                return BROKEN
        self.end()
        return CANCELLED

    def _begun(self) -> Connection | None:
        """The way to a new process, None if the model was closed meanwhile."""
        for _ in range(TRIES):
            try:
                return self._begin()
            # the process from which others begin has been killed; when that is over, another does
            except (EOFError, OSError):
                time.sleep(LOOK)
        return self._begin()

    def _begin(self) -> Connection | None:
        from lifagu.web.worker import work

        method = "spawn" if sys.platform == "win32" else "forkserver"
        context: Any = multiprocessing.get_context(method)
        here: Connection
        here, there = context.Pipe()
        arguments = (there, self._source, self._limits, self._folder)
        with self._guard, there:
            if self._is_closed:
                return None
            process = context.Process(target=work, args=arguments, daemon=True)
            process.start()
            self._process, self._connection = process, here
        return here

    def end(self) -> None:
        """End the process, whatever it does; it begins again when it is asked again."""
        with self._guard:
            process, self._process = self._process, None
            if process is not None:
                process.kill()
            if not self._is_asked:
                self._hang_up()

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def close(self) -> None:
        """End the process for good."""
        self._is_closed = True
        self.end()

    def _too_long(self) -> Reply:
        return too_large(
            f"ended after {self._limits.seconds:g} seconds, the most that a computation may take "
            "here; start lifagu serve with a higher --time-limit, or ask a smaller question"
        )
