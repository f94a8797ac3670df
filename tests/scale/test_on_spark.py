"""Lifting, asking and imputing on Spark: row for row what memory gives; this takes minutes."""

import random

import numpy as np
import pytest

import lifagu
from lifagu.scale.engines.opening import open_engine
from support.by_sql import (
    BY_INDIVIDUALS,
    WAYS_FOR_INDIVIDUALS,
    cases,
    lifted_by_sql,
    lifted_in_memory,
)
from support.graphs_for_engines import ONE, OTHER, big_graph, hospital, people
from support.same_results import (
    assert_as_from_memory_or_refused,
    assert_same_answers,
    assert_same_imputed,
    assert_same_lift,
    assert_same_tables,
)
from support.spark_cluster import WHY_NOT

pytestmark = [pytest.mark.full, pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT or "")]
ON = "spark=local[2]"


@pytest.fixture(scope="module", autouse=True)
def session(tmp_path_factory):
    """Kept open, so that engines find it and need not start Java."""
    opened = open_engine(ON, tmp_path_factory.mktemp("session"), 2**31)
    yield
    opened.close()


@pytest.mark.parametrize("seed", range(4))
def test_hospitals_are_lifted_as_in_memory(tmp_path, seed):
    (graph, evidence), ways = (
        hospital(random.Random(seed)),
        WAYS_FOR_INDIVIDUALS[seed % len(WAYS_FOR_INDIVIDUALS)],
    )
    lifagu.write(graph, tmp_path / "big", evidence)
    expected = lifted_in_memory(tmp_path / "big", tmp_path / "memory", **ways)
    assert_same_lift(lifted_by_sql(tmp_path / "big", tmp_path / "sql", ways=ways, on=ON), expected)
    assert_same_tables(tmp_path / "sql", tmp_path / "memory")


@pytest.mark.parametrize("seed", [5, 8])
def test_hospitals_are_imputed_and_asked_as_in_memory(tmp_path, seed):
    graph, evidence = hospital(random.Random(seed))
    lifagu.write(graph, tmp_path / "big", evidence)
    memory, spark = cases(tmp_path / "big", ways=BY_INDIVIDUALS, on=ON)
    expected = memory.impute(out=tmp_path / "memory")
    assert_same_imputed(
        spark.impute(out=tmp_path / "sql"), expected, tmp_path / "sql", tmp_path / "memory"
    )
    answered = list(expected.marginals.names)[:2]
    questions = [answered[:1], answered]
    assert_same_answers(spark.plan(questions).run(), memory.plan(questions).run())


@pytest.mark.parametrize("refused", [False, True])
def test_what_all_agree_on_is_filled_by_default(tmp_path, refused):
    last = OTHER if refused else ONE
    graph = people((ONE, ONE), (ONE, ONE), (None, ONE), (last, ONE), test_p1=[5.0])
    lifagu.write(graph, tmp_path / "big")
    assert_as_from_memory_or_refused(tmp_path, refused, on=ON)


def test_a_million_arguments(tmp_path):
    lifagu.write(big_graph(), tmp_path / "big")
    lifted_in_memory(tmp_path / "big", tmp_path / "memory")
    lifted_by_sql(tmp_path / "big", tmp_path / "sql", on=ON)
    assert_same_tables(tmp_path / "sql", tmp_path / "memory")
    memory, spark = cases(tmp_path / "big", on=ON)
    mine, theirs = spark.ask("x0"), memory.ask("x0")
    assert (mine.rests_on, mine.weakest_share) == (theirs.rests_on, theirs.weakest_share)
    np.testing.assert_allclose(mine.log_probabilities, theirs.log_probabilities, rtol=1e-9)
