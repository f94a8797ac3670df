"""The memory limit holds while models are read, and the usual one knows who else limits it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import lifagu
from lifagu.basics import memory
from lifagu.basics.memory import LEAST
from lifagu.graph.factor_graph import FactorGraph
from support.helpers import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
PROGRAM = """
import sys
from lifagu.cli import main
status = main(sys.argv[1:])
peak = open("/proc/self/status").read().partition("VmHWM:")[2].split()[0]
print(f"peak {peak}", file=sys.stderr)
sys.exit(status)
"""
VARIABLES, MANY = 20_000, 100_000
TOLD = re.compile(r"takes? about ([\d.]+) ([KMG])iB of memory, but the limit is")


def write(folder, name, variables):
    """A tree of binary factors, written under a name."""
    ends = [[each // 2, each] for each in range(1, variables)]
    graph = FactorGraph.from_arrays(
        ranges=[["false", "true"]],
        variable_ranges=[0] * variables,
        offsets=range(0, 2 * variables - 1, 2),
        arguments=[each for pair in ends for each in pair],
        tables=[[[1, 2], [3, 4]], [[2, 1], [1, 3]]],
        factor_tables=[each % 2 for each in range(variables - 1)],
        variable_names="x",
        factor_names="f",
    )
    lifagu.write(graph, folder / name)
    return folder / name


def run(*words):
    """Status, the error and the peak in bytes of one command."""
    command = [sys.executable, "-c", PROGRAM, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    *said, peak = done.stderr.splitlines()
    return done.returncode, said, int(peak.split()[1]) * 1024


def check_law(path, small, verb, *options):
    """Every refusal names what is enough in the end, and the peak keeps within each limit."""
    _, _, base = run(verb, small, *options, "--quiet")
    limit, refused = 17 * 2**20, 0
    while True:
        status, said, peak = run(verb, path, *options, "--quiet", "--memory-limit", limit)
        assert peak <= base + limit + LEAST
        if status == 0:
            break
        assert (status, len(said)) == (4, 1)
        assert said[0].endswith("; name a --memory-limit within which it fits")
        number, unit = TOLD.search(said[0]).groups()
        need = int(float(number) * 1024 ** (" KMG".index(unit)) * 1.01)  # three digits are told
        assert need > limit
        limit, refused = need, refused + 1
    assert refused <= 3
    assert refused or path.is_dir()  # engines work beyond memory


@pytest.mark.parametrize("name", ["m.json", "m.uai", "m"])
def test_a_command_ends_within_its_limit_or_says_what_it_would_take(name, tmp_path):
    small = write(tmp_path, f"small{name}", 3)
    check_law(write(tmp_path, name, VARIABLES), small, "lift", "--json")


@pytest.mark.full
@pytest.mark.parametrize("name", ["m.json", "m.uai", "m.fg", "m.blog", "m"])
@pytest.mark.parametrize("words", [["logz"], ["lift", "--json"]], ids=" ".join)
def test_large_models_keep_within_the_limit(name, words, tmp_path):
    small = write(tmp_path, f"small{name}", 3)
    check_law(write(tmp_path, name, VARIABLES if name == "m.blog" else MANY), small, *words)


def test_a_lower_limit_is_advised_only_where_more_was_allowed_than_there_is(tmp_path):
    program = """
import resource, sys
from lifagu.basics import memory
from lifagu.basics.memory import LEAST
from lifagu.cli import main
assert main(["lift", "examples/epidemic.json", "--json", "--quiet"]) == 0  # loads what is needed
held = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (held + 2**25, held + 2**25))
memory._free_memory.cache_clear()
sys.exit(main(sys.argv[1:]))
"""
    path = write(tmp_path, "m.json", VARIABLES)
    command = [sys.executable, "-c", program, "lift", path, "--json", "--quiet"]
    settings = {"capture_output": True, "text": True, "check": False, "cwd": ROOT}
    lower = "the memory ran out; set a lower --memory-limit to be told beforehand\n"
    for limit, status, end in (
        (["--memory-limit", "9G"], 4, lower),
        (["--memory-limit", "20M"], 4, "; name a --memory-limit within which it fits\n"),
        ([], 4, "; name a --memory-limit within which it fits\n"),
    ):
        done = subprocess.run([*command, *limit], **settings)
        assert (done.returncode, done.stderr.count("\n")) == (status, 1)
        assert done.stderr.endswith(end)
        assert (lower in done.stderr) == (end == lower)


def told(folder: Path, monkeypatch, **files: str) -> int:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(memory, "PROC", folder / "proc")
    monkeypatch.setattr(memory, "GROUPS", folder / "groups")
    memory._free_memory.cache_clear()
    try:
        return memory.default_memory_limit()
    finally:
        memory._free_memory.cache_clear()


FREE = "MemTotal: 9000000 kB\nMemAvailable: 8000000 kB\n"


def test_the_usual_limit_knows_control_groups(tmp_path, monkeypatch):
    plain = told(tmp_path / "plain", monkeypatch, proc__meminfo=FREE)
    assert plain == 8_000_000 * 1024 * 3 // 4
    second = {
        "proc__meminfo": FREE,
        "proc__self__cgroup": "0::/jobs/one\n",
        "groups__jobs__memory_dot_max": "4000000\n",
        "groups__jobs__memory_dot_current": "2000000\n",
        "groups__jobs__memory_dot_stat": "anon 5\ninactive_file 400000\n",
        "groups__jobs__one__memory_dot_max": "max\n",
    }
    assert told(tmp_path / "two", monkeypatch, **second) == 2_400_000 * 3 // 4
    first = {
        "proc__meminfo": FREE,
        "proc__self__cgroup": "5:cpu:/\n4:memory:/elsewhere/of/the/host\n",
        "groups__memory__memory_dot_limit_in_bytes": "1000000\n",
        "groups__memory__memory_dot_usage_in_bytes": "200000\n",
        "groups__memory__memory_dot_stat": "cache 7\ntotal_inactive_file 0\n",
    }
    assert told(tmp_path / "one", monkeypatch, **first) == 800_000 * 3 // 4


def test_the_usual_limit_knows_that_of_the_process():
    program = (
        "import resource; from lifagu.basics.memory import default_memory_limit as usual\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31)); print(usual())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert 0 < int(done.stdout) < 2**31 * 3 // 4
