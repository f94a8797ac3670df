"""What the tests of the page share: one browser, and servers of examples and of databases."""

import pytest

import lifagu
from lifagu.examples.hospital import hospital as made_hospital
from lifagu.examples.installing import install_hospital
from support.page_databases import make_factory
from support.page_walk import browser
from support.web_server import served


@pytest.fixture(scope="module")
def chromium():
    """A browser without a window; while it is open, nothing else here may have an event loop."""
    with browser() as running:
        yield running


@pytest.fixture(scope="session")
def examples():
    """A server that was given no model."""
    with served("--upload-limit", "8M") as running:
        yield running


@pytest.fixture(scope="session")
def factory(tmp_path_factory):
    """A server of 200 machines, and the same as a case."""
    template = make_factory(tmp_path_factory.mktemp("factory"))
    with served(str(template)) as server:
        yield server, lifagu.open(template)


@pytest.fixture(scope="session")
def hospital(tmp_path_factory):
    """A server of the hospital."""
    template = install_hospital(tmp_path_factory.mktemp("hospital") / "h", made_hospital())
    with served(str(template)) as server:
        yield server
