"""What lies in `research/` runs small and comes to its figures, on public names."""

import ast
import json
import subprocess
import sys

import numpy as np
import pytest

import lifagu
from research.bench import relational
from research.bench.parts import PARTS
from research.harness import Campaign, Cell, Outcome, divergence, gather
from research.holes import baselines
from research.holes.estimated import runs as estimated
from research.holes.hospital import hospital
from research.holes.mixture import HospitalMixture, padded
from research.holes.oracle import Oracle
from research.holes.runs import run as holes
from research.holes.scenarios import SCENARIOS
from research.league.__main__ import page as league_page
from research.league.holes import Holes, observed, write_holed
from research.league.pooling import frequencies, group_pooling
from research.league.raw_tables import Raw, Told
from research.league.sheets import sheets
from research.paper import runs as paper
from research.paper.report import families, page
from support.helpers import ROOT
from support.oracle import oracle

RESEARCH = ROOT / "research"
# what no public name offers; whoever changes it looks here, too
LISTED = {
    "lifagu.basics.arrays",  # bench/colour_peers.py: orbits
    "lifagu.cli",  # apart.py: commands in a process
    "lifagu.data.databases.cells",  # league/raw_tables.py: cells as texts
    "lifagu.graph.bins",  # the same: bins of numbers
    "lifagu.graph.supports",  # bench/cohort_models.py: a million tables from arrays
    "lifagu.graph.tables",  # the same
}


def ran(*words):
    command = [sys.executable, "-m", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_only_public_names_and_listed_modules_are_imported():
    found = set()
    for path in RESEARCH.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lifagu."):
                found.add(node.module)
            elif isinstance(node, ast.ImportFrom) and node.module == "lifagu":
                assert {each.name for each in node.names} <= {*lifagu.__all__}, path
            elif isinstance(node, ast.Import):
                assert all(not each.name.startswith("lifagu.") for each in node.names), path
    assert found <= LISTED
    for path in (ROOT / "src").rglob("*.py"):
        assert "import research" not in path.read_text()
        assert "from research" not in path.read_text()


def test_the_readme_names_every_campaign_and_part():
    told = (RESEARCH / "README.md").read_text()
    for folder in ("paper", "holes", "bench", "league"):
        assert f"`{folder}/`" in told
        assert (RESEARCH / "results" / f"{folder}.md").stat().st_size < 12_000
    assert all(f"`{part}`" in told for part in PARTS)


# ---- the paper's evaluation


@pytest.mark.parametrize("generator", paper.GENERATORS)
def test_ground_truths_are_as_the_paper_says(generator):
    for d in (4, 32):
        instance, _ = paper.generated(Cell(generator, d, 1))
        draft, holed = instance.draft, instance.draft.without(instance.hidden)
        assert 2 * d <= len(draft.factors) <= 3 * d
        assert len(set(instance.questions)) == d
        assert 1 <= len(instance.hidden) <= max(1, np.ceil(0.1 * len(draft.factors)))
        assert not len(lifagu.transfer(holed, 0.0, by="lifagu").graph.unknown)


def test_rows_are_what_enumeration_says():
    cell = Cell("epidemic", 4, 0)
    outcome = paper.run({"theta": 0.0, "timed": 1}, cell)
    instance, rng = paper.generated(cell)
    draft, hidden = instance.draft, instance.hidden
    filled = lifagu.transfer(draft.without(hidden), 0.0, by="lifagu").graph
    graphs = [filled, *map(draft.graph, paper.guesses(draft, hidden, rng))]
    for row in outcome.rows:
        true, *found = (oracle(graph).marginal(row["query"]) for graph in (draft.graph(), *graphs))
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


# ---- beside peers


def test_two_parts_of_the_comparison_run_small(tmp_path):
    for only in (["lifting", "colour"], ["lifting"]):  # what is not named stays as it was
        named = [word for part in only for word in ("--only", part)]
        out = ran("research.bench", "--small", *named, "--out", tmp_path / "bench")
        assert out.count("| epidemic, ") >= 3
        assert "## Colour passing" in out
        assert "**Failed:**" not in out


def test_relational_models_have_their_closed_forms():
    for make, closed in (
        (relational.epidemic, relational.epidemic_odds),
        (relational.pairs, relational.pairs_odds),
    ):
        model = make(5)
        asked = "Epid" if make is relational.epidemic else "A(1)"
        found = lifagu.query(lifagu.ground(model), asked).log_probabilities
        assert float(found[1] - found[0]) == pytest.approx(closed(5), rel=1e-12)


# ---- the league


@pytest.fixture
def machines(tmp_path):
    rows = [f"m{n},s{n % 5},{'hot' if n % 3 else 'cold'}" for n in range(60)]
    (tmp_path / "machines.csv").write_text("\n".join(["id,site,state", *rows]) + "\n")
    return tmp_path / "machines.csv"


ASKED = {
    "relations": [{"name": "State", "of": ["Machine"], "range": ["cold", "hot"]}],
    "evidence": {"State": {"sql": "SELECT id, state FROM machines"}},
}


def test_hidden_cells_are_gone_from_the_database_and_from_what_rivals_see(machines, tmp_path):
    raw = Raw(machines)
    (seen,) = observed(raw, ASKED)
    hidden = seen.rows[::7]
    holed = tmp_path / "holed.csv"
    write_holed(machines, holed, [seen], Holes({"State": hidden}), (), with_cells=False)
    left = Raw(holed).tables["holed"]["state"]
    assert left.isna().to_numpy().nonzero()[0].tolist() == hidden.tolist()
    names = tuple(seen.individuals[row] for row in hidden)
    truth = np.array([int(raw.tables["machines"]["state"][row] == "hot") for row in hidden])
    told = Told("State", names, ("cold", "hot"), truth, np.full((len(hidden), 2), 0.5), hidden)
    (sheet,), unable = sheets(raw, (), ASKED, [told])
    assert not unable
    assert sheet.known.tables["machines"]["state"].isna().sum() == len(hidden)
    for predict in (frequencies, group_pooling):
        assert predict(sheet)["State"].sum(axis=1) == pytest.approx(1)


def test_who_is_ahead_is_told_with_an_interval():
    def told(way, loss):
        rows = [
            {"kind": "", "group": group, "cells": 10, "loss": 10 * loss + group % 2, "right": 5.0}
            for group in range(50)
        ]
        facts = {"seconds": 1.0, "memory": 1, "note": "", "bins": [[10.0, 5.0, 5.0]]}
        return Outcome(Cell(f"autocomplete uwcse: {way}", 0, 0), facts, rows)

    failed = Outcome(Cell("autocomplete uwcse: CatBoost", 0, 0), {"failure": ">300 s"}, [])
    shown = league_page([told("lifagu", 0.5), told("frequencies", 0.9), failed])
    assert "| 0.950 frequencies | 0.550 | -0.400 (-0.400 to -0.400) | **ahead** |" in shown
    assert "| autocomplete uwcse | CatBoost | >300 s |" in shown
