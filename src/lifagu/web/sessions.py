"""Who has opened what: sessions known by random names, their models and their jobs.

Everything lives in memory and in one private folder, and ends with the server; idle sessions end
earlier.
"""

from __future__ import annotations

import asyncio
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from lifagu.errors import ModelError, TooLargeError
from lifagu.web.limits import Limits
from lifagu.web.model_process import CANCELLED, Aside
from lifagu.web.reply import Reply
from lifagu.web.sources import ModelSource

MOST_MODELS = 4  # of one session; the oldest goes when one more is opened
MOST_JOBS = 16  # of one session at a time
MOST_SESSIONS = 1000
MOST_PROCESSES = 64  # the longest unused end when there would be more; they begin again when asked
IDLE = 3600.0  # seconds after which a session is forgotten
STORED = 8  # times the upload limit: what all uploads together may take


@dataclass(eq=False)
class OpenModel:
    """A model of a session; one request at a time is computed for it."""

    source: ModelSource
    folder: Path
    aside: Aside
    used: float = 0.0
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def close(self) -> None:
        """End the process and remove what was uploaded."""
        self.aside.end()
        shutil.rmtree(self.folder, ignore_errors=True)


class Job:
    """A computation under way: how far it is, as JSON, and the task that ends with its reply."""

    def __init__(self, compute: Callable[[Job], Coroutine[Any, Any, Reply]]) -> None:
        self.progress = b'{"stage": "waiting for a free place"}'
        self.stop = threading.Event()
        self.task = asyncio.create_task(compute(self))

    def tell(self, progress: bytes) -> None:
        """So far it is."""
        self.progress = progress


@dataclass(eq=False)
class Session:
    """What one browser has opened and asked."""

    used: float
    models: dict[str, OpenModel] = field(default_factory=dict)
    jobs: dict[str, Job] = field(default_factory=dict)

    def close(self) -> None:
        """Stop its jobs and close its models."""
        for job in self.jobs.values():
            job.stop.set()
        for model in self.models.values():
            model.close()


class Sessions:
    """All sessions of a server, for one event loop; threads wait for the processes that compute."""

    def __init__(self, folder: Path, limits: Limits, at_once: int) -> None:
        self._folder, self.limits = folder, limits
        self._sessions: dict[str, Session] = {}
        self._places = asyncio.Semaphore(at_once)
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="lifagu-aside")

    def new(self) -> str:
        """Begin a session and return its name, which only its browser knows."""
        self.forget_idle()
        if len(self._sessions) >= MOST_SESSIONS:
            oldest = min(self._sessions, key=lambda name: self._sessions[name].used)
            self._sessions.pop(oldest).close()
        name = secrets.token_urlsafe(32)
        self._sessions[name] = Session(time.monotonic())
        return name

    def find(self, name: str) -> Session | None:
        """The session of this name; names are long and random, so a look says nothing of others."""
        session = self._sessions.get(name)
        if session is not None:
            session.used = time.monotonic()
        return session

    def forget_idle(self) -> None:
        """End sessions that nobody used for long."""
        late = time.monotonic() - IDLE
        for name in [name for name, session in self._sessions.items() if session.used < late]:
            self._sessions.pop(name).close()

    def room_for(self) -> tuple[str, Path]:
        """A new model's name and folder; refused while all uploads together are too large."""
        stored = sum(path.stat().st_size for path in self._folder.rglob("*") if path.is_file())
        if stored > STORED * self.limits.upload:
            raise TooLargeError(
                "too many uploaded models are open on this server; close one, or come back later"
            )
        name = secrets.token_urlsafe(16)
        folder = self._folder / name
        folder.mkdir(mode=0o700)
        return name, folder

    def open(self, session: Session, name: str, folder: Path, source: ModelSource) -> OpenModel:
        """Give a session a model; of too many the one not used for longest is closed."""
        if len(session.models) >= MOST_MODELS:
            oldest = min(session.models, key=lambda each: session.models[each].used)
            session.models.pop(oldest).close()
        model = OpenModel(source, folder, Aside(source, self.limits, folder), time.monotonic())
        session.models[name] = model
        return model

    def start(
        self, session: Session, model: OpenModel, operation: str, body: bytes
    ) -> tuple[str, Job]:
        """Begin to compute; the job's task ends with the reply."""
        finished = [name for name, job in session.jobs.items() if job.task.done()]
        for name in finished[: max(len(session.jobs) - MOST_JOBS + 1, 0)]:
            del session.jobs[name]
        if len(session.jobs) >= MOST_JOBS:
            raise ModelError(f"{MOST_JOBS} computations are under way; wait for one, or cancel one")
        name, job = secrets.token_urlsafe(16), Job(partial(self._run, model, operation, body))
        session.jobs[name] = job
        return name, job

    async def _run(self, model: OpenModel, operation: str, body: bytes, job: Job) -> Reply:
        async with model.turn, self._places:
            if job.stop.is_set():
                return CANCELLED
            model.used = time.monotonic()
            self._end_unused(model)
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(
                self._threads, model.aside.ask, operation, body, job.tell, job.stop
            )

    def _end_unused(self, wanted: OpenModel) -> None:
        """Keep the number of processes bounded."""
        models = (each for session in self._sessions.values() for each in session.models.values())
        running = [each for each in models if each.aside.runs and each is not wanted]
        idle = [each for each in running if not each.turn.locked()]
        idle.sort(key=lambda each: each.used)
        for model in idle[: max(len(running) + 1 - MOST_PROCESSES, 0)]:
            model.aside.end()

    def close(self) -> None:
        """End everything."""
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()
        self._threads.shutdown(wait=False, cancel_futures=True)
