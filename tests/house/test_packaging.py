"""What people install: an sdist whose tests run, and wheels on every Python of this machine."""

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from support.helpers import ROOT

pytestmark = pytest.mark.full

VERSIONS = ["3.11", "3.12", "3.13", "3.14"]
NO_COMPILER = {"CC": "no-such-compiler", "CXX": "no-such-compiler"}
LEFT_OUT = shutil.ignore_patterns(".*", "build", "dist", "*.so", "*.egg-info", "__pycache__")
EXAMPLES = (
    ("query", "epidemic", "Sick.eve", "--add", "eve=alice", "--evidence", "Sick.bob=true"),
    ("lift", "smokers"),
    ("impute", "clinic", "--json"),
)


def run(*command, folder=None, **named):
    """What a command prints; how it fails is shown."""
    clean = {name: each for name, each in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(each) for each in command],
        cwd=folder,
        env={**clean, **named},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def new_environment(folder, python=sys.executable):
    """The Python of a new environment."""
    run(python, "-m", "venv", folder)
    return folder / "bin/python"


def python_of(number):
    """A Python of this version, on the path or kept by pyenv; None if there is none."""
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for each in (shutil.which(f"python{number}"), *sorted(kept.glob(f"{number}.*/bin/python"))):
        if (
            each
            and not subprocess.run([each, "-c", ""], capture_output=True, check=False).returncode
        ):
            return each
    return None


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """The repository as it was before anything was made in it."""
    folder = tmp_path_factory.mktemp("made") / "source"
    shutil.copytree(ROOT, folder, ignore=LEFT_OUT, symlinks=True)
    return folder


@pytest.fixture(scope="module")
def builder(tmp_path_factory):
    """A Python that can build."""
    python = new_environment(tmp_path_factory.mktemp("builder") / "venv")
    run(python, "-m", "pip", "install", "-q", "build>=1.2,<2")
    return python


@pytest.fixture(scope="module")
def sdist(source, builder, tmp_path_factory):
    """The sdist, packed."""
    folder = tmp_path_factory.mktemp("sdist")
    run(builder, "-m", "build", "--sdist", "--outdir", folder, source)
    (packed,) = folder.iterdir()
    return packed


@pytest.fixture(scope="module")
def wheels(sdist, builder, tmp_path_factory):
    """Two wheels from the sdist: by the compiler there is, and without one."""
    made = {}
    for title, named in {"compiled": {}, "plain": NO_COMPILER}.items():
        folder = tmp_path_factory.mktemp(title)
        run(builder, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, sdist, **named)
        (made[title],) = folder.iterdir()
    return made


@pytest.fixture
def unpacked(sdist, tmp_path):
    """The folder that the sdist unpacks to."""
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    return folder


def test_the_sdist_holds_the_repository_and_nothing_else(source, unpacked):
    def files(folder):
        """Files by name, those behind the link to the examples too, without what building adds."""
        places = [folder, *(each for each in folder.iterdir() if each.is_symlink())]
        found = [each for place in places for each in (place, *place.rglob("*")) if each.is_file()]
        names = {each.relative_to(folder).as_posix() for each in found}
        return {name for name in names if ".egg-info/" not in name} - {"PKG-INFO", "setup.cfg"}

    assert files(unpacked) == files(source)
    assert not [name for name in files(unpacked) if Path(name).suffix in (".so", ".pyc", ".o")]


def test_tests_of_the_sdist_run(unpacked, tmp_path):
    python = new_environment(tmp_path / "venv")
    run(python, "-m", "pip", "install", "-q", f"{unpacked}[test]")
    shutil.rmtree(unpacked / "build", ignore_errors=True)
    tests = ("graph", "symmetry/test_kernel.py", "examples/test_factory.py", "house/test_rooms.py")
    command = ("-m", "pytest", "-n", "0", "-m", "not full", *(f"tests/{each}" for each in tests))
    assert " passed" in run(python, *command, folder=unpacked)


@pytest.mark.parametrize("kind", ["compiled", "plain"])
@pytest.mark.parametrize("number", VERSIONS)
def test_wheels_work_on_every_python(number, kind, wheels, tmp_path):
    """Without a compiler, in an environment where nothing else is."""
    python = python_of(number)
    if python is None:
        pytest.skip(f"there is no python{number} on this machine")
    own = new_environment(tmp_path / "venv", python)
    run(own, "-m", "pip", "install", "-q", f"{wheels[kind]}[duckdb]", **NO_COMPILER)
    lifagu = own.parent / "lifagu"
    version = run(lifagu, "--version", folder=tmp_path)
    compiled = kind == "compiled" and shutil.which("g++") is not None
    assert version.rstrip().endswith("kernel: compiled") == compiled
    assert f"Python {number}." in run(own, "--version")
    assert run(lifagu, "demo", folder=tmp_path)
    for example in EXAMPLES:
        here = run(sys.executable, "-m", "lifagu", *example, folder=tmp_path)
        assert run(lifagu, *example, folder=tmp_path) == here, example
