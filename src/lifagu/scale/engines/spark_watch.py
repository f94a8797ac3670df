"""Work of a Spark session, watched: Ctrl-C ends it, and so does a cluster without executors.

Spark itself waits for executors without end and without a word; every wait here ends after a stated
time.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from lifagu.data.duck import one_thread
from lifagu.errors import LifaguError, ModelError
from lifagu.scale.engines.spark_session import ENDING, end_java, java_status
from lifagu.scale.engines.spark_words import LOG, last_words, log_size, refusal, text_of

LOOK = 1.0  # seconds from one look at the cluster to the next
WAIT = "spark.lifagu.wait"  # the setting that says how many seconds to wait for executors
SECONDS = 120  # unless it is set
CANCELLING = 5.0  # seconds for cancelled work to end, before Java is ended
Result = TypeVar("Result")


class Watched:
    """A session and one thread that works for it. Every failure is one line: a LifaguError."""

    def __init__(self, session: Any, own: bool, folder: Path) -> None:
        logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)
        logging.getLogger().addFilter(_not_of_py4j)
        self._session, self._own, self._log = session, own, folder / LOG
        self._group, self._wait = f"lifagu-{uuid.uuid4().hex}", float(SECONDS)
        self._master: str = session.sparkContext.master
        self._thread = one_thread()
        try:
            settings = self.done(self._set_up)
            self._memory = settings.get("spark.executor.memory", "1g")
            self._wait = _seconds(settings.get(WAIT, str(SECONDS)))
        except BaseException:
            self.close()
            raise

    def _set_up(self) -> Any:
        """What this thread runs is a group that can be cancelled; the session's settings."""
        context = self._session.sparkContext
        context.setJobGroup(self._group, "lifagu", interruptOnCancel=True)
        return context.getConf()

    def done(self, work: Callable[[], Result]) -> Result:
        """The result of some work, while somebody can do it."""
        said = log_size(self._log)
        try:
            future = self._thread.submit(work)
            self._watch(future)
        except BaseException:
            self._cancel()
            raise
        return self._result(future, said)

    def close(self) -> None:
        """End the session, and Java with it, if it was opened here."""
        try:
            if self._own:
                with suppress(LifaguError):  # as Java is ended anyway
                    self.done(self._session.stop)
        finally:
            if self._own:
                end_java()
            self._thread.shutdown()
            logging.getLogger().removeFilter(_not_of_py4j)

    def _result(self, future: Future[Result], said: int) -> Result:
        """What came of some work, or one line; said: the size of the log when it began."""
        from py4j.protocol import Py4JError, Py4JNetworkError
        from pyspark.errors import PySparkException

        try:
            return future.result()
        except (PySparkException, Py4JError, ConnectionError) as error:
            broken = isinstance(error, Py4JNetworkError | ConnectionError)
            ended = self._own and java_status(ENDING if broken else 0) is not None
            raise refusal(
                text_of(error), last_words(self._log, said) if broken or ended else None
            ) from None

    def _watch(self, future: Future[Any]) -> None:
        """Wait for the end of some work, but not for long without executors."""
        since = time.monotonic()
        while not wait([future], timeout=LOOK).done:
            if self._has_executors():
                since = time.monotonic()
            elif time.monotonic() - since > self._wait:
                raise LifaguError(
                    f"spark: no executor at {self._master} for {self._wait:g} seconds; "
                    f"see that workers run there with {self._memory} of memory free "
                    f"(spark.executor.memory), or set {WAIT} to more seconds"
                )

    def _has_executors(self) -> bool:
        """Whether somebody works for the session; the driver only does so where it is local."""
        if self._master.startswith("local"):
            return True
        try:
            return len(self._session.sparkContext._jsc.sc().statusTracker().getExecutorInfos()) > 1
        except Exception:  # Java ends, which the work itself will tell
            return True

    def _cancel(self) -> None:
        """End what is still running; said again, as some of it may only be about to begin."""
        until, all_done = time.monotonic() + CANCELLING, self._thread.submit(lambda: None)
        while not wait([all_done], timeout=0.1).done and time.monotonic() < until:
            with suppress(Exception):
                self._session.sparkContext.cancelJobGroup(self._group)
        if not all_done.done() and self._own:
            end_java()


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ModelError(
            f"{WAIT}: '{text}' is not a number of seconds; give one, as in {WAIT} {SECONDS}"
        ) from None


def _not_of_py4j(record: logging.LogRecord) -> bool:
    """Leaves out what py4j logs for everybody when Java is gone, as an error tells that."""
    return "py4j" not in record.pathname
