"""Cohorts look further: in whose company a factor stands, and groups that lack a table."""

from __future__ import annotations

import numpy as np
import pytest

import lifagu
from lifagu.graph.tables import GivenTables

DRUGS = ("alpha", "beta", "gamma")
EFFECTS = {"alpha": ([9, 1], [2, 8]), "beta": ([7, 3], [4, 6]), "gamma": ([1, 9], [5, 5])}


def _treated(by_drug: bool, holes: int) -> lifagu.FactorGraph:
    """Patients of two genotypes, each given a drug; of the last ones the effect is unknown."""
    builder = lifagu.FactorGraph.build()
    everything = [table for both in EFFECTS.values() for table in both]
    rng = np.random.default_rng(3)
    for number in range(90):
        name, drug, genotype = f"p{number}", DRUGS[number % 3], int(rng.random() < 0.5)
        builder = builder.variable(f"Sick({name})", kind="Sick", individual=[name])
        builder = builder.variable(f"Effect({name},{drug})", kind="Effect", individual=[name, drug])
        table = EFFECTS[drug][genotype] if by_drug else everything[int(rng.integers(6))]
        known = None if number >= 90 - holes else table
        builder = builder.factor(f"r({name})", [f"Effect({name},{drug})"], known)
        builder = builder.factor(f"s({name})", [f"Sick({name})"], [[1, 2], [3, 1]][genotype])
    return builder.graph()


def test_a_drug_tells_tables_apart() -> None:
    """What a hole may have are tables of its own drug, and the genotype is told by `s`."""
    moved = lifagu.transfer(_treated(by_drug=True, holes=9), by="auto")
    for record in moved.record:
        own = DRUGS[int(record.factor[3:-1]) % 3]
        possible = [tuple(map(float, table)) for table in EFFECTS[own]]
        told = [each.table for each in record.competing if each.share > 0.05]
        assert told
        assert set(told) <= set(possible)


def test_company_that_tells_nothing_is_not_asked() -> None:
    """Where tables do not depend on the drug, all patients stay comparable."""
    moved = lifagu.transfer(_treated(by_drug=False, holes=9), by="auto")
    assert {record.candidates for record in moved.record} == {81}


def test_few_in_a_company_are_not_set_apart() -> None:
    """Holes in the company of a drug that hardly anybody else got have all as candidates."""
    graph = _treated(by_drug=True, holes=80)
    moved = lifagu.transfer(graph, by="auto")
    assert {record.candidates for record in moved.record} == {10}


def _wards(kits: str) -> lifagu.FactorGraph:
    """Patients of wards with a stay table each; the lab's table is that of the ward's kit, if any.

    kits: a letter for each ward, "?" where nobody knows the kit.
    """
    builder, number = lifagu.FactorGraph.build(), 0
    tables = {"p": [97, 3], "q": [75, 25], "?": None}
    for ward, kit in enumerate(kits):
        for _ in range(40 if ward == 0 else 10):
            name = f"p{number}"
            number += 1
            for kind in ("Test", "Stay"):
                builder = builder.variable(f"{kind}({name})", kind=kind, individual=[name])
            builder = builder.factor(f"stay({name})", [f"Stay({name})"], [1, 2 + ward])
            builder = builder.factor(f"lab({name})", [f"Test({name})"], tables[kit])
    return builder.graph()


def test_a_group_that_lacks_a_table_counts_groups() -> None:
    """Ward 0 of four is large, but the unknown kit of the last one is as often any other's."""
    moved = lifagu.transfer(_wards("pqq?"), by="auto")
    shares = {each.table: each.share for each in moved.record[0].competing}
    assert shares[75.0, 25.0] == pytest.approx(2 / 3, abs=0.01)
    assert shares[97.0, 3.0] == pytest.approx(1 / 3, abs=0.01)


def test_one_hole_in_a_ward_is_no_group() -> None:
    """Where others of the ward have the table, so has the one without."""
    graph = _wards("pqqp")
    last = len(graph.factor_names) - 1
    numbers = graph.factor_table.copy()
    numbers[last] = -1
    moved = lifagu.transfer(graph.refilled(_given(graph), numbers), by="auto")
    assert moved.record[0].competing[0].table == (97.0, 3.0)
    assert moved.record[0].share > 0.9


def _given(graph: lifagu.FactorGraph) -> GivenTables:
    return GivenTables(graph.tables.values, graph.tables.offsets)
