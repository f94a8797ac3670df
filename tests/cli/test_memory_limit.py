"""The memory limit holds while models are read, and the usual one knows who else limits it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import lifagu
from lifagu.basics import memory
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
VARIABLES = 20_000


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    ends = [[each // 2, each] for each in range(1, VARIABLES)]
    graph = FactorGraph.from_arrays(
        ranges=[["false", "true"]],
        variable_ranges=[0] * VARIABLES,
        offsets=range(0, 2 * VARIABLES - 1, 2),
        arguments=[each for pair in ends for each in pair],
        tables=[[[1, 2], [3, 4]], [[2, 1], [1, 3]]],
        factor_tables=[each % 2 for each in range(VARIABLES - 1)],
        variable_names="x",
        factor_names="f",
    )
    for name in ("m.json", "m.uai", "m.fg", "m.blog", "m"):
        lifagu.write(graph, folder / name)
    return folder


def run(*words, cwd=ROOT):
    """Status, the error and the peak in bytes of one command."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
    )
    *said, peak = done.stderr.splitlines()
    return done.returncode, said, int(peak.split()[1]) * 1024


@pytest.mark.parametrize("name", ["m.json", "m.uai", "m.fg", "m.blog", "m"])
def test_a_command_ends_within_its_limit_or_says_what_it_would_take(models, name):
    small = "query", "examples/epidemic.json", "Sick.bob"
    _, _, base = run(*small)
    if name == "m":
        _, _, base = run("check", models / "m", "--memory-limit", "17M")  # with DuckDB
    statuses = set()
    for limit in (17, 60, 1000):
        for command in (["logz"], ["lift", "--json"]):
            verb, *options = command
            status, said, peak = run(
                verb, models / name, *options, "--quiet", "--memory-limit", f"{limit}M"
            )
            statuses.add(status)
            if status == 0:
                assert peak <= base + (limit + 16) * 2**20
            else:
                assert (status, len(said)) == (4, 1)
                assert "but the limit is" in said[0]
                assert said[0].endswith("; name a --memory-limit within which it fits")
                assert peak <= base + (limit + 16) * 2**20
    assert statuses == {0, 4}


def test_the_memory_that_ran_out_is_told_beforehand_only_where_more_was_allowed(models):
    program = "import resource, sys\n{}\nfrom lifagu.cli import main\nsys.exit(main(sys.argv[1:]))"
    limit = "resource.setrlimit(resource.RLIMIT_AS, (7 * 2**26, 7 * 2**26))"
    command = [sys.executable, "-c", program.format(limit), "lift", models / "m.blog", "--json"]
    settings = {"capture_output": True, "text": True, "check": False, "cwd": ROOT}
    alone = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    lower = "set a lower --memory-limit to be told beforehand"
    done = subprocess.run([*command, "--memory-limit", "9G"], env=alone, **settings)
    assert done.returncode in (0, 4)
    assert done.returncode == 0 or lower in done.stderr
    done = subprocess.run(command, env=alone, **settings)
    assert lower not in done.stderr


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
