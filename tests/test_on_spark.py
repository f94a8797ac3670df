"""Lifting, asking and imputing on Spark, in one session: row for row what memory gives; this takes minutes."""

import random

import numpy as np
import pytest

import lifagu
from lifagu.sql.engines import open_engine
from spark_cluster import WHY_NOT
from test_impute_by_sql import assert_as_from_memory
from test_individuals_by_sql import WAYS, hospital
from test_scale import assert_same_tables, big_graph, lifted_in_memory

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
    (graph, evidence), ways = hospital(random.Random(seed)), WAYS[seed % len(WAYS)]
    lifagu.write(graph, tmp_path / "big", evidence)
    lifted_in_memory(tmp_path / "big", tmp_path / "memory", **ways)
    lifagu.lift_folder(tmp_path / "big", out=tmp_path / "sql", filling=lifagu.Filling(**ways), on=ON)
    assert_same_tables(tmp_path / "sql", tmp_path / "memory")


@pytest.mark.parametrize("seed", range(4, 6))
def test_hospitals_are_imputed_as_in_memory(tmp_path, seed):
    graph, evidence = hospital(random.Random(seed))
    lifagu.write(graph, tmp_path / "big", evidence)
    expected = lifagu.impute(lifagu.read(tmp_path / "big"), evidence)
    lifagu.write_imputed(tmp_path / "memory", expected.tables())
    found = lifagu.impute_folder(tmp_path / "big", out=tmp_path / "sql", on=ON)
    assert_as_from_memory(found, expected, tmp_path / "sql", tmp_path / "memory")


def test_a_million_arguments(tmp_path):
    graph = big_graph()
    lifagu.write(graph, tmp_path / "big")
    lifted_in_memory(tmp_path / "big", tmp_path / "memory")
    lifagu.lift_folder(tmp_path / "big", out=tmp_path / "sql", on=ON)
    assert_same_tables(tmp_path / "sql", tmp_path / "memory")
    moved = lifagu.transfer(graph)
    expected = lifagu.query(moved.graph, "x0")
    found = lifagu.prepare_by_sql(tmp_path / "big", [["x0"]], filling=lifagu.Filling(), on=ON, enough=1000).run()
    np.testing.assert_allclose(found.answers[0].log_probabilities, expected.log_probabilities, rtol=1e-9)
