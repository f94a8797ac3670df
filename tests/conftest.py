"""What all tests share: Hypothesis that says the same twice in continuous integration, servers on
demand.
"""

import itertools
import os
from collections.abc import Callable, Iterator

import pytest
from hypothesis import settings

from support.servers import NoServerError, postgresql

settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
# half the work for short runs
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """The URL of a PostgreSQL server of this run's own; where there is none, what needs it is
    skipped.
    """
    try:
        with postgresql() as url:
            yield url
    except NoServerError as reason:
        pytest.skip(str(reason))


_NUMBERS = itertools.count()


@pytest.fixture
def new_database(postgresql_server: str) -> Callable[[], str]:
    """Makes empty databases on the server: each call gives the URL of one."""
    import psycopg

    def made() -> str:
        name = f"test_{next(_NUMBERS)}"
        with psycopg.connect(postgresql_server, autocommit=True) as connected:
            connected.execute(f"CREATE DATABASE {name}")
        return postgresql_server.rpartition("/")[0] + f"/{name}"

    return made
