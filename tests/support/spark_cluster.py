"""A real Spark cluster on loopback: master and workers, each a process of its own."""

import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections import deque
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

WHY_NOT = (
    "Spark needs Java, which is not here"
    if not (os.environ.get("JAVA_HOME") or shutil.which("java"))
    else ""
)
QUICK = """
spark.sql.shuffle.partitions 2
spark.sql.codegen.wholeStage false
spark.sql.codegen.factoryMode NO_CODEGEN
spark.executor.memory 512m
"""


def write_quick_settings(folder, more=""):
    """A folder to name as SPARK_CONF_DIR, for short runs."""
    folder.mkdir(parents=True)
    (folder / "spark-defaults.conf").write_text(QUICK + more)
    return folder


class Cluster:
    """The master's address, and the workers, which can be killed."""

    def __init__(self, master, workers):
        self.master = master
        self.workers = workers

    def kill_worker(self):
        """End a worker and its executors, without warning."""
        end(self.workers[0])


def die_with_parent():
    """For a process being started: it ends with whoever starts it, also if that is killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def end(process):
    """End a process that was started here, with all that it started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def started(settings, until, *command):
    """A process of Spark's once it says what is waited for, and what that is; ended afterwards."""
    import pyspark

    spark_class = Path(pyspark.__file__).parent / "bin/spark-class"
    with subprocess.Popen(
        [spark_class, *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=settings,
        start_new_session=True,
        preexec_fn=die_with_parent,
    ) as process:
        try:
            said = deque(maxlen=3)
            for line in process.stderr:
                said.append(line)
                if found := re.search(until, line):
                    break
            else:
                pytest.fail(f"{command[0]} ended: {' '.join(said)}")
            # so that it never waits for one
            reader = threading.Thread(target=deque, args=(process.stderr, 0))
            reader.start()
            yield process, found
            end(process)
            reader.join()
        finally:
            end(process)


@contextmanager
def cluster(folder, workers=2, more=""):
    """A master and workers in a folder, ended afterwards; the driver's settings are set, too."""
    if WHY_NOT:
        pytest.skip(WHY_NOT)
    added = {
        "SPARK_CONF_DIR": str(write_quick_settings(folder / "conf", more)),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_WORKER_DIR": str(folder / "work"),
    }
    settings = {**os.environ, **added}
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        for name, value in added.items():
            patch.setenv(name, value)
        options = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        room = "org.apache.spark.deploy"
        _, found = stack.enter_context(
            started(settings, r"Starting Spark master at (\S+)", f"{room}.master.Master", *options)
        )
        worker = (f"{room}.worker.Worker", *options, "-c", "1", "-m", "1g", found[1])
        registered = "Successfully registered with master"
        begun = [
            stack.enter_context(started(settings, registered, *worker)) for _ in range(workers)
        ]
        yield Cluster(found[1], [process for process, _ in begun])
