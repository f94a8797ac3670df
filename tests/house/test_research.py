"""What lies in `research/` runs small and comes to its figures, on public names."""

import json
import subprocess
import sys

import numpy as np
import pytest

import lifagu
from research.harness import Cell, Outcome, divergence, gather
from research.holes import baselines
from research.holes.estimated import runs as estimated
from research.holes.hospital import hospital
from research.holes.mixture import HospitalMixture, padded
from research.holes.oracle import Oracle
from research.holes.runs import run as holes
from research.holes.scenarios import SCENARIOS
from research.paper import runs as paper
from research.paper.report import families, page
from support.helpers import ROOT

RESEARCH = ROOT / "research"
# what no public name offers: each is a line that whoever changes it must look at
LISTED: set[str] = set()


def ran(*words):
    command = [sys.executable, "-m", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---- the paper's evaluation


@pytest.mark.parametrize("generator", paper.GENERATORS)
def test_ground_truths_are_as_the_paper_says(generator):
    for d in (4, 32):
        instance, _ = paper.generated(Cell(generator, d, 1))
        draft, holed = instance.draft, instance.draft.without(instance.hidden)
        assert 2 * d <= len(draft.factors) <= 3 * d
        assert len(set(instance.questions)) == d
        assert 1 <= len(instance.hidden) <= max(1, np.ceil(0.1 * len(draft.factors)))
        assert not len(lifagu.transfer(holed, 0.0, by="published").graph.unknown)


def test_rows_are_what_enumeration_says():
    cell = Cell("epidemic", 4, 0)
    outcome = paper.run({"theta": 0.0, "timed": 1}, cell)
    instance, rng = paper.generated(cell)
    draft, hidden = instance.draft, instance.hidden
    filled = lifagu.transfer(draft.without(hidden), 0.0, by="published").graph
    graphs = [filled, *map(draft.graph, paper.guesses(draft, hidden, rng))]
    for row in outcome.rows:
        true, *found = (
            lifagu.query(graph, row["query"], engine="enumerate").probabilities
            for graph in (draft.graph(), *graphs)
        )
        told = [row[name] for name in ("transfer", *paper.GUESSES)]
        assert told == pytest.approx([float(divergence(true, each)) for each in found], abs=1e-12)


def test_figures_of_the_paper_come_out():
    outcomes = [
        paper.run({"theta": 0.0, "timed": 1}, Cell(generator, d, seed))
        for generator in ("similar", "employee")
        for d in (4, 16, 32)
        for seed in range(3)
    ]
    told = page(families(outcomes), 0.0, "")
    near, _, largest, guessing, *_ = [line for line in told.splitlines() if line[:2] == "| "][1:]
    assert near.count("holds: at most") == 2
    assert largest.count("holds: ") == 2
    assert guessing.count("| holds: mean") == 2


def test_what_theta_refuses_is_dropped():
    _, facts = paper._filled(paper.generated(Cell("text", 32, 0))[0], 1.0)
    assert 0 < facts["left"] <= facts["unknown"]


def test_the_evaluation_is_one_command_and_exports_what_it_runs(tmp_path):
    out = ran("research.paper", "--small", "--only", "text", "--out", tmp_path / "out")
    assert "| what lifting costs itself | not said |" in out
    assert "**Silent** on the structure" in out
    ran("research.paper", "--small", "--only", "epidemic", "--export", tmp_path / "there")
    holed, whole = (
        lifagu.read(tmp_path / "there" / f"epidemic-4-0{ending}")
        for ending in (".json", ".truth.json")
    )
    assert len(holed.unknown)
    assert not len(whole.unknown)
    assert holed.factor_names == whole.factor_names


# ---- one harness


def doubled(settings, cell):
    if cell.seed == settings.get("bad"):
        raise ValueError("it broke")
    return Outcome(cell, {}, [{"n": 2 * cell.size}])


def test_a_campaign_goes_on_where_it_stopped(tmp_path, capsys):
    from research.harness import Campaign

    wanted = Campaign(tmp_path, range(3), 1)
    cells = [Cell("a", 5, seed) for seed in range(3)]
    first = gather(wanted, cells[:2], {}, doubled)
    kept = tmp_path / "cells" / cells[0].file_name
    changed = json.loads(kept.read_text()) | {"rows": [{"n": -1}]}
    kept.write_text(json.dumps(changed))
    again = gather(wanted, cells, {}, doubled)
    assert [each.rows[0]["n"] for each in (*first, *again)] == [10, 10, -1, 10, 10]
    with pytest.raises(SystemExit, match="other settings"):
        gather(wanted, cells, {"bad": 1}, doubled)
    failed = gather(Campaign(tmp_path / "b", range(3), 1), cells, {"bad": 1}, doubled)
    assert [each.facts.get("failed") for each in failed] == [None, "it broke", None]
    assert not (tmp_path / "b" / "cells" / cells[1].file_name).exists()


# ---- the harder suite


def of_ways(rows):
    return {(row["method"], row["answers"]): row for row in rows}


@pytest.mark.parametrize("name", ["share-20", "permuted", "kinds-none", "all"])
def test_the_baseline_by_share_is_as_defined(name):
    """By brute force: who else stands there, and which of their tables is the commonest."""
    drawn = hospital(SCENARIOS[name], 30, np.random.default_rng(3))
    graph = drawn.draft.without(drawn.hidden)
    where, filled = baselines.places(graph), baselines.weightiest(baselines.by_share(graph))
    factors = list(graph.factors)
    for hole in drawn.hidden:
        there = [
            factors[other].table.transpose(where[other].order)
            for other in range(len(factors))
            if where[other].signature == where[hole].signature and factors[other].table is not None
        ]
        many = [sum(np.array_equal(one, other) for other in there) for one in there]
        expected = there[int(np.argmax(many))]
        assert np.array_equal(filled[hole].transpose(where[hole].order), expected)


def test_profiles_find_who_is_alike_and_take_its_tables_together():
    drawn = hospital(SCENARIOS["identifiable"], 60, np.random.default_rng(5))
    graph = drawn.draft.without(drawn.hidden)
    offered = baselines.by_profile(graph)
    best = baselines.weightiest(offered)
    factors = drawn.draft.factors
    right = [np.array_equal(best[hole], factors[hole].table) for hole in drawn.hidden]
    assert np.mean(right) > 0.9
    assert all(own.weights.sum() == pytest.approx(1) for own in offered.values())


def test_a_mixture_is_the_average_over_all_completions():
    drawn = hospital(SCENARIOS["share-05"], 4, np.random.default_rng(2))
    completions = Oracle(drawn).completions(np.random.default_rng(0))
    found = HospitalMixture(drawn, completions, 400, np.random.default_rng(0)).marginals()
    names = [each.name for each in drawn.draft.variables]
    total, weight = 0.0, 0.0
    (own,) = completions.values()
    for place, share in enumerate(own.weights):
        tables = {hole: each[place] for hole, each in own.tables.items()}
        told = lifagu.marginals(drawn.draft.graph(tables))
        total = total + share * padded([np.array(list(told[name].values())) for name in names])
        weight += share
    assert found == pytest.approx(total / weight, abs=1e-9)


def test_the_default_is_nearly_the_oracle_and_all_rules_are_worse():
    rows = of_ways(holes({}, Cell("share-20", 60, 0)).rows)
    oracle = rows["oracle", "average"]["kl"]
    assert oracle * 0.9 < rows["auto", "average"]["kl"] < 1.5 * oracle
    assert (
        rows["auto", "average"]["kl"] < rows["profiles", "mean"]["kl"] < rows["share", "one"]["kl"]
    )
    assert rows["oracle", "one"]["right_sure"] == 1


def test_estimated_tables_have_their_oracle_too():
    rows = of_ways(estimated.run({}, Cell("records-20", 60, 0)).rows)
    for name in estimated.DIVERGENCES[:1] + estimated.DIVERGENCES[3:]:
        auto, pooled = rows["auto", "average"][name], rows["pooled", "mean"][name]
        assert rows["oracle", "average"][name] < auto < pooled


def test_the_suite_is_one_command(tmp_path):
    out = ran("research.holes", "--small", "--only", "share-20", "records-20", "--out", tmp_path)
    assert "| auto average | " in out
    assert "## In thousandths: estimated tables, filled tables" in out
