"""The paper's experiment: the paper's numbers, divergences as they say, runs that go on."""

import csv
import json
import math
import sys
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lifagu
from lifagu.errors import FormatError, ModelError
from lifagu.experiments.campaign import Cell
from lifagu.experiments.divergence import divergence
from lifagu.experiments.paper import run_paper
from lifagu.experiments.paper.figure import draw_figure
from lifagu.experiments.paper.instances import five_to_ten_percent, hide_by_group, hide_by_place
from lifagu.experiments.paper.report import CLAIMS
from lifagu.experiments.paper.runs import GENERATORS, generated, random_donors, run
from lifagu.experiments.paper.summary import exponent, faster_from, summarised, trend
from support.helpers import run_cli

SMALL = {"sizes": (2, 4), "seeds": 2, "timed": 1}
CELLS = [
    Cell(generator, d, seed) for generator in GENERATORS for d in (2, 4, 8, 32) for seed in range(3)
]
LETTER = [cell for cell in CELLS if cell.group in ("text", "similar")]
AUTHORS = [cell for cell in CELLS if cell.group in ("employee", "epidemic")]


def ids(cell):
    return "-".join(map(str, cell))


# ---- divergence

weights = st.lists(st.floats(0, 1), min_size=2, max_size=5).filter(
    lambda values: sum(values) > 1e-3
)


@given(st.data())
def test_divergence_is_the_textbook_sum(data):
    first = np.array(data.draw(weights))
    second = np.array(
        data.draw(st.lists(st.floats(0, 1), min_size=len(first), max_size=len(first)))
    )
    if second.sum() <= 1e-3:
        return
    p, q = first / first.sum(), second / second.sum()
    found = float(divergence(p, q))
    if any(a > 0 and b == 0 for a, b in zip(p, q, strict=True)):
        assert found == math.inf
    else:
        expected = math.fsum(
            a * (math.log(a) - math.log(b)) for a, b in zip(p, q, strict=True) if a > 0
        )
        assert found == pytest.approx(expected, abs=1e-12, rel=1e-9)
        assert found >= 0
    assert float(divergence(p, p)) == 0


def test_divergence_of_almost_equal_answers_keeps_its_digits():
    p = np.array([0.3, 0.7])
    q = p + np.array([1e-9, -1e-9])
    assert float(divergence(p, q)) == pytest.approx(1e-18 / (2 * 0.3 * 0.7), rel=1e-6)


# ---- generators


@pytest.mark.parametrize("cell", LETTER, ids=ids)
def test_ground_truths_keep_to_the_letter(cell):
    instance, _ = generated(cell)
    d, draft, truth = cell.size, instance.draft, instance.draft.graph()
    assert 2 * d <= len(draft.variables) <= 3 * d
    assert 2 * d <= len(draft.factors) <= 3 * d
    assert 3 <= len(instance.cohort_sizes) <= 5
    assert max(instance.cohort_sizes) == instance.cohort_sizes[0] == len(draft.variables) // 2
    assert len(set(instance.questions)) == d
    assert set(instance.questions) <= {variable.name for variable in draft.variables}
    groups = sorted(map(len, lifagu.colour(truth).variable_groups))
    # cohorts are what should be grouped together
    assert groups == sorted([1, *instance.cohort_sizes])
    within = [
        count for count in range(1, len(draft.factors)) if 0.05 <= count / len(draft.factors) <= 0.1
    ]
    assert len(instance.hidden) in (within or [1])


@pytest.mark.parametrize("cell", AUTHORS, ids=ids)
def test_the_authors_families_are_as_described(cell):
    instance, _ = generated(cell)
    d, draft = cell.size, instance.draft
    sizes = {"employee": (2 * d + 1, 3 * d), "epidemic": (3 * d + 1, 2 * d + 1)}
    assert (len(draft.variables), len(draft.factors)) == sizes[cell.group]
    assert sum(instance.cohort_sizes) == len(instance.questions) == d
    assert min(3, d) <= len(instance.cohort_sizes) <= 10
    shifted, plain = ("f_com", ["f_rev", "f_sal"]) if cell.group == "employee" else ("f2", ["f1"])
    tables = {
        name: [each.table for each in draft.factors if each.name.startswith(f"{name}.")]
        for name in (shifted, *plain)
    }
    for name in plain:
        assert len(tables[name]) == d
        assert all(np.array_equal(tables[name][0], each) for each in tables[name])
        assert set(tables[name][0].reshape(-1)) <= {0.5, 1.0, 1.5}
    for one, other in combinations(tables[shifted], 2):
        apart = (one - other).reshape(-1)
        assert np.ptp(apart) == pytest.approx(0)
        assert round(10 * apart[0], 9) in range(-10, 11)
    assert 1 <= len(instance.hidden) <= math.ceil(0.1 * len(draft.factors))


@pytest.mark.parametrize("cell", CELLS, ids=ids)
def test_every_unknown_factor_has_a_known_one_that_is_possibly_identical(cell):
    instance, _ = generated(cell)
    graph = instance.draft.without(instance.hidden)
    neighbours = {
        each.name: [other for other in graph.factors if each.name in other.arguments]
        for each in graph.variables
    }

    # all are Boolean, so a bijection exists iff the degrees are the same
    def symmetric(one, other):
        degrees = [[len(neighbours[name]) for name in each.arguments] for each in (one, other)]
        return sorted(degrees[0]) == sorted(degrees[1])

    known = [factor for factor in graph.factors if factor.known]
    for factor in instance.hidden:
        assert any(symmetric(graph.factors[factor], other) for other in known)
    assert not len(lifagu.transfer(graph, 0.0, published=True).graph.unknown)


@pytest.mark.parametrize("seed", range(5))
def test_similar_cohorts_are_within_ten_per_cent_of_common_potentials(seed):
    instance, _ = generated(Cell("similar", 16, seed))
    tables = np.stack([factor.table for factor in instance.draft.factors[1:]])
    assert (tables.max(axis=0) / tables.min(axis=0) <= 1.1 / 0.9).all()
    assert (np.ptp(tables, axis=0) > 0).all()


@pytest.mark.parametrize("generator", GENERATORS)
def test_a_seed_decides_about_everything(generator):
    def drawn(seed):
        instance, rng = generated(Cell(generator, 16, seed))
        return (
            lifagu.io.to_json(instance.draft.without(instance.hidden)),
            instance.questions,
            rng.random(),
        )

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), st.integers(0, 30), st.integers(0, 9))
def test_removal_by_place_leaves_one_of_each_and_takes_all_it_may(places, count, seed):
    hidden = hide_by_place(places, count, np.random.default_rng(seed))
    assert {places[factor] for factor in set(range(len(places))) - set(hidden)} == set(places)
    assert len(hidden) == len(set(hidden)) == min(count, len(places) - len(set(places)))


def test_removal_by_place_is_even():
    rng = np.random.default_rng(0)
    counts = np.bincount([hide_by_place("aabbbc", 1, rng)[0] for _ in range(5000)], minlength=6)
    assert counts[5] == 0
    assert abs(counts[:5] - 1000).max() < 120  # four standard deviations


@given(st.lists(st.integers(1, 5), min_size=1, max_size=8), st.integers(0, 30), st.integers(0, 9))
def test_removal_by_group_leaves_one_of_each(sizes, count, seed):
    ends = np.cumsum(sizes).tolist()
    groups = [list(range(end - size, end)) for size, end in zip(sizes, ends, strict=True)]
    hidden = hide_by_group(groups, count, np.random.default_rng(seed))
    assert all(set(group) - set(hidden) for group in groups)
    assert len(set(hidden)) == min(count, sum(sizes) - len(sizes))


@given(st.integers(1, 500), st.integers(0, 9))
def test_five_to_ten_per_cent(factors, seed):
    count = five_to_ten_percent(factors, np.random.default_rng(seed))
    assert count == 1 or 0.05 * factors <= count <= 0.1 * factors


# ---- one cell


@pytest.mark.parametrize("cell", [cell for cell in CELLS if cell.size == 2], ids=ids)
def test_rows_are_what_enumeration_says(cell):
    outcome = run({"timed": 1}, cell)
    instance, rng = generated(cell)
    draft = instance.draft
    completed = lifagu.transfer(draft.without(instance.hidden), published=True).graph
    donors = draft.graph(random_donors(draft, instance.hidden, rng))
    ones = draft.graph(
        {factor: np.ones_like(draft.factors[factor].table) for factor in instance.hidden}
    )

    def asked(graph, question):
        return lifagu.query(graph, question, engine="enumerate").probabilities

    for row in outcome.rows:
        expected = asked(draft.graph(), row["query"])
        for name, graph in (("kl", completed), ("kl_random_donor", donors), ("kl_ones", ones)):
            assert row[name] == pytest.approx(
                float(divergence(expected, asked(graph, row["query"]))), abs=1e-12
            )
    assert [row["seconds_ground"] is not None for row in outcome.rows] == [True, False]


@pytest.mark.parametrize("cell", [cell for cell in CELLS if cell.size == 8], ids=ids)
def test_the_lifted_model_is_the_completed_one(cell):
    instance, _ = generated(cell)
    moved = lifagu.transfer(instance.draft.without(instance.hidden), published=True)
    lifted = lifagu.lift(moved)
    for question in instance.questions[:3]:
        expected = lifagu.query(moved.graph, question, engine="ground").probabilities
        assert lifagu.query(lifted, question, engine="lifted").probabilities == pytest.approx(
            expected, abs=1e-9
        )


def test_right_tables_give_right_answers_and_wrong_ones_do_not():
    outcomes = [run({"timed": 1}, cell) for cell in CELLS if cell.size == 8]
    all_right = [each for each in outcomes if each.facts["right"] == each.facts["unknown"]]
    wrong = [each for each in outcomes if each.cell.group == "text" and each not in all_right]
    assert all_right
    assert wrong
    for outcome in all_right:
        assert max(row["kl"] for row in outcome.rows) < 1e-20
    for outcome in wrong:
        assert max(row["kl"] for row in outcome.rows) > 1e-9


def test_no_donor_changes_an_employee():
    for seed in range(4):
        outcome = run({"timed": 1}, Cell("employee", 16, seed))
        assert max(row[name] for row in outcome.rows for name in ("kl", "kl_random_donor")) < 1e-20


# ---- summary


def lines_with(ground, lifted):
    return [
        {"d": 2**power, "seconds_ground": one, "seconds_lifted": other}
        for power, (one, other) in enumerate(zip(ground, lifted, strict=True), 1)
    ]


def test_where_lifted_is_faster_and_how_times_grow():
    lines = lines_with([1, 2, 4, 8, 16, 32], [3, 1, 5, 5, 5, 5])
    assert faster_from(lines) == 16  # faster at d = 4, too, but not at 8
    assert exponent(lines, "seconds_ground") == pytest.approx(1)
    assert exponent(lines, "seconds_lifted") == pytest.approx(0)
    assert faster_from(lines_with([1, 1], [2, 2])) is None


@pytest.mark.parametrize(("largest", "verdict"), [(5, "too small to tell"), (8, "does not hold")])
def test_claims_about_large_graphs_are_not_denied_by_small_ones(largest, verdict):
    lines = lines_with([1.0] * largest, [2.0**each for each in range(1, largest + 1)])
    judged = {claim: judge for claim, _, judge in CLAIMS}
    for claim in (
        "lifted faster than ground on larger graphs",
        "lifted run time grows more slowly",
    ):
        assert judged[claim](lines, []).startswith(verdict)
    assert judged["lifted run time grows more slowly"](lines[:1], []).startswith("one d")


def test_a_trend_is_told_from_chance():
    rng = np.random.default_rng(0)

    def outcomes(slope):
        cells = [Cell("text", d, seed) for d, seed in product((2, 4, 8, 16, 32), range(20))]
        noise = rng.normal(size=len(cells))
        values = [
            10 + slope * math.log2(cell.size) + each
            for cell, each in zip(cells, noise, strict=True)
        ]
        return [
            type("Outcome", (), {"cell": cell, "rows": [{"kl": value}]})
            for cell, value in zip(cells, values, strict=True)
        ]

    assert abs(trend(outcomes(0.0), "mean")) < 2
    assert trend(outcomes(1.0), "mean") > 5
    assert trend(outcomes(1.0), "deviation") == 0
    assert trend(outcomes(math.inf), "mean") == 0  # nothing finite to look at


def test_infinite_divergences_count_apart():
    outcome = run({"timed": 1}, Cell("text", 4, 0))
    outcome.rows[0]["kl"] = math.inf
    (line,) = summarised([outcome])
    assert (line["kl_infinite"], line["kl_maximum"]) == (1, math.inf)
    assert line["kl_mean"] == pytest.approx(np.mean([row["kl"] for row in outcome.rows[1:]]))


# ---- campaigns


def without_times(path):
    with path.open() as file:
        rows = list(csv.DictReader(file))
    return [
        {name: value for name, value in row.items() if not name.startswith("seconds")}
        for row in rows
    ]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A small campaign, never interrupted."""
    folder = tmp_path_factory.mktemp("whole")
    return folder, run_paper(folder, **SMALL)


def test_all_files_are_there(whole):
    folder, results = whole
    names = {"results.csv", "cells.csv", "summary.csv", "figure.svg", "figure.png", "report.md"}
    assert {path.name for path in results.files} == names
    assert {path.name for path in folder.iterdir()} == names | {"cells"}
    # one row per query
    assert len(without_times(folder / "results.csv")) == len(GENERATORS) * 2 * (2 + 4)
    assert len(without_times(folder / "cells.csv")) == len(GENERATORS) * 4
    report = (folder / "report.md").read_text()
    assert "](figure.svg)" in report
    assert all(finding.statement in report for finding in results.findings)
    assert all(set(finding.found) == set(GENERATORS) for finding in results.findings)


def test_a_resumed_run_equals_one_that_was_not_interrupted(whole, tmp_path):
    def interrupt(done, total):
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_paper(tmp_path, **SMALL, progress=interrupt)
    kept = {path.name: path.read_bytes() for path in (tmp_path / "cells").iterdir()}
    assert len(kept) == 5
    assert [path.name for path in tmp_path.iterdir()] == ["cells"]
    seen = []
    run_paper(
        tmp_path, **SMALL, resume=True, progress=lambda done, total: seen.append((done, total))
    )
    assert seen == [(done, 16) for done in range(6, 17)]
    assert {name: (tmp_path / "cells" / name).read_bytes() for name in kept} == kept
    for name in ("results.csv", "cells.csv", "summary.csv"):
        assert without_times(tmp_path / name) == without_times(whole[0] / name)


def test_processes_change_nothing(whole, tmp_path):
    run_paper(tmp_path, **SMALL, jobs=2)
    for name in ("results.csv", "cells.csv", "summary.csv"):
        assert without_times(tmp_path / name) == without_times(whole[0] / name)


def test_what_stands_in_the_folder_is_not_mixed_up(whole, tmp_path):
    folder, _ = whole
    with pytest.raises(FormatError, match="holds an earlier run; go on with it by resume=True"):
        run_paper(folder, **SMALL)
    with pytest.raises(FormatError, match=r"other settings \(timed\)"):
        run_paper(folder, **SMALL | {"timed": 2}, resume=True)
    (tmp_path / "cells").mkdir()
    (tmp_path / "cells/text-2-0.json").write_text("{}")
    with pytest.raises(FormatError, match="not the result of an experiment; remove it"):
        run_paper(tmp_path, **SMALL, resume=True)
    with pytest.raises(ModelError, match="no generator 'txt'.*did you mean 'text'"):
        run_paper(tmp_path, generators=["txt"])


def test_equal_numbers_give_equal_figures(whole, tmp_path):
    outcome = [run({"timed": 1}, Cell("epidemic", d, 0)) for d in (2, 4)]
    lines = summarised(outcome)
    first, second = (
        [path.read_bytes() for path in draw_figure(tmp_path / name, lines)]
        for name in ("one", "two")
    )
    assert first == second
    assert first[0].startswith(b"<?xml")
    assert first[1].startswith(b"\x89PNG")


def test_without_matplotlib_all_but_the_figure_is_made(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    options = ("--max-d", "2", "--seeds", "1", "--timed", "1", "--generators", "text")
    status, out, err = run_cli(capsys, "experiment", "paper", "--out", tmp_path, *options)
    assert status == 0
    assert err == (
        "note: no figure was drawn: drawing figures needs the package matplotlib; install it with: "
        "pip install 'lifagu[plot]'\n"
    )
    assert "figure.svg" not in out
    assert "no figure was drawn" in (tmp_path / "report.md").read_text()
    assert {path.name for path in tmp_path.iterdir()} == {
        "cells",
        "results.csv",
        "cells.csv",
        "summary.csv",
        "report.md",
    }


def test_the_command_says_what_was_found(tmp_path, capsys):
    options = ("--max-d", "5", "--seeds", "1", "--timed", "1", "--generators", "employee,similar")
    status, out, err = run_cli(
        capsys, "experiment", "paper", "--out", tmp_path / "new" / "folder", *options
    )
    assert (status, err) == (0, "")
    assert (
        "mean divergence near zero for all d (published: close to zero)\n"
        "  employee  holds: at most 0\n" in out
    )
    assert out.endswith("report.md\n")
    kept = json.loads((tmp_path / "new/folder/cells/similar-4-0.json").read_text())
    assert len(kept["rows"]) == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--max-d", "1"], "'1' is not a whole number of at least 2"),
        (["--seeds", "none"], "'none' is not a whole number of at least 1"),
        (["--generators", "text,"], "'text,' is not a list of names"),
        (["--generators", "texts"], "no generator 'texts'"),
    ],
)
def test_mistakes_are_one_line(options, message, tmp_path, capsys):
    status, out, err = run_cli(capsys, "experiment", "paper", "--out", tmp_path, *options)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert message in err
    assert err.count("\n") == 1


def test_a_file_is_no_folder(tmp_path, capsys):
    (tmp_path / "taken").write_text("")
    status, _, err = run_cli(capsys, "experiment", "holes", "--out", tmp_path / "taken")
    assert status == 2
    assert "taken: cannot be used as a folder for results" in err


@pytest.mark.full
def test_large_sizes(tmp_path):
    run_paper(tmp_path, sizes=(4096,), seeds=1, timed=1, jobs=2)
    assert len(without_times(tmp_path / "results.csv")) == len(GENERATORS) * 4096
