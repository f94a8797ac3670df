"""Questions about many variables, some of which are in parts that are too wide to be exact."""

import itertools

import numpy as np
import pytest

import lifagu
from lifagu.inference import conditioning, planning_by_part
from support.helpers import run_cli
from support.oracle import oracle

WIDE = 7  # variables of each wide patient, all of which know each other


def hospital(people=6, wide=2, seed=0):
    """Patients with their own pair tables; of the first few, all variables know each other."""
    random = np.random.default_rng(seed)
    builder = lifagu.FactorGraph.build()
    for person in range(people):
        names = [f"Item{number}({person})" for number in range(WIDE)]
        for number, name in enumerate(names):
            builder.variable(name, ["a", "b", "c"], kind=f"Item{number}", individual=f"p{person}")
        pairs = itertools.combinations(names, 2) if person < wide else itertools.pairwise(names)
        for one, other in pairs:
            builder.factor(f"f.{one}.{other}", [one, other], random.gamma(1.0, size=(3, 3)) + 0.1)
    return builder.graph()


@pytest.fixture
def busy(monkeypatch):
    """Hardly any work may be done, so that what is wide does not fit."""
    monkeypatch.setattr(planning_by_part, "MOST_TOGETHER", 1000)


def test_the_dearest_parts_are_left_out_where_all_together_take_too_long(monkeypatch):
    graph = hospital()
    exact = oracle(graph)
    monkeypatch.setattr(planning_by_part, "MOST_TOGETHER", 1000)
    found = lifagu.marginals(graph, engine="ground")
    assert [part.variables[0] for part in found.too_large] == ["Item0(0)", "Item0(1)"]
    assert len(found) == 4 * WIDE
    assert len(found.left_out) == 2 * WIDE
    assert "2 dear parts together take" in found.too_large[0].estimate
    assert "but the most are 1000 in all" in found.too_large[0].estimate
    for name in found:
        assert [*found[name].values()] == pytest.approx(exact.marginal(name).tolist(), rel=1e-12)
    with pytest.raises(lifagu.TooLargeError, match=r"P\(Item3\(1\)\) takes"):
        found["Item3(1)"]


def test_where_nothing_fits_it_is_refused(busy):
    with pytest.raises(lifagu.TooLargeError, match="but the most are 1000 in all"):
        lifagu.marginals(hospital(wide=6), engine="ground")


def test_many_parts_are_told_in_few_lines(busy):
    graph = hospital(people=20, wide=15)
    plan = str(lifagu.open(graph).plan_marginals(engine="ground"))
    assert plan.count("left out: ") == 8
    assert plan.endswith("and 7 parts more that were left out")


@pytest.mark.parametrize("many", [True, False])
def test_impute_lists_what_does_not_fit(busy, many):
    graph = hospital(people=12)
    queries = [f"Item{number}({person})" for person in range(12) for number in range(WIDE)]
    queries = queries if many else [*queries[:1], *queries[-2:]]
    found = lifagu.open(graph).impute(queries, engine="ground").marginals
    if not many:  # few are asked one by one, where only what is asked counts
        assert found.left_out == []
        return
    assert found.left_out == queries[: 2 * WIDE]
    assert list(found.names) == queries[2 * WIDE :]
    with pytest.raises(lifagu.TooLargeError, match=r"P\(Item1\(0\)\) takes"):
        found["Item1(0)"]


def test_few_questions_do_not_fail_for_one_that_does_not_fit(monkeypatch):
    monkeypatch.setattr(conditioning, "MOST_RUNS", 1)
    case = lifagu.open(hospital(people=4, wide=1), memory_limit=20_000)
    with pytest.raises(lifagu.TooLargeError, match="needs a table of 2187 entries"):
        case.impute(["Item0(0)"])
    with pytest.raises(lifagu.TooLargeError, match="needs a table of 2187 entries"):
        case.impute(["Item0(0)", "Item1(0)"])
    found = case.impute(["Item0(0)", "Item0(3)"]).marginals
    assert (found.left_out, list(found.names)) == (["Item0(0)"], ["Item0(3)"])


def test_the_report_and_json_say_what_does_not_fit(busy, tmp_path, capsys):
    path = tmp_path / "hospital.json"
    graph = hospital(people=12)
    lifagu.io.write(graph, path)
    queries = list(graph.variable_names)
    status, out, _ = run_cli(
        capsys, "impute", str(path), "--engine", "ground", "--queries", *queries
    )
    assert status == 0
    assert "left out, as they do not fit: Item0(0), Item1(0)" in out
    assert "or ask with --engine bp, which is not exact" in out


def test_validation_scores_the_rest_and_says_so(busy):
    graph = hospital(people=30, wide=3)
    random = np.random.default_rng(1)
    evidence = {
        name: "abc"[random.integers(3)] for name in graph.variable_names if "0(" not in name
    }
    case = lifagu.open(graph).observe(evidence)
    found = case.validate(hide=0.9, engine="ground")
    note = next(note for note in found.notes if "left out" in note)
    assert "they are scored with the frequencies of their relation" in note
    assert "the engine bp answers them, but not exactly" in note
    assert 0 < found.json()["unanswered"] < found.hidden
    beliefs = case.validate(hide=0.9, engine="bp")
    assert beliefs.json()["unanswered"] == 0
    assert any("belief propagation, which are not exact" in note for note in beliefs.notes)
