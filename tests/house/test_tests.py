"""The tests themselves: none imports another, nothing shared is unused, skips are told."""

import ast
import os
import shutil
import subprocess
import sys

import pytest

from support.helpers import ROOT

TESTS = ROOT / "tests"
SUPPORT = TESTS / "support"
FILES = sorted(TESTS.rglob("*.py"))


def imported(file):
    """The modules that a file imports, anywhere in it; of `from a import b` both a and a.b."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)


def module(file):
    return ".".join(file.relative_to(TESTS).with_suffix("").parts)


@pytest.mark.parametrize("file", FILES, ids=module)
def test_no_test_is_imported(file):
    assert not [name for name in imported(file) if ".test_" in f".{name}"]


def test_everything_shared_is_used():
    used = {name for file in FILES for name in imported(file)}
    shared = {module(each) for each in SUPPORT.rglob("*.py") if each.name != "__init__.py"}
    assert shared <= used


PROGRAM = """
import pytest

@pytest.mark.full
@pytest.mark.parametrize("number", range(3))
def test_long(number):
    pass

@pytest.mark.parametrize("number", range(2))
def test_elsewhere(number):
    pytest.skip("there is no moon")

@pytest.mark.skipif(True, reason="there is no sun")
def test_by_day():
    pass

def test_plain():
    pass
"""


FEW_PLUGINS = {
    **os.environ,
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    "PYTEST_PLUGINS": "xdist.plugin",
}


@pytest.mark.parametrize("workers", ["0", "2"])
def test_what_did_not_run_is_said(tmp_path, workers):
    (tmp_path / "test_some.py").write_text(PROGRAM)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = full\n")
    shutil.copy(TESTS / "conftest.py", tmp_path)

    def said(*options):
        command = [sys.executable, "-m", "pytest", "-n", workers, *options, "test_some.py"]
        done = subprocess.run(
            command, cwd=tmp_path, env=FEW_PLUGINS, capture_output=True, text=True, check=True
        )
        return done.stdout.partition(" not run ")[2].splitlines()[1:-1]

    skipped = ["2 skipped: there is no moon", "1 skipped: there is no sun"]
    left = ["3 of longer campaigns: run them by make test-full"]
    assert said("-m", "not full") == skipped + left
    assert said("-k", "plain or long") == []
