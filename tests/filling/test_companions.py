"""Second individuals told apart: a drug takes the table of the same drug, in whatever order."""

import numpy as np
import pytest

import lifagu

RESPONSE = {"m1": [9, 1, 2, 8], "m2": [5, 5, 6, 4], "m3": [1, 9, 7, 3]}
PATIENTS = {"al": ["m1", "m2"], "bo": ["m1", "m2"], "cy": ["m1", "m2"], "eve": ["m2", "m1"]}


def hospital(patients, unknown, swapped=(), second=True):
    """Patients with a factor for each drug, listed in the order given; unknown: those without."""
    builder = lifagu.FactorGraph.build()
    for patient, drugs in patients.items():
        builder = builder.variable(f"Sick.{patient}", kind="Sick", individual=patient)
        builder = builder.factor(f"prior.{patient}", [f"Sick.{patient}"], [3, 1])
        for drug in drugs:
            owners = [patient, drug] if second else [patient]
            name = f"Treat.{patient}.{drug}"
            builder = builder.variable(name, kind="Treat", individual=owners)
            table = RESPONSE[{"m1": "m2", "m2": "m1"}[drug] if patient in swapped else drug]
            given = None if (patient, drug) in unknown or patient in unknown else table
            builder = builder.factor(f"f.{patient}.{drug}", [f"Sick.{patient}", name], given)
    return builder.graph()


def donors(graph, **settings):
    moved = lifagu.transfer(graph, **settings)
    return {each.factor: each.donor for each in moved.record}, moved


@pytest.mark.parametrize("by", ["extended", "auto"])
def test_each_drug_has_the_table_of_the_same_drug_in_whatever_order(by):
    found, moved = donors(hospital(PATIENTS, {"eve"}), by=by)
    assert found == {"f.eve.m1": "f.al.m1", "f.eve.m2": "f.al.m2"}
    for record in moved.record:
        assert (record.ambiguous_assignment, record.share, record.candidates) == (False, 1.0, 3)
    for drug in ("m1", "m2"):
        table = moved.graph.factor(f"f.eve.{drug}").table
        assert table.reshape(-1).tolist() == RESPONSE[drug]


def test_swapped_tables_are_other_tables():
    _, moved = donors(hospital(PATIENTS, {"eve"}, swapped=["bo"]), by="extended")
    assert {(each.agreeing, each.candidates) for each in moved.record} == {(2, 3)}
    known = {("eve", "m2")}  # what eve has for m1 is not what bo has for it
    _, moved = donors(hospital(PATIENTS, known, swapped=["bo"]), by="extended")
    assert [(each.agreeing, each.candidates) for each in moved.record] == [(2, 2)]


def test_nobody_with_the_same_drugs_means_list_order_which_is_said():
    others = {**PATIENTS, "eve": ["m3", "m2"]}
    found, moved = donors(hospital(others, {"eve"}), by="extended")
    assert found == {"f.eve.m3": "f.al.m1", "f.eve.m2": "f.al.m2"}
    assert all(each.ambiguous_assignment for each in moved.record)
    mixed = {**others, "dee": ["m2", "m1"]}
    found, moved = donors(hospital(mixed, {"eve", "dee"}), by="extended")
    assert found["f.dee.m1"] == "f.al.m1"
    assert [each.ambiguous_assignment for each in moved.record] == [True, True, False, False]


def test_a_single_drug_is_told_by_nobody_and_nothing_changes_without_second_individuals():
    single = {"al": ["m1"], "bo": ["m2"], "eve": ["m2"]}
    _, moved = donors(hospital(single, {"eve"}), by="extended")
    assert [each.candidates for each in moved.record] == [2]
    found, moved = donors(hospital(PATIENTS, {"eve"}, second=False), by="extended")
    assert found == {"f.eve.m2": "f.al.m1", "f.eve.m1": "f.al.m2"}
    assert all(each.ambiguous_assignment for each in moved.record)


@pytest.mark.parametrize("rule", [{"by": "lifagu"}, {"by": "extended", "steps": 4}])
def test_rules_that_know_no_individuals_stay_to_the_letter(rule):
    found, first = donors(hospital(PATIENTS, {"eve"}), **rule)
    other, second = donors(hospital(PATIENTS, {"eve"}, second=False), **rule)
    assert found == other
    assert np.array_equal(first.graph.factor_table, second.graph.factor_table)


@pytest.mark.parametrize("seed", range(8))
def test_engines_take_the_same_tables(seed, tmp_path):
    rng = np.random.default_rng(seed)
    names, drugs = [f"p{number}" for number in range(7)], list(RESPONSE)
    patients = {}
    for name in names:
        many = int(rng.integers(1, 3))
        patients[name] = [drugs[each] for each in rng.permutation(3)[:many]]
    holes = {(name, drug) for name in names[3:] for drug in patients[name] if rng.random() < 0.6}
    swapped = [name for name in names if rng.random() < 0.3 and "m3" not in patients[name]]
    graph = hospital(patients, holes, swapped)
    lifagu.write(graph, tmp_path / "big")
    filling = lifagu.Filling(by="extended")
    here = lifagu.open(graph).fill(filling).lift().transfer.graph
    lifagu.open(tmp_path / "big", on="duckdb").fill(filling).lift(tmp_path / "there")
    there = lifagu.read(tmp_path / "there")
    assert [str(each) for each in there.factors] == [str(each) for each in here.factors]
