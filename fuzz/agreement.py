"""The same question to everybody who can answer it: random models until the time is over.

    python fuzz/agreement.py --seconds 600 --seed 1 [--spark]

Each round draws a small model with holes, odd declarations, zeros and evidence, and compares what
is told by the compiled kernel and by its reference, by every engine and by plain enumeration, in
memory and by SQL on DuckDB, with --spark now and then on Spark as well. Groups, transfers and
tables must be the same, row for row; numbers may differ by rounding.
"""

from __future__ import annotations

import os

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # before numpy

import argparse
import random
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import pytest

import lifagu
from lifagu.basics import kernel
from lifagu.scale.engines.opening import open_engine
from support.by_sql import WAYS, cases
from support.graphs_for_engines import hospital
from support.helpers import graph_of, random_model
from support.naive import graphs as naive
from support.odd import odd_model
from support.relational_models import random_relational, relational
from support.same_results import assert_same_answers, assert_same_lift, assert_same_tables
from support.spark_cluster import write_quick_settings

ENGINES = ("auto", "lifted", "ground")
ON_SPARK = "spark=local[1]"
RARE = 150  # rounds of which one is on Spark, which takes a minute
LARGEST = 14  # variables of a model that is enumerated


# ---- what is compared


def by_kernel(rng: random.Random, _: Path) -> None:
    """Compiled and reference: groups, transfers, total weight and marginals."""
    graph, evidence = drawn(rng)
    ways = rng.choice(WAYS)
    with_kernel = told(graph, evidence, ways)
    with without_kernel():
        assert told(graph, evidence, ways) == with_kernel


def told(graph: lifagu.FactorGraph, evidence: dict[str, str], ways: dict[str, Any]) -> Any:
    """All that one way has to say of a graph, numbers to twelve digits."""
    case = lifagu.open(graph).observe(evidence).fill(**ways)
    lift = case.lift()
    found = [repr(case.transfer.record), lift.groups.variables, lift.groups.factors]
    try:
        marginals = case.marginals()
        numbers = {name: dict(each) for name, each in marginals.items()}
    except lifagu.NoAnswerError as error:
        return [*found, str(error)]
    return [*found, rounded(numbers)]


def rounded(numbers: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Probabilities to ten digits."""
    return {
        name: {label: round(share, 10) for label, share in each.items()}
        for name, each in numbers.items()
    }


def by_engine(rng: random.Random, _: Path) -> None:
    """Every engine and enumeration, with evidence that may be impossible."""
    model, evidence = random_model(rng.randrange(10**9), variables=rng.randint(2, 9))
    graph = graph_of(model)
    try:
        log, marginals = naive.enumerate_answers(model, evidence)
    except ZeroDivisionError:
        for engine in ENGINES:
            with pytest.raises(lifagu.NoAnswerError):
                lifagu.marginals(graph, evidence=evidence, engine=engine)
        return
    for engine in ENGINES:
        found = lifagu.log_partition(graph, evidence=evidence, engine=engine)
        assert found == pytest.approx(log, rel=1e-9, abs=1e-12), engine
        answers = lifagu.queries(graph, list(marginals), evidence=evidence, engine=engine)
        for name, answer in zip(marginals, answers, strict=True):
            assert dict(answer) == pytest.approx(marginals[name], rel=1e-9, abs=1e-12), engine


def by_cells(rng: random.Random, _: Path) -> None:
    """A relational model over cells, and the same grounded."""
    model = relational(**random_relational(rng))
    ground = lifagu.ground(model)
    names = list(ground.variable_names)
    evidence = {
        name: rng.choice(ground.variable(name).range)
        for name in rng.sample(names, min(len(names), rng.randint(0, 2)))
    }
    asked = rng.sample(names, min(len(names), 3))
    expected = everything(ground, asked, evidence, engine="ground")
    found = everything(model, asked, evidence)
    for one, two in zip(found, expected, strict=True):
        assert one == two if isinstance(two, str) else one == pytest.approx(two, 1e-9, 1e-12)


def everything(model: Any, names: list[str], evidence: dict[str, str], **more: str) -> list[Any]:
    """The total weight, and the probabilities of some variables."""
    ask = partial(lifagu.query, model, evidence=evidence, **more)
    return [
        outcome(partial(lifagu.log_partition, model, evidence=evidence, **more)),
        *(outcome(lambda name=name: dict(ask(name))) for name in names),
    ]


def outcome(work: Callable[[], Any]) -> Any:
    """What some work gives, or that there is no answer."""
    try:
        return work()
    except lifagu.NoAnswerError:
        return "no answer"


def by_place(rng: random.Random, folder: Path, on: str = "duckdb") -> None:
    """In memory and by SQL: what is said of a lift, all tables that are written, and answers."""
    graph, evidence = drawn(rng)
    lifagu.write(graph, folder / "big", evidence)
    memory, engine = cases(folder / "big", ways=rng.choice(WAYS), on=on)
    expected = memory.lift(out=folder / "memory")
    assert_same_lift(engine.lift(out=folder / "sql"), expected)
    assert_same_tables(folder / "sql", folder / "memory")
    question = rng.choice(list(graph.variable_names))
    one = outcome(lambda: memory.plan([[question]]).run())
    two = outcome(lambda: engine.plan([[question]]).run())
    if isinstance(one, str) or isinstance(two, str):
        assert one == two
    else:
        assert_same_answers(two, one)


def on_spark(rng: random.Random, folder: Path) -> None:
    """The same on Spark."""
    by_place(rng, folder, ON_SPARK)


def drawn(rng: random.Random) -> tuple[lifagu.FactorGraph, dict[str, str]]:
    """A graph with holes and odd declarations, and something observed."""
    if rng.random() < 0.3:
        return hospital(rng)
    graph = graph_of(odd_model(rng.randrange(10**9)))
    names = list(graph.variable_names)
    observed = rng.sample(names, min(rng.randint(0, 2), len(names)))
    return graph, {name: rng.choice(graph.variable(name).range) for name in observed}


@contextmanager
def without_kernel() -> Iterator[None]:
    """Let the reference do the work."""
    there, kernel._kernel = kernel._kernel, None
    try:
        yield
    finally:
        kernel._kernel = there


# ---- the campaign

COMPARISONS = (by_kernel, by_kernel, by_engine, by_engine, by_cells, by_cells, by_place)


@contextmanager
def java(needed: bool) -> Iterator[None]:
    """A session of Spark that is found open, so that Java starts once."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SPARK_CONF_DIR"] = str(write_quick_settings(Path(folder) / "settings"))
        session = open_engine(ON_SPARK, Path(folder), 2**31) if needed else None
        yield
        if session is not None:
            session.close()


def campaign(seconds: float, seed: int, spark: bool) -> tuple[Counter[str], list[str]]:
    """How often each comparison was made, and what failed."""
    counts: Counter[str] = Counter()
    failures: list[str] = []
    until, number = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        rng = random.Random(f"{seed} {number}")
        compare = rng.choice(COMPARISONS)
        if spark and number % RARE == RARE - 1:
            compare = on_spark
        try:
            with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
                warnings.simplefilter("error")
                compare(rng, Path(folder))
        except Exception:
            failures.append(f"{compare.__name__} by '{seed} {number}': {traceback.format_exc()}")
        counts[compare.__name__] += 1
        number += 1
    return counts, failures


def main() -> int:
    """Print what was compared and what failed; the exit status says whether something did."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="how long (default 60)")
    parser.add_argument("--seed", type=int, default=0, help="of all that is drawn (default 0)")
    parser.add_argument("--spark", action="store_true", help="now and then on Spark, too")
    options = parser.parse_args()
    with java(options.spark):
        counts, failures = campaign(options.seconds, options.seed, options.spark)
    tried = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
    print(f"seed {options.seed}: {counts.total()} comparisons ({tried})")
    for each in failures[:5]:
        print(f"failed: {each}")
    print(f"{len(failures)} failures")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
