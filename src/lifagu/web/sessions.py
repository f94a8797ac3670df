"""Who has opened what: sessions known by random names, their models and their jobs.

Everything lives in memory and in one private folder, and ends with the server; idle sessions end
earlier.
"""

from __future__ import annotations

import asyncio
import secrets
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
from lifagu.web.storage import Room, Storage

MOST_MODELS = 4  # of one session; the oldest goes when one more is opened
MOST_JOBS = 16  # of one session at a time
MOST_WAITING = 256  # computations under way in all sessions, and as many replies not yet fetched
MOST_SESSIONS = 1000
MOST_PROCESSES = 64  # the longest unused end when there would be more; they begin again when asked
IDLE = 3600.0  # seconds after which a session is forgotten
AT_WORK = 600.0  # seconds for which a session that has opened something does not give way to others
LONG = ("check",)  # operations for which nobody waits: a second process does them, and ends
STORED = 8  # times the upload limit: what all uploads together may take


@dataclass(eq=False)
class OpenModel:
    """A model of a session; one request at a time is computed for it, and one long one beside."""

    source: ModelSource
    room: Room
    aside: Aside
    second: Aside
    used: float = 0.0
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    second_turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def close(self) -> None:
        """End the processes and remove what was uploaded."""
        self.aside.close()
        self.second.close()
        self.room.close()


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
    """What one browser has opened and asked; places: how much of it is computed at a time."""

    begun: float
    used: float
    places: asyncio.Semaphore
    models: dict[str, OpenModel] = field(default_factory=dict)
    jobs: dict[str, Job] = field(default_factory=dict)
    opening: int = 0  # models that are being uploaded
    is_over: bool = False

    @property
    def is_in_use(self) -> bool:
        """Whether something would be lost with it."""
        return bool(self.models) or self.opening > 0

    @property
    def gives_way(self) -> tuple[bool, bool, float]:
        """Those that opened nothing give way first, of these those that came and went."""
        return self.is_in_use, self.used > self.begun, self.used

    def close(self) -> None:
        """Stop its jobs and close its models."""
        self.is_over = True
        for job in self.jobs.values():
            job.stop.set()
        for model in self.models.values():
            model.close()


class Sessions:
    """All sessions of a server, for one event loop; threads wait for the processes that compute."""

    def __init__(self, folder: Path, limits: Limits, at_once: int) -> None:
        self.limits = limits
        self._storage = Storage(folder, STORED * limits.upload)
        self._sessions: dict[str, Session] = {}
        self._places, self._at_once = asyncio.Semaphore(at_once), at_once
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="lifagu-aside")

    def new(self) -> str:
        """Begin a session and return its name, which only its browser knows.

        If there are too many one goes, but nobody who is at work.
        """
        now = time.monotonic()
        if len(self._sessions) >= MOST_SESSIONS:
            self.forget_idle()
        if len(self._sessions) >= MOST_SESSIONS:
            oldest = min(self._sessions, key=lambda name: self._sessions[name].gives_way)
            session = self._sessions[oldest]
            if session.is_in_use and session.used > now - AT_WORK:
                raise TooLargeError("too many people use this server now; come back later")
            self._sessions.pop(oldest).close()
        name = secrets.token_urlsafe(32)
        # whoever asks for much at once leaves places to others
        places = asyncio.Semaphore(max(self._at_once // 2, 1))
        self._sessions[name] = Session(now, now, places)
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

    def room_for(self) -> tuple[str, Room]:
        """A new model's name, and the room for what is uploaded."""
        name = secrets.token_urlsafe(16)
        return name, self._storage.room(name)

    def open(self, session: Session, name: str, room: Room, source: ModelSource) -> OpenModel:
        """Give a session a model; of too many the one not used for longest is closed."""
        if session.is_over:  # while something was uploaded
            raise ModelError("this session is over; load the page again")
        if len(session.models) >= MOST_MODELS:
            oldest = min(session.models, key=lambda each: session.models[each].used)
            session.models.pop(oldest).close()
        aside, second = (Aside(source, self.limits, room.folder) for _ in range(2))
        model = OpenModel(source, room, aside, second, time.monotonic())
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
        self._bound_jobs()
        name, job = (
            secrets.token_urlsafe(16),
            Job(partial(self._run, session, model, operation, body)),
        )
        session.jobs[name] = job
        return name, job

    def _bound_jobs(self) -> None:
        """Of all sessions together: few computations at a time, few replies that nobody fetches."""
        sessions = [session for session in self._sessions.values() if session.jobs]
        done = [
            (session.used, name, session.jobs)
            for session in sessions
            for name, job in session.jobs.items()
            if job.task.done()
        ]
        if sum(len(session.jobs) for session in sessions) - len(done) >= MOST_WAITING:
            raise TooLargeError("too many computations are under way on this server; ask later")
        done.sort(key=lambda each: each[0])
        for _, name, jobs in done[: max(len(done) - MOST_WAITING, 0)]:
            del jobs[name]

    async def _run(
        self, session: Session, model: OpenModel, operation: str, body: bytes, job: Job
    ) -> Reply:
        is_long = operation in LONG
        aside = model.second if is_long else model.aside
        async with model.second_turn if is_long else model.turn, session.places, self._places:
            if job.stop.is_set():
                return CANCELLED
            model.used = time.monotonic()
            self._end_unused(model)
            loop = asyncio.get_running_loop()
            try:
                return await loop.run_in_executor(
                    self._threads, aside.ask, operation, body, job.tell, job.stop
                )
            finally:
                if is_long:
                    aside.end()

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
