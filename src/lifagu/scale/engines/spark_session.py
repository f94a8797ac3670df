"""Sessions of Spark: a master that answers, Java started with its words in a file, and ended."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import threading
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from lifagu.errors import LifaguError, MissingExtraError, ModelError
from lifagu.scale.engines.spark_words import LOG, last_words, refusal_at_start, text_of

MASTERS = ("local", "spark://", "yarn", "k8s://")  # how the address of a master begins
LOOPBACK = ("local", "spark://127.", "spark://localhost")
STANDALONE = "spark://"
LEAST_MEMORY = 512 * 2**20  # the driver does not start with less
ANSWER = 10  # seconds for a master to accept a connection
ENDING = 10  # seconds for Java to end by itself
SESSION = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
}


def open_session(folder: Path, master: str, memory_limit: int | None) -> tuple[Any, bool]:
    """A session at the master, and whether it was started here and not by the caller."""
    if not master.startswith(MASTERS):
        raise ModelError(
            f"'{master}' is no master of Spark; "
            "name one such as spark://host:7077, yarn or local[4]"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtraError("pyspark", "working on Spark", "spark") from None
    active = SparkSession.getActiveSession()
    if active is not None:
        if active.sparkContext.master != master:
            raise ModelError(
                f"a Spark session at {active.sparkContext.master} is active; "
                "end it, or use its master"
            )
        session = active.newSession()
    else:
        if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
            raise LifaguError(
                "Spark needs Java; install it (as default-jre-headless on Debian) or set JAVA_HOME"
            )
        check_answers(master)
        session = _started(folder, master, memory_limit)
    for key, value in SESSION.items():
        session.conf.set(key, value)
    context = session.sparkContext
    if master.startswith("local") and not context.getConf().contains(
        "spark.sql.shuffle.partitions"
    ):
        session.conf.set("spark.sql.shuffle.partitions", str(4 * context.defaultParallelism))
    return session, active is None


def check_answers(master: str) -> None:
    """Refuse a standalone master where nobody listens at once: Spark would try for a minute."""
    if not master.startswith(STANDALONE):
        return
    why = ""
    for address in master.removeprefix(STANDALONE).split(","):
        host, _, port = address.rpartition(":")
        if not (host and port.isdecimal() and 0 < int(port) < 2**16):
            raise ModelError(
                f"'{master}' is no master of Spark; name host and port, as in spark://host:7077"
            )
        try:
            socket.create_connection((host.strip("[]"), int(port)), ANSWER).close()
        except OSError as error:
            why = error.strerror or str(error)
        else:
            return
    raise LifaguError(
        f"Spark at {master} cannot be reached: {why}; see that a master runs there, and its port"
    )


def _started(folder: Path, master: str, memory_limit: int | None) -> Any:
    """A new session whose files and words stay in the folder, not in the current one."""
    settings = {
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.local.dir": str(folder / "spilled"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # else it may go on half-dead
        "spark.driver.defaultJavaOptions": "-XX:+ExitOnOutOfMemoryError",
    }
    if master.startswith(LOOPBACK):
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    if memory_limit is not None and master.startswith("local"):
        settings["spark.driver.memory"] = f"{max(memory_limit, LEAST_MEMORY) // 2**20}m"
    from py4j.protocol import Py4JError
    from pyspark import SparkConf
    from pyspark.errors import PySparkException

    conf = (
        SparkConf(loadDefaults=False)
        .setMaster(master)
        .setAppName("lifagu")
        .setAll(list(settings.items()))
    )
    try:
        with warnings.catch_warnings(), _own_interrupts():
            warnings.simplefilter("ignore")
            return _session_in_java(conf, folder / LOG)
    except (PySparkException, Py4JError, OSError, RuntimeError) as error:
        text = text_of(error)
        end_java()
        raise refusal_at_start(master, text, last_words(folder / LOG)) from None
    except BaseException:
        end_java()
        raise


def _session_in_java(conf: Any, log: Path) -> Any:
    """Java, which says everything into a file, and a session in it."""
    from pyspark import SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    def launch() -> None:
        with log.open("ab") as words:
            SparkContext._ensure_initialized(
                gateway=launch_gateway(conf, {"stdout": words, "stderr": words})
            )

    # to the end, as a process that is just being started cannot be ended
    with ThreadPoolExecutor(1) as other:
        other.submit(launch).result()
    builder = SparkSession.builder
    for key, value in conf.getAll():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


@contextmanager
def _own_interrupts() -> Iterator[None]:
    """Ctrl-C means afterwards what it meant before: pyspark would answer it itself."""
    main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if main and before is not None:
            signal.signal(signal.SIGINT, before)


def java_status(seconds: float = 0) -> int | None:
    """The exit status of our Java process; None if it does not end within some seconds."""
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    if gateway is None or gateway.proc is None:
        return None
    with suppress(subprocess.TimeoutExpired):
        gateway.proc.wait(seconds)
    return int(gateway.proc.returncode) if gateway.proc.returncode is not None else None


def end_java() -> None:
    """End Java, which pyspark would keep for the next session, whatever memory that wants."""
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    if gateway is None:
        return
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    with suppress(Exception):  # whatever state it is in, it ends below
        gateway.shutdown()
    process = gateway.proc
    if process is None:
        return
    process.stdin.close()  # upon which it ends
    try:
        process.wait(ENDING)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
