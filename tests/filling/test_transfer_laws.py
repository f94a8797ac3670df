"""Laws of transfer: the paper's example and corollaries, invariances, thresholds, individuals."""

import json
import random
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lifagu
from support import lifagu_2023 as paper
from support.helpers import ROOT, graph_of, groups_by_name, random_model
from support.transfers import check_columns

WITH_BACKGROUND, WITHOUT = 0.6447154982781942, 0.7942346082872677


def eve(*background):
    """Figure 1 plus eve, with the background knowledge named ("kind", "individual")."""
    model = json.loads((ROOT / "examples/epidemic.json").read_text())
    for variable in model["variables"]:
        for key in {"kind", "individual"} - set(background):
            variable.pop(key, None)
    hers = json.loads(json.dumps(model).replace("alice", "eve"))
    new = [each for each in hers["variables"] if "eve" in each["name"]]
    holes = [{**each, "table": None} for each in hers["factors"] if "eve" in each["name"]]
    return graph_of(
        {**model, "variables": model["variables"] + new, "factors": model["factors"] + holes}
    )


@pytest.mark.parametrize(
    ("background", "options", "probability"),
    [
        (["kind"], {}, WITH_BACKGROUND),
        (["individual"], {}, WITH_BACKGROUND),
        (["kind", "individual"], {}, WITH_BACKGROUND),
        (["kind"], {"steps": 6}, WITH_BACKGROUND),
        ([], {}, WITHOUT),
        (["kind", "individual"], {"by": "lifagu"}, WITHOUT),
    ],
)
def test_the_motivating_example(background, options, probability):
    moved = lifagu.transfer(eve(*background), **options)
    assert lifagu.query(moved, "Sick.eve")["true"] == pytest.approx(probability, rel=1e-12)


def test_without_background_knowledge_the_record_warns():
    record = lifagu.transfer(eve()).record[0]
    assert (record.agreeing, record.candidates, record.members) == (4, 6, 3)
    assert "4 of 6 known factors in such a place agree" in record.reason
    assert "2 different tables compete" in record.reason
    assert "The 3 unknown factors in such a place cannot be told apart" in record.reason
    assert [(each.donor, each.agreeing) for each in record.competing] == [
        ("f2.alice.m1", 4),
        ("f1.alice", 2),
    ]
    assert record.competing[1].table == (3, 1, 2, 2, 1, 2, 5, 1)


# ---- the paper's algorithm, to the letter


def by_algorithm_1(graph, theta, evidence):
    """What the paper's algorithm makes of a graph: read into plain values, and solved naively."""
    oracle = paper.FactorGraph(
        {each.name: frozenset(each.range) for each in graph.variables},
        {each.name: paper.Factor(each.arguments, by_labels(graph, each)) for each in graph.factors},
        evidence,
    )
    return paper.lifagu(oracle, theta)


def by_labels(graph, factor):
    """The potentials of a factor by the labels of its arguments; None if they are unknown."""
    if factor.table is None:
        return None
    labels = product(*(graph.variable(name).range for name in factor.arguments))
    return dict(zip(labels, factor.table.reshape(-1).tolist(), strict=True))


def is_as_in_the_paper(model, theta, evidence):
    """Donors, counts, completed tables and groups of the published rule are Algorithm 1's."""
    graph = graph_of(model)
    moved = lifagu.transfer(graph, theta, evidence, by="lifagu")
    completed, report, groups = by_algorithm_1(graph, theta, evidence)
    for record in moved.record:
        told = record.donor, record.alignment, record.candidates, record.agreeing, record.tie
        assert told == report[record.factor]
        assert record.share == (record.agreeing / record.candidates if record.candidates else None)
        left = "below_threshold" if record.candidates else "no_candidate"
        assert record.status == (left if record.donor is None else "transferred")
    for factor in moved.graph.factors:
        found = completed.factors[factor.name]
        assert (factor.arguments, by_labels(graph, factor)) == (found.args, found.potentials)
    start = moved.factor_start
    colours = lifagu.colour(moved.graph, evidence, factor_start=start)
    assert groups_by_name(graph, colours) == groups
    check_columns(moved)
    return moved


@st.composite
def graphs_with_holes(draw, unknown=0.4):
    """Small graphs of blocks that look alike around hubs, often ternary, with some evidence.

    Blocks list their arguments in other orders at times, and repeat or lack factors.
    """
    model, evidence = random_model(
        draw(st.integers(0, 10**9)),
        variables=draw(st.integers(3, 9)),
        factors=draw(st.integers(1, 12)),
        unknown=unknown,
        ternary=draw(st.sampled_from([0.2, 0.5, 0.8])),
        zeros=draw(st.sampled_from([0, 0.3])),
    )
    for factor in model["factors"]:
        if factor["table"] is None:  # any order of arguments is one of an unknown factor
            factor["args"] = draw(st.permutations(factor["args"]))
    return model, draw(st.sampled_from([evidence, {}]))


@settings(max_examples=300)
@given(graphs_with_holes(), st.sampled_from([0, 0.3, 0.5, 0.7, 1]))
def test_the_published_rule_is_algorithm_1(drawn, theta):
    is_as_in_the_paper(drawn[0], theta, drawn[1])


@settings(max_examples=150)
@given(graphs_with_holes())
def test_corollary_1_what_has_a_candidate_is_filled(drawn):
    """“Given that for every unknown factor there is at least one known factor that is possibly
    identical to it, LIFAGU is able to replace all unknown potentials”: with θ = 0 it does."""
    model, evidence = drawn
    moved = is_as_in_the_paper(model, 0, evidence)
    holes = {record.factor for record in moved.record if not record.candidates}
    assert {moved.graph.factor_names[each] for each in moved.graph.unknown} == holes


@settings(max_examples=100)
@given(graphs_with_holes(unknown=0), st.sampled_from([0, 0.5, 1]))
def test_corollary_2_without_unknown_factors_it_is_colour_passing(drawn, theta):
    """“Given an FG that contains only known factors, CP and LIFAGU output identical groupings.”"""
    model, evidence = drawn
    moved = is_as_in_the_paper(model, theta, evidence)
    graph = graph_of(model)
    assert (moved.graph, len(moved.record)) == (graph, 0)
    assert lifagu.colour(graph, evidence, factor_start=moved.factor_start) == lifagu.colour(
        graph, evidence
    )


def two_by_three(*factors):
    """Booleans A, C, E and ternary B, D, F; each factor a table or None on the names given."""
    return {
        "variables": [{"name": name} for name in "ACE"]
        + [{"name": name, "range": ["lo", "mid", "hi"]} for name in "BDF"],
        "factors": [
            {"name": name, "args": list(args), "table": table} for name, args, table in factors
        ],
    }


def test_where_ranges_do_not_fit_tables_are_copied_along_the_bijection():
    model = two_by_three(("f", "AB", [1, 2, 3, 4, 5, 6]), ("u", "DC", None))
    moved = is_as_in_the_paper(model, 1, {})
    assert moved.graph.factor("u").arguments == ("C", "D")
    assert moved.record[0].alignment == (1, 0)
    assert len(lifagu.colour(moved.graph, factor_start=moved.factor_start).factor_groups) == 1


def test_the_donor_is_the_first_declared_even_where_another_one_fits_by_position():
    """Whose ranges happen to fit does not decide who agrees, nor who lends."""
    table = [1, 2, 3, 4, 5, 6]
    model = two_by_three(("f", "AB", table), ("g", "DC", table), ("u", "FE", None))
    (record,) = is_as_in_the_paper(model, 0, {}).record
    assert (record.donor, record.alignment, record.tie) == ("f", (1, 0), True)


@pytest.mark.parametrize("seed", range(60))
def test_reordering_the_input_changes_only_ties_and_which_donor_is_named(seed):
    model, _ = random_model(seed, unknown=0.4, kinds=seed % 2 == 0)
    rng = random.Random(seed)
    shuffled = dict(model)
    shuffled["variables"] = rng.sample(model["variables"], len(model["variables"]))
    shuffled["factors"] = rng.sample(model["factors"], len(model["factors"]))
    first, second = (lifagu.transfer(graph_of(each), 0.5) for each in (model, shuffled))
    mine, theirs = ({record.factor: record for record in moved.record} for moved in (first, second))
    assert mine.keys() == theirs.keys()
    for name, record in mine.items():
        other = theirs[name]
        for field in ("status", "candidates", "agreeing", "share", "tie", "members"):
            assert getattr(record, field) == getattr(other, field)
        if not record.tie and record.donor is not None:
            assert sorted_table(first, record.donor) == sorted_table(first, other.donor), (
                "the two donors agree"
            )


def sorted_table(moved, name):
    """The table of a factor after sorting its arguments stably by role."""
    graph, keys = moved.original, moved.offers[-1].keys
    number = graph.factor_names.number(name)
    order = np.argsort(keys[graph.offsets[number] : graph.offsets[number + 1]], kind="stable")
    return graph.table(number).transpose(order).tolist()


@pytest.mark.parametrize("seed", range(80))
def test_argument_order_of_unknown_factors_does_not_matter(seed):
    """Another order of an unknown factor's arguments changes no answer unless the record warns."""
    model, evidence = random_model(seed, unknown=0.4, zeros=0)
    rng = random.Random(seed)
    permuted = dict(model)
    permuted["factors"] = [
        {**factor, "args": rng.sample(factor["args"], len(factor["args"]))}
        if factor["table"] is None
        else factor
        for factor in model["factors"]
    ]
    first, second = (lifagu.transfer(graph_of(each), 0) for each in (model, permuted))
    if len(first.graph.unknown) or any(record.ambiguous_alignment for record in first.record):
        return
    names = list(first.graph.variable_names)
    answers = [lifagu.queries(each, names, evidence=evidence) for each in (first, second)]
    for mine, theirs in zip(*answers, strict=True):
        np.testing.assert_allclose(mine.probabilities, theirs.probabilities, rtol=1e-9)


def star(tables):
    """One factor per table, on a leaf and a shared centre."""
    builder = (
        lifagu.FactorGraph.build()
        .variables([f"X{number}" for number in range(len(tables))])
        .variable("Y")
    )
    for number, table in enumerate(tables):
        builder.factor(f"f{number}", [f"X{number}", "Y"], table)
    return builder.graph()


@pytest.mark.parametrize("agreeing", range(1, 8))
def test_theta_at_exact_fractions(agreeing):
    graph = star(
        [[1, 2, 3, 4]] * agreeing + [[number, 1, 1, 2] for number in range(7 - agreeing)] + [None]
    )
    share = agreeing / 7
    assert lifagu.transfer(graph, share).record[0].share == share
    assert lifagu.transfer(graph, share).record[0].status == "transferred"
    if share < 1:
        above = float(np.nextafter(share, 2))
        assert lifagu.transfer(graph, above).record[0].status == "below_threshold"


def test_all_factors_unknown_and_no_candidate():
    moved = lifagu.transfer(star([None, None, None]))
    assert [record.status for record in moved.record] == ["no_candidate"] * 3
    assert [record.share for record in moved.record] == [None] * 3
    assert moved.graph == moved.original
    assert "No known factor" in moved.record[0].reason
    with pytest.raises(lifagu.NoAnswerError, match="f0, f1, f2 are unknown"):
        lifagu.query(moved, "Y")


def test_tables_within_a_tolerance_or_up_to_a_factor():
    graph = star([[1, 2, 3, 4], [1.0001, 2, 3, 4], [2, 4, 6, 8], [5, 1, 1, 1], None])
    exact, rounded = (
        lifagu.transfer(graph).record[0],
        lifagu.transfer(graph, tolerance=0.001).record[0],
    )
    scaled = lifagu.transfer(graph, up_to_scale=True).record[0]
    both = lifagu.transfer(graph, tolerance=0.001, up_to_scale=True)
    assert [each.agreeing for each in (exact, rounded, scaled, both.record[0])] == [1, 2, 2, 3]
    assert rounded.equality.startswith("within 0.001 (largest relative change ")
    assert "Tables were compared within 0.001" in rounded.reason
    assert len(both.original.tables) == 3
    assert both.graph.factor("f4").table == pytest.approx(np.array([[1, 2], [3, 4]]), rel=1e-3)
    assert len(lifagu.colour(both.graph, factor_start=both.factor_start).factor_groups) == 2
    tenth = lifagu.transfer(star([[0.1, 0.2, 0.3, 0.4], [1, 2, 3, 4], None]), up_to_scale=True)
    assert tenth.record[0].agreeing == 2
    with pytest.raises(lifagu.ModelError, match="the tolerance must lie between"):
        lifagu.transfer(graph, tolerance=1)


def people(tables):
    """Individuals, each with a factor f and a factor g on variables of their own."""
    builder = lifagu.FactorGraph.build()
    for name, (first, second) in tables.items():
        builder.variable(f"A.{name}", individual=name, kind="A").variable(
            f"B.{name}", individual=name, kind="B"
        )
        builder.factor(f"f.{name}", [f"A.{name}"], first).factor(f"g.{name}", [f"B.{name}"], second)
    return builder.graph()


def test_individuals_are_matched_as_a_whole():
    """Only ben shares cid's factor, so the other table comes from ben, not from the majority."""
    graph = people(
        {
            "ann": ([1, 9], [1, 2]),
            "amy": ([1, 9], [1, 2]),
            "ben": ([5, 5], [7, 2]),
            "cid": ([5, 5], None),
        }
    )
    whole, single = (
        lifagu.transfer(graph).record[0],
        lifagu.transfer(graph, by="lifagu").record[0],
    )
    assert (whole.unit, whole.donor, whole.candidates) == ("individual", "g.ben", 1)
    assert "just one individual with matching factors" in whole.reason
    assert (single.unit, single.candidates) == ("factor", 7)


def test_back_to_single_factors_where_no_individual_matches():
    record = lifagu.transfer(people({"ann": ([1, 9], [1, 2]), "cid": ([5, 5], None)})).record[0]
    assert (record.unit, record.fallback, record.donor) == ("factor", True, "g.ann")
    assert "No other individual matches its owner as a whole" in record.reason


def test_with_individual():
    graph = lifagu.read(ROOT / "examples/epidemic.json").with_individual("eve", like="alice")
    assert graph == eve("kind", "individual")
    assert graph.variable("Treat.eve.m1").individuals == ("eve",)
    assert graph.factor("f2.eve.m1").arguments == ("Treat.eve.m1", "Sick.eve", "Epid")
    assert [graph.factor_names[each] for each in graph.unknown] == [
        "f1.eve",
        "f2.eve.m1",
        "f2.eve.m2",
    ]
    assert lifagu.io.from_json(lifagu.io.to_json(graph)) == graph
    with pytest.raises(lifagu.ModelError, match="individual 'eve' is in the model already"):
        graph.with_individual("eve", like="bob")
    with pytest.raises(
        lifagu.ModelError, match="no individual 'bo' in the model; did you mean 'bob'"
    ):
        graph.with_individual("zoe", like="bo")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"theta": 1.5}, "theta must lie between 0 and 1"),
        ({"theta": float("nan")}, "theta is a number, not nan"),
        ({"steps": 3}, "steps must be 2, 4, 6"),
        ({"steps": 0}, "steps must be 2, 4, 6"),
        ({"by": "auto", "steps": 4}, "name the rule that it belongs to"),
    ],
)
def test_mistakes_are_named(options, message):
    with pytest.raises(lifagu.ModelError, match=message):
        lifagu.transfer(star([None]), **options)


def test_records_of_many_competing_tables_stay_short():
    moved = lifagu.transfer(star([[1, 2, 3, 4 + number] for number in range(500)] + [None] * 500))
    record = moved.record[499]
    assert (record.tables, len(record.competing), record.members) == (500, 20, 500)
    assert "500 different tables compete" in record.reason


def test_what_it_shows():
    moved = lifagu.transfer(star([[1, 2, 3, 4], None, None]))
    assert repr(moved) == "<Transfer: 2 factors filled, 0 left unknown>"
    assert "f1</td><td>the table of f0</td>" in moved._repr_html_()
    assert [(record.factor, factors.tolist()) for record, factors in moved.by_class()] == [
        ("f1", [1, 2])
    ]
    assert moved.filled_by_theta() == [(0.0, 2), (1.0, 2)]


def test_a_hundred_thousand_classes():
    """Cost follows the graph, not classes × candidates: every unknown factor has its own place."""
    count = 100_000
    places = np.arange(count)
    graph = lifagu.FactorGraph.from_arrays(
        ranges=[["0", "1"]],
        variable_ranges=np.zeros(count, dtype=int),
        offsets=np.arange(2 * count + 1),
        arguments=np.repeat(places, 2),
        tables=np.random.default_rng(0).random((count, 2)) + 0.1,
        factor_tables=np.column_stack((places, np.full(count, -1))).reshape(-1),
        kinds=[f"k{place}" for place in range(count)],
        variable_kinds=places,
    )
    moved = lifagu.transfer(graph, 1)
    assert len(moved.transferred) == count
    assert moved.record[count - 1].donor == f"f{2 * count - 2}"
