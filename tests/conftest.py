"""What all tests share: settings, servers on demand, and a word about what did not run."""

import gc
import itertools
import os
import secrets
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

pytest.register_assert_rewrite("support")  # before anything is imported from there
# how long an example takes says more about the machine than about the test, so nothing has a
# deadline; and the same examples twice in continuous integration
settings.register_profile("here", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("here"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")
# half the work for short runs
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")


# ---- signals and temporary files

IN_MEMORY, ENOUGH = Path("/dev/shm"), 4 * 2**30


def pytest_configure(config: pytest.Config) -> None:
    """Runs in the background ignore Ctrl-C, and so would all that tests start and interrupt."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    _keep_files_in_memory(config)


def _keep_files_in_memory(config: pytest.Config) -> None:
    """Short runs keep temporary files in memory where there is room, if nobody says otherwise.

    Databases wait until a disk has what they write, hundreds of times in a test; that is most of
    the time such tests take. Longer runs, whose files are larger, do wait.
    """
    if (
        config.option.markexpr == "not full"
        and "TMPDIR" not in os.environ
        and os.access(IN_MEMORY, os.W_OK)
        and not os.statvfs(IN_MEMORY).f_flag & os.ST_NOEXEC  # tests run what they build
        and shutil.disk_usage(IN_MEMORY).free >= ENOUGH
    ):
        os.environ["TMPDIR"] = str(IN_MEMORY)  # for workers and commands, too
        tempfile.tempdir = None


# ---- collecting, and the order

LONG = (  # begun first, so that no process is left alone with one of them at the end
    "scale/test_broken.py",
    "scale/test_answers.py",
    "web/test_page.py",
    "questions/test_case.py",
    "scale/test_lifting.py",
    "house/test_docs.py",
    "examples/test_hospital.py",
    "questions/test_posterior.py",
    "questions/test_admission.py",
    "scale/test_individuals.py",
    "scale/test_agreement.py",
    "scale/test_impute.py",
    "data/test_parquet.py",
    "questions/test_impute.py",
    "web/test_web.py",
    "inference/test_own_tables.py",
    "questions/test_snapshot.py",
    "data/test_templates.py",
    "questions/test_learning.py",
    "learning/test_expectation.py",
)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """Little is thrown away while tests are collected; looking for it takes a third of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that take long come first; processes take files in this order."""
    place = {name: number for number, name in enumerate(LONG)}
    items.sort(key=lambda item: place.get("/".join(item.path.parts[-2:]), len(LONG)))


# ---- servers


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """The URL of a PostgreSQL server of this run's own; skips where there is none."""
    from support.servers import NoServerError, postgresql

    try:
        with postgresql() as url:
            yield url
    except NoServerError as reason:
        pytest.skip(str(reason))


_NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def ordinary_role(postgresql_server: str) -> str:
    """The URL of the server for a role that may make tables in its databases, and nothing else."""
    import psycopg

    from support.servers import logged_in

    role, password = "ordinary", secrets.token_hex(8)
    with psycopg.connect(postgresql_server, autocommit=True) as connected:
        connected.execute(f"CREATE ROLE {role} LOGIN PASSWORD '{password}'")
    return logged_in(postgresql_server, role, password)


@pytest.fixture
def new_database(postgresql_server: str, ordinary_role: str) -> Callable[[], str]:
    """Makes empty databases on the server: each call gives the URL of one, for its owner."""
    import psycopg

    def made() -> str:
        name = f"test_{next(_NUMBERS)}"
        with psycopg.connect(postgresql_server, autocommit=True) as connected:
            connected.execute(f"CREATE DATABASE {name} OWNER ordinary")
        return ordinary_role.rpartition("/")[0] + f"/{name}"

    return made


@pytest.fixture
def as_superuser(postgresql_server: str) -> Callable[[str], str]:
    """The URL of the same database for the superuser of the server."""
    return lambda url: postgresql_server.rpartition("/")[0] + f"/{url.rpartition('/')[2]}"


# ---- what did not run

LEFT = pytest.StashKey[int]()  # how many tests are left to the longer run
COUNTED = "left_to_the_longer_run"


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Count what is left to `make test-full`."""
    for item in items:
        if item.get_closest_marker("full"):
            item.config.stash[LEFT] = item.config.stash.get(LEFT, 0) + 1


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker tells the process that started it what it left out."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput[COUNTED] = session.config.stash.get(LEFT, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Every worker has seen all tests, so any of them knows; one that broke down says nothing."""
    left = getattr(node, "workeroutput", {}).get(COUNTED, 0)
    node.config.stash[LEFT] = max(left, node.config.stash.get(LEFT, 0))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Which optional parts did not run and why, and how much is left to the longer run."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(each.longrepr[2].removeprefix("Skipped: ") for each in skipped)
    left = config.stash.get(LEFT, 0)
    if reasons or left:
        terminalreporter.write_sep("=", "not run")
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count} skipped: {reason}")
    if left:
        terminalreporter.write_line(f"{left} of longer campaigns: run them by make test-full")
