"""Whole individuals filled by SQL: row for row what memory gives, in whatever order."""

import random
from contextlib import closing

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lifagu
from lifagu.filling.individuals import factor_owners, variable_owners
from lifagu.questions.by_sql.completing import fill_on
from lifagu.questions.requested_marginals import near_unknown
from lifagu.scale import individuals
from lifagu.scale.engines.opening import open_engine
from lifagu.scale.near_unknown_factors import find_near
from support.by_sql import (
    BY_INDIVIDUALS,
    WAYS_FOR_INDIVIDUALS,
    cases,
    lifted_by_sql,
    lifted_in_memory,
)
from support.graphs_for_engines import hospital
from support.helpers import ROOT, mostly_full, sampled
from support.parquet_folders import make_folder
from support.same_results import assert_imputed_alike, assert_same_lift, assert_same_tables

ALWAYS = (0, 1, 6, 7)  # of every sort, as a test holds


def assert_as_from_memory(graph, evidence, ways, place, **more):
    lifagu.write(graph, place / "big", evidence)
    expected = lifted_in_memory(place / "big", place / "memory", **ways)
    assert_same_lift(lifted_by_sql(place / "big", place / "sql", ways=ways, **more), expected)
    assert_same_tables(place / "sql", place / "memory")


@pytest.mark.parametrize("seed", mostly_full(range(12), always=ALWAYS))
def test_hospitals_come_out_as_from_memory(tmp_path, seed):
    graph, evidence = hospital(random.Random(seed))
    assert_as_from_memory(
        graph, evidence, WAYS_FOR_INDIVIDUALS[seed % len(WAYS_FOR_INDIVIDUALS)], tmp_path
    )


def test_hospitals_are_of_every_sort():
    """What the seeds of every run show: donors that are many, that compete, that tie, and none."""
    found = [
        record
        for seed in ALWAYS
        for record in lifagu.transfer(hospital(random.Random(seed))[0]).record
    ]
    whole = [record for record in found if record.unit == "individual"]
    for some in (
        [each for each in whole if each.agreeing > 1],
        [each for each in whole if each.tables > 1],
        [each for each in whole if each.tie],
        [each for each in whole if each.ambiguous_assignment],
        [each for each in found if each.fallback],
    ):
        assert some


def test_all_is_lent_by_the_individual_declared_first(tmp_path):
    """Of ann and ben, who are alike, each has a first factor of some sort; eve takes ann's."""
    builder = lifagu.FactorGraph.build()
    for name in ("eve", "ben", "ann"):
        builder.variable(f"A.{name}", kind="A", individual=[name]).variable(
            f"B.{name}", kind="B", individual=name
        )
    for factor in ("A.ann", "A.ben", "B.ben", "B.ann", "A.eve", "B.eve"):
        builder.factor(f"f.{factor}", [factor], None if "eve" in factor else [1, 2])
    assert_as_from_memory(builder.graph(), {}, {}, tmp_path)
    donors = duckdb.sql(
        f"""
        SELECT f.name
        FROM '{tmp_path}/sql/transfers.parquet' t
        JOIN '{tmp_path}/sql/factors.parquet' f ON f.id = t.donor_id
        ORDER BY t.factor_id
        """
    )
    assert donors.fetchall() == [("f.A.ann",), ("f.B.ann",)]


PEOPLE = {  # texts in place of lists, ids with gaps, rows in any order, some variables of nobody
    "variables": """
        SELECT 3 * i AS id,
               concat('k', i % 2) AS kind,
               CASE WHEN i < 40 THEN concat('p', i // 2) END AS individual
        FROM range(42) t(i)
        ORDER BY hash(i)
    """,
    "factors": """
        SELECT 2 * i AS id, CASE WHEN i % 7 <> 3 THEN i // 20 END AS table_id
        FROM range(40) t(i)
    """,
    "arguments": """
        SELECT 2 * i AS factor_id,
               p AS position,
               3 * (CASE WHEN p = 0 THEN (i * 17) % 40 ELSE 40 + i % 2 END) AS variable_id
        FROM range(40) t(i), range(2) u(p)
    """,
    "tables": "SELECT * FROM (VALUES (0, [1, 2, 3, 4]), (1, [4, 3, 2, 1])) t(id, potentials)",
    "evidence": None,
}


def test_texts_in_place_of_lists(tmp_path):
    make_folder(tmp_path / "big", **PEOPLE)
    lifted_in_memory(tmp_path / "big", tmp_path / "memory", **BY_INDIVIDUALS)
    lifted_by_sql(tmp_path / "big", tmp_path / "sql", ways=BY_INDIVIDUALS)
    assert_same_tables(tmp_path / "sql", tmp_path / "memory")
    units = duckdb.sql(f"SELECT DISTINCT unit FROM '{tmp_path}/sql/transfers.parquet'").fetchall()
    assert units == [("individual",)]


def test_too_many_sorts_of_individuals(tmp_path, monkeypatch):
    make_folder(tmp_path / "big", **PEOPLE)
    monkeypatch.setattr(individuals, "MOST_TYPES", 5)
    with pytest.raises(
        lifagu.TooLargeError, match="more than 5 are too many; .*leave out the column individual"
    ):
        lifted_by_sql(tmp_path / "big", None)


@pytest.mark.parametrize("seed", sampled(range(12, 16), step=2))
def test_impute_reports_as_from_memory(tmp_path, seed):
    graph, evidence = hospital(random.Random(seed))
    lifagu.write(graph, tmp_path / "big", evidence)
    assert_imputed_alike(tmp_path, **BY_INDIVIDUALS)


@pytest.mark.parametrize("combine", ["best", "average"])
def test_questions_about_somebody_who_was_filled(tmp_path, combine):
    graph = lifagu.read(ROOT / "examples/epidemic.json").with_individual("eve", like="alice")
    lifagu.write(graph, tmp_path / "big")
    memory, engine = cases(tmp_path / "big", ways={"combine": combine})
    for question in (["Sick.eve"], ["Epid"], ["Epid", "Sick.eve"]):
        mine, theirs = engine.ask(*question), memory.ask(*question)
        np.testing.assert_allclose(mine.probabilities, theirs.probabilities, rtol=1e-12)
        assert (mine.rests_on, mine.weakest_share) == (theirs.rests_on, theirs.weakest_share)
        assert len(mine.rests_on) > 1


# ---- one rule, in numpy and in SQL


@st.composite
def owned_graphs(draw):
    """Variables of none, one or several individuals; factors over some of them, some unknown."""
    lists = st.lists(st.sampled_from(["ann", "ben", "eve", "ward"]), max_size=3, unique=True)
    builder, count = lifagu.FactorGraph.build(), draw(st.integers(1, 8))
    for number in range(count):
        builder.variable(f"v{number}", individual=draw(lists))
    scopes = st.lists(st.sampled_from(range(count)), max_size=3, unique=True)
    for number, scope in enumerate(draw(st.lists(scopes, max_size=8))):
        table = draw(st.sampled_from([None, [1.0] * 2 ** len(scope)]))
        builder.factor(f"f{number}", [f"v{each}" for each in scope], table)
    graph = builder.graph()
    hard = draw(st.lists(st.sampled_from(list(graph.variable_names)), max_size=3))
    return graph, dict.fromkeys(hard, "true") | {"v0": {"true": 1.0, "false": 2.0}}


@settings(max_examples=10, suppress_health_check=list(HealthCheck))
@given(owned_graphs(), st.booleans())
def test_owners_and_what_is_near(tmp_path_factory, observed, as_texts):
    check_owners_and_what_is_near(tmp_path_factory, observed, as_texts)


@pytest.mark.full
@settings(max_examples=100, suppress_health_check=list(HealthCheck))
@given(owned_graphs(), st.booleans())
def test_owners_and_what_is_near_long(tmp_path_factory, observed, as_texts):
    check_owners_and_what_is_near(tmp_path_factory, observed, as_texts)


def check_owners_and_what_is_near(tmp_path_factory, observed, as_texts):
    """Whose variables and factors are, and what is near holes, is the same in both languages."""
    place, (graph, evidence) = tmp_path_factory.mktemp("owned"), observed
    if as_texts:  # a column of texts in place of lists
        one = "CASE WHEN individual IS NOT NULL THEN individual[1] END AS individual"
        lifagu.write(graph, place / "lists", evidence)
        rewrite(
            place / "lists", place / "big", one if len(graph.individuals) else "NULL AS individual"
        )
    else:
        lifagu.write(graph, place / "big", evidence)
    graph, seen = lifagu.read(place / "big"), lifagu.io.read_evidence(place / "big")
    with closing(open_engine("duckdb", place / "engine")) as engine:
        whole = fill_on(engine, place / "big", {}, lifagu.Filling(), lambda _: None)
        for table, owners in (
            ("variable", variable_owners(graph)),
            ("factor", factor_owners(graph)),
        ):
            first = variable_owners(graph).tolist()
            named = {
                each: first.index(owner) for each, owner in enumerate(owners.tolist()) if owner >= 0
            }
            if whole.given.has_individuals:
                individuals.find_owners(whole.engine, whole.given)
                assert dict(engine.rows(f"SELECT id, owner FROM {table}_owners")) == named
            else:
                assert not named
        for most in (2, 100):
            expected, count = near_unknown(lifagu.transfer(graph), graph.evidence(seen), most)
            unknown, free = whole.types.first[whole.types.table < 0], np.flatnonzero(~whole.hard)
            found = find_near(engine, whole.given, unknown, free, most)
            assert found == (expected.tolist(), count)


def rewrite(folder, target, individual):
    """A folder with another column individual."""
    target.mkdir()
    for file in folder.iterdir():
        columns = "*"
        if file.name == "variables.parquet":
            has = "individual" in duckdb.sql(f"FROM '{file}'").columns
            columns = f"* {'EXCLUDE individual' if has else ''}, {individual}"
        duckdb.sql(f"COPY (SELECT {columns} FROM '{file}') TO '{target / file.name}'")
