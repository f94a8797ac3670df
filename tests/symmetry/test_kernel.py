"""The compiled kernel: equal to reference and definition, safe, interruptible, dispensable."""

import _thread
import os
import shutil
import subprocess
import sys
import sysconfig
import threading
import zipfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import lifagu
from lifagu.basics.arrays import by_first_occurrence, group_lists, group_rows, group_rows_bitwise
from lifagu.basics.kernel import has_kernel, loaded
from lifagu.graph.factor_graph import Colouring
from lifagu.symmetry.colour import compiled, reference
from support.helpers import ROOT, graph_of, random_model, run_cli
from support.naive.kernel import (
    kernel_colours,
    naive_colours,
    numbered,
    random_arrays,
    repeated,
    try_kernel,
)

needs_kernel = pytest.mark.skipif(
    not has_kernel(), reason="lifagu was installed without a compiler"
)
ALIKE = [["0", "1"]]


@pytest.fixture
def no_kernel(monkeypatch):
    monkeypatch.setattr("lifagu.basics.kernel._kernel", None)


def path_arrays(size):
    return {
        "offsets": 2 * np.arange(size),
        "arguments": np.repeat(np.arange(size), 2)[1:-1],
        "positions": None,
        "variable_start": np.zeros(size, dtype=np.int64),
        "factor_start": np.zeros(size - 1, dtype=np.int64),
    }


def graph_from(arrays):
    """A graph whose unknown factors get their start colours from outside."""
    count, factors = len(arrays["variable_start"]), len(arrays["factor_start"])
    return lifagu.FactorGraph.from_arrays(
        ranges=ALIKE,
        variable_ranges=np.zeros(count, dtype=np.int64),
        offsets=arrays["offsets"],
        arguments=arrays["arguments"],
        tables=[],
        factor_tables=np.full(factors, -1),
    )


# ---- colours


@needs_kernel
def test_every_way_through_the_kernel_gives_what_the_definition_says():
    try_kernel(loaded(), range(1500))


@needs_kernel
@pytest.mark.full
def test_every_way_through_the_kernel_gives_what_the_definition_says_long():
    try_kernel(loaded(), range(1500, 30000))


@pytest.mark.parametrize("seed", range(400))
def test_kernel_and_reference_are_equal_array_for_array(seed):
    arrays = random_arrays(np.random.default_rng(seed))
    given = arrays["variable_start"], arrays["factor_start"]
    start = Colouring(*(np.array(numbered(each.tolist()), dtype=np.int64) for each in given))
    result = reference.refine(graph_from(arrays), start, arrays["positions"])
    assert (result.variable_colours.tolist(), result.factor_colours.tolist()) == naive_colours(
        arrays
    )
    if loaded() is not None:
        assert compiled.refine(loaded(), graph_from(arrays), given, arrays["positions"]) == result


@needs_kernel
@pytest.mark.parametrize("seed", range(150))
def test_the_door_gives_the_same_with_and_without_the_kernel(seed, monkeypatch):
    """Evidence hard and soft, ranges, tables, holes, exchangeable arguments, start colours."""
    model, evidence = random_model(
        seed, unknown=0.3, variables=4 + seed % 20, factors=seed % 30, kinds=seed % 3 == 0
    )
    graph = graph_of(model)
    settings = {"commutative": seed % 4 == 0}
    if seed % 5 == 0:
        settings["variable_start"] = (np.arange(len(graph.variable_names)) % 3) * 10**17
    with_kernel = lifagu.colour(graph, evidence, **settings)
    monkeypatch.setattr("lifagu.basics.kernel._kernel", None)
    without = lifagu.colour(graph_of(model), evidence, **settings)
    assert with_kernel == without
    assert with_kernel.variable_colours.dtype == without.variable_colours.dtype == np.int64


@needs_kernel
@pytest.mark.parametrize("seed", range(100))
def test_relabelling_permutes_the_colours_and_nothing_else(seed):
    rng = np.random.default_rng(seed)
    arrays = random_arrays(rng)
    variables, factors = kernel_colours(loaded(), arrays)
    # variable v becomes move[v]
    move, order = (rng.permutation(len(variables)), rng.permutation(len(factors)))
    places = [np.arange(*arrays["offsets"][factor : factor + 2]) for factor in order.tolist()]
    chosen = np.concatenate([np.zeros(0, dtype=np.int64), *places])
    moved = {
        "offsets": np.cumsum([0, *map(len, places)]),
        "arguments": move[arrays["arguments"][chosen]],
        "positions": None if arrays["positions"] is None else arrays["positions"][chosen],
        "variable_start": arrays["variable_start"][np.argsort(move)],
        "factor_start": arrays["factor_start"][order],
    }
    expected = (
        numbered(np.array(variables)[np.argsort(move)].tolist()),
        numbered(factors[each] for each in order),
    )
    assert kernel_colours(loaded(), moved, share=4 * (seed % 2)) == expected


@needs_kernel
@pytest.mark.parametrize("share", [0, 4])
def test_repeated_parts_look_alike_at_any_size(share):
    one = path_arrays(500)
    many = repeated(one, 40)
    variables, factors = kernel_colours(loaded(), many, share=share)
    assert variables == list(range(500)) * 40
    assert factors == list(range(499)) * 40


# ---- numbering

few = st.integers(0, 3) | st.integers(0, 2**62)


@needs_kernel
@given(
    arrays(np.int64, array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=20), elements=few)
)
def test_rows_are_numbered_by_first_occurrence(matrix):
    expected = numbered(map(tuple, matrix.tolist()))
    assert group_rows(matrix).tolist() == expected
    assert group_rows(np.asfortranarray(matrix)).tolist() == expected
    assert group_rows(matrix[:, ::-1]).tolist() == expected


@given(arrays(np.int64, array_shapes(min_dims=2, max_dims=2, max_side=20), elements=few))
def test_rows_are_numbered_alike_without_the_kernel(matrix):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lifagu.basics.kernel._kernel", None)
        without = (
            group_rows(matrix),
            group_rows_bitwise(matrix),
            by_first_occurrence(matrix[0] % 100 - 1),
        )
    with_kernel = (
        group_rows(matrix),
        group_rows_bitwise(matrix),
        by_first_occurrence(matrix[0] % 100 - 1),
    )
    assert all(map(np.array_equal, without, with_kernel))


@pytest.mark.parametrize("seed", range(50))
@pytest.mark.parametrize("ordered", [True, False])
def test_lists_are_numbered_alike_without_the_kernel(seed, ordered, monkeypatch):
    rng = np.random.default_rng(seed)
    offsets = np.concatenate(
        ([0], np.cumsum(rng.integers(0, 4 if seed % 5 else 40, rng.integers(0, 60))))
    )
    values = rng.integers(0, 3, offsets[-1])
    rows = [values[start:end].tolist() for start, end in pairwise(offsets.tolist())]
    expected = numbered(tuple(row if ordered else sorted(row)) for row in rows)
    assert group_lists(offsets, values, ordered).tolist() == expected
    monkeypatch.setattr("lifagu.basics.kernel._kernel", None)
    assert group_lists(offsets, values, ordered).tolist() == expected


@needs_kernel
def test_many_distinct_rows_stay_apart():
    """More than any small table holds; also numbers that differ in their highest bits only."""
    for matrix in (np.arange(200_000).reshape(-1, 2), np.arange(100_000).reshape(-1, 1) << 43):
        twice = np.concatenate((matrix, matrix[::-1]))
        count = len(matrix)
        assert group_rows(twice).tolist() == [*range(count), *reversed(range(count))]
        numbers = np.empty(len(twice), dtype=np.int64)
        loaded().number_lists(twice, None, twice.shape[1], False, numbers, True)
        assert numbers.max() + 1 == count


# ---- interruption and progress


@needs_kernel
def test_ctrl_c_stops_the_kernel_and_leaves_everything_sane():
    """The other thread gets its turn only because the kernel lets it, and presses Ctrl-C."""
    path = path_arrays(1_000_000)
    variables, factors = np.full(1_000_000, -1), np.full(999_999, -1)
    entered = threading.Event()
    other = threading.Thread(target=lambda: (entered.wait(), _thread.interrupt_main()))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        other.start()
        entered.set()
        with pytest.raises(KeyboardInterrupt):
            loaded().colour(*path.values(), variables, factors, None, False, 4)
    finally:
        sys.setswitchinterval(interval)
        other.join()
    # it was stopped before the result was there
    assert not np.array_equal(variables, np.arange(1_000_000))
    small = path_arrays(50)
    assert kernel_colours(loaded(), small) == naive_colours(small)


@needs_kernel
def test_an_error_in_the_progress_callback_comes_back():
    def fail(done, total):
        raise RuntimeError(f"{done <= total}")

    with pytest.raises(RuntimeError, match="True"):
        kernel_colours(loaded(), path_arrays(1_000_000), fail)


@needs_kernel
def test_progress_grows_to_the_total():
    seen = []
    kernel_colours(loaded(), path_arrays(1_500_000), lambda done, total: seen.append((done, total)))
    assert len(seen) > 3
    counted = [done for done, total in seen if total > 1]
    assert counted == sorted(counted)
    assert 0 <= counted[0] < counted[-1] <= seen[-1][1]


def test_the_reference_reports_progress_too(no_kernel):
    seen = []
    lifagu.colour(
        graph_from(path_arrays(200)), progress=lambda done, total: seen.append((done, total))
    )
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1][0] == seen[-1][1] > 0


# ---- safety


@needs_kernel
@pytest.mark.parametrize(
    ("name", "bad", "message"),
    [
        ("offsets", np.array([0, 2, 1, 6]), "offsets must not fall"),
        ("offsets", np.array([0, 2, 4, 7]), "end with the number of arguments"),
        ("offsets", np.array([1, 2, 4, 6]), "begin with 0"),
        ("offsets", np.array([0, 6]), "offsets has 2 entries, not 4"),
        ("arguments", np.array([0, 1, 1, 2, 2, 4]), r"arguments\[5\] is 4, not in 0…3"),
        ("arguments", np.array([0, -1, 1, 2, 2, 3]), r"arguments\[1\] is -1"),
        (
            "arguments",
            np.array([0, 1, 1, 2, 2, 3], dtype=np.int32),
            "arguments must hold 64-bit integers",
        ),
        (
            "arguments",
            np.array([0, 1, 1, 2, 2, 3], dtype=np.float64),
            "arguments must hold 64-bit integers",
        ),
        ("arguments", np.repeat([0, 1, 1, 2, 2, 3], 2)[::2], "contiguous"),
        ("positions", np.zeros(5, dtype=np.int64), "positions has 5 entries, not 6"),
        ("positions", np.full(6, 2**62), "positions"),
        ("variable_start", np.array([0, 0, 0, 4]), r"variable_start\[3\] is 4"),
        ("factor_start", np.array([0, 0, -3]), r"factor_start\[2\] is -3"),
    ],
)
def test_bad_arrays_are_refused(name, bad, message):
    with pytest.raises((ValueError, BufferError), match=message):
        kernel_colours(loaded(), path_arrays(4) | {name: bad})


@needs_kernel
def test_results_are_never_written_where_they_may_not_be():
    frozen = np.zeros(4, dtype=np.int64)
    frozen.flags.writeable = False
    with pytest.raises((ValueError, BufferError)):
        loaded().colour(
            *path_arrays(4).values(), frozen, np.zeros(3, dtype=np.int64), None, False, 4
        )
    with pytest.raises(TypeError):
        loaded().colour(
            *path_arrays(4).values(), [0] * 4, np.zeros(3, dtype=np.int64), None, False, 4
        )
    path = path_arrays(4)
    with pytest.raises(
        ValueError, match="variable_colours must not share memory with variable_start"
    ):
        loaded().colour(
            *path.values(), path["variable_start"], np.zeros(3, dtype=np.int64), None, False, 4
        )
    with pytest.raises(ValueError, match="numbers must not share memory with offsets"):
        loaded().number_lists(
            path["arguments"], path["offsets"], 0, True, path["offsets"][:-1], False
        )
    with pytest.raises(ValueError, match="numbers has 2 entries, not 4"):
        loaded().number_ids(frozen, np.zeros(2, dtype=np.int64))
    with pytest.raises(ValueError, match="values has 4 entries, not 6"):
        loaded().number_lists(frozen, None, 2, True, np.zeros(3, dtype=np.int64), False)


def test_the_kernel_is_clean_under_sanitizers(tmp_path):
    """Addresses and undefined behaviour, on good and on broken arrays, in a process of its own."""
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    header = Path(sysconfig.get_paths()["include"]) / "Python.h"
    if compiler is None or not header.exists():
        pytest.skip("no C++ compiler, or no Python.h")
    libraries = [  # what throws has to be there before the sanitizer
        subprocess.run(
            [compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=False
        ).stdout.strip()
        for name in ("libasan.so", "libstdc++.so")
    ]
    if not all(Path(library).is_absolute() for library in libraries):
        pytest.skip("the compiler has no address sanitizer")
    built = tmp_path / "_kernel.so"
    flags = [
        "-std=c++17",
        "-O0",
        "-g",
        "-fPIC",
        "-shared",
        "-D_GLIBCXX_ASSERTIONS",
        "-Wall",
        "-Wextra",
        "-Werror",
    ]
    flags += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", f"-I{header.parent}"]
    subprocess.run(
        [compiler, *flags, str(ROOT / "kernel/module.cpp"), "-o", str(built)], check=True
    )
    tried = subprocess.run(
        [sys.executable, str(ROOT / "tests/support/naive/kernel.py"), str(built), "300"],
        env={**os.environ, "LD_PRELOAD": " ".join(libraries), "ASAN_OPTIONS": "detect_leaks=0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert tried.returncode == 0, tried.stderr


# ---- doing without


def test_without_the_kernel_the_package_says_so(no_kernel, capsys):
    assert not has_kernel()
    assert "the slower reference runs" in run_cli(capsys, "--version")[1]


@needs_kernel
@pytest.mark.parametrize("rule", ["auto", "lifagu", "extended"])
@pytest.mark.parametrize("name", ["wards", "clinic"])
def test_without_the_kernel_holes_are_filled_alike(name, rule, monkeypatch):
    def answers():
        found = lifagu.open(ROOT / f"examples/{name}.json").fill(by=rule).marginals()
        return {variable: found[variable] for variable in found}

    expected = answers()
    monkeypatch.setattr("lifagu.basics.kernel._kernel", None)
    found = answers()
    assert found.keys() == expected.keys()
    for variable, wanted in expected.items():
        assert found[variable] == pytest.approx(wanted, rel=1e-12)


@needs_kernel
def test_with_the_kernel_the_package_says_so(capsys):
    assert run_cli(capsys, "--version")[1].endswith("kernel: compiled\n")


UNHARDENED = """#!/bin/sh
case "$*" in *-fstack-protector-strong*) exit 1 ;; esac
exec g++ "$@"
"""


@pytest.mark.full
@pytest.mark.parametrize("compiler", [None, "no-such-compiler", "one that cannot harden"])
def test_wheels_hold_the_kernel_where_it_can_be_built(compiler, tmp_path):
    if compiler == "one that cannot harden":
        (tmp_path / "compiler").write_text(UNHARDENED)
        (tmp_path / "compiler").chmod(0o755)
        compiler = str(tmp_path / "compiler")
    source = tmp_path / "source"  # nothing that was built before
    shutil.copytree(
        ROOT, source, ignore=shutil.ignore_patterns(".*", "build", "dist", "*.so", "*.egg-info")
    )
    named = {} if compiler is None else {"CC": compiler, "CXX": compiler}
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--wheel-dir",
        str(tmp_path),
        str(source),
    ]
    subprocess.run(command, env={**os.environ, **named}, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        built = [name for name in archive.namelist() if "_kernel" in name]
    assert len(built) == (compiler != "no-such-compiler" and shutil.which("g++") is not None)
