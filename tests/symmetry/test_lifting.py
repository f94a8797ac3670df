"""Lifting: grounded again, every lifted model is the graph it came from; names and figures."""

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lifagu
import lifagu.symmetry.lifting as lifting
from lifagu.basics.arrays import by_first_occurrence
from lifagu.cli.demo_paper import example
from lifagu.graph.factor_graph import Colouring, FactorGraph
from lifagu.relational.domains import ConstantRows
from lifagu.relational.parfactor_graph import Proof
from lifagu.relational.terms import CountingFormula, Membership
from lifagu.symmetry.lifting.naming import stem
from lifagu.symmetry.lifting.proof import prove, same_rows
from support.grounded_again import assert_means, checked_lift
from support.helpers import CASES, ROOT, SCHEMA, graph_of, random_model, run_cli
from support.shapes import SHAPES, graph, names, random_graph, shape


def shown(model):
    """Parfactors as they are printed, without their tables."""
    return [line.split(" = ")[1].partition("(")[2] for line in lines_of(model, "parfactors")]


def lines_of(model, title):
    """The lines of one section of a printed model."""
    found, inside = [], False
    for line in str(model).splitlines():
        inside = line.startswith(title) or (inside and line.startswith(" "))
        found += [line[13:]] if inside else []
    return found


# ---- grounded again, it is the graph


@pytest.mark.parametrize("seed", range(200))
def test_random_structures_come_back(seed):
    checked_lift(random_graph(seed))


@pytest.mark.parametrize("seed", range(60))
def test_random_graphs_come_back(seed):
    checked_lift(graph_of(random_model(seed, unknown=seed % 3 / 5)[0]))


@given(seed=st.integers(0, 10**6), colours=st.integers(1, 3))
@settings(max_examples=100)
def test_any_groups_are_lifted_rightly(seed, colours):
    """Groups only say where to look: any partition gives a right model, with lists if need be."""
    graph, rng = random_graph(seed), np.random.default_rng(seed)
    drawn = [
        rng.integers(0, colours, len(each)) for each in (graph.variable_names, graph.factor_names)
    ]
    checked_lift(graph, colouring=Colouring(*map(by_first_occurrence, drawn)))


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_come_back(name):
    checked_lift(shape(name))


@pytest.mark.parametrize("seed", range(20))
def test_the_order_of_the_input_decides_names_only(seed):
    """Shuffled variables and factors give as many parfactors and relations as before."""
    rng = np.random.default_rng(seed)
    for name in (
        "regions",
        "friends",
        "linked through a third",
        "all but a matching",
        "treated, others smoke",
    ):
        given = shape(name)
        variables = [given.variables[each] for each in rng.permutation(len(given.variable_names))]
        factors = [given.factors[each] for each in rng.permutation(len(given.factor_names))]
        shuffled = graph(
            [(each.name, {"range": each.range}) for each in variables],
            [(each.arguments, each.table) for each in factors],
        )
        lifted, other = lifagu.lift(given), checked_lift(shuffled)
        assert sorted(map(len, shown(other))) == sorted(map(len, shown(lifted)))
        assert sorted(each.size for each in other.domains) == sorted(
            each.size for each in lifted.domains
        )


# ---- what comes out


@pytest.mark.parametrize(
    ("name", "parfactors", "sizes"),
    [
        ("product", ["A(X), B(M))"], [3, 4]),
        ("star", ["Leaf(X), Hub)"], [5]),
        ("matching", ["A(X), B(X))"], [4]),
        (
            "two matchings",
            ["A(X), B(X))", "A(X), B(Y)) | (X,Y) ∈ {(1,2), (2,3), (3,4), (4,1)}"],
            [4],
        ),
        ("ring", ["P(X), P(Y)) | (X,Y) ∈ {(1,2), (2,3), (3,4), (4,5), (5,1)}"], [5]),
        ("copies of a chain", ["P(X), P_2(X))", "P_2(X), P_3(X))"], [3]),
        ("all but a matching", ["A(X), B(Y)) | X ≠ Y"], [4]),
        ("all pairs", ["P(X), P(Y)) | X ≠ Y"], [6]),
        ("all triples", ["P(X), P(Y), P(Z)) | X ≠ Y, X ≠ Z, Y ≠ Z"], [4]),
        ("friends", ["F(X,Y), S(X), S(Y)) | X ≠ Y"], [6]),
        ("regions", ["Sick(X,M), Region(X))"], [3, 2]),
        (
            "pairs within regions",
            ["Sick(X,M), Region(X))", "Sick(X,M), Sick(X,N)) | M ≠ N"],
            [3, 2],
        ),
        ("linked through a third", ["Treat(X,M), Sick(X))", "Travel(X), Treat(X,M))"], [3, 2]),
        (
            "treated, others smoke",
            ["Treat(X,M), Sick(X))", "Treat(X,M), Smokes(Y)) | X ≠ Y"],
            [4, 2],
        ),
        ("parallel", ["R(X), S(X))"] * 2, [2]),
        ("unknown", ["Leaf(X), Hub)"], [3]),
        ("ternary", ["P(X), P(Y)) | X ≠ Y"], [4]),
        ("one counted factor", ["Com(X))", "#X[Com(X)], Rev)", "Rev)"], [3]),
        ("rows and columns", ["#X[G(X,M)])", "#M[G(X,M)])"], [4, 3]),
        ("counted friends", ["#Y[F(X,Y)], S(X)) | X ≠ Y", "F(X,Y), S(X), S(Y)) | X ≠ Y"], [4]),
        ("counted treatments", ["#M[Treat(X,M)], Sick(X))"], [3, 3]),
        ("overlapping individuals", ["T(X))", "S(X)) | X ≠ c"], [3]),
        ("nothing but individuals", ["T(X,M))"], [2, 3]),
    ],
)
def test_shapes_are_seen(name, parfactors, sizes):
    lifted = lifagu.lift(shape(name))
    assert shown(lifted) == parfactors
    assert [each.size for each in lifted.domains] == sizes
    assert not len(lifted.ground_part.factor_names)


@pytest.mark.parametrize(
    "name", ["edges", "latin square", "pairs across regions", "parallel here and there"]
)
def test_what_is_no_product_is_listed(name):
    lifted = lifagu.lift(shape(name))
    lists = [
        each
        for parfactor in lifted.parfactors
        for each in parfactor.where
        if isinstance(each, Membership)
    ]
    assert lists
    assert all(isinstance(each.rows, ConstantRows) for each in lists), (
        "millions of tuples need no texts"
    )
    assert not len(lifted.ground_part.factor_names)


def test_pairs_across_regions_keep_their_inequality():
    """A person could be called by region and number, but X ≠ Y would be a list of all pairs."""
    assert shown(lifagu.lift(shape("pairs across regions")))[1] == "Sick(M), Sick(N)) | M ≠ N"


def test_lists_name_what_is_missing_where_that_is_shorter():
    people = [(p, q) for p in range(5) for q in range(5) if p != q and (p + 1) % 5 != q]
    lifted = checked_lift(
        graph(names("P", 5), [([f"P{p}", f"P{q}"], [1, 2, 3, 5]) for p, q in people])
    )
    (constraint,) = lifted.parfactors[0].where
    assert (constraint.inside, len(constraint.rows)) == (False, 10)


@pytest.mark.parametrize("name", ["successor chain", "very parallel", "counted out of order"])
def test_what_does_not_lift_stays(name):
    lifted = lifagu.lift(shape(name))
    assert (lifted.domains, lifted.parfactors) == ((), ())
    assert list(lifted.ground_part.factor_names) == list(shape(name).factor_names)


def test_isolated_variables_and_other_label_orders_stay():
    assert list(lifagu.lift(shape("isolated")).ground_part.variable_names) == ["P2", "P3"]
    assert list(lifagu.lift(shape("label orders")).ground_part.variable_names) == ["A1"]


def test_counted_tables_hold_one_entry_per_histogram():
    lifted = lifagu.lift(shape("one counted factor"))
    assert isinstance(lifted.parfactors[1].arguments[0], CountingFormula)
    assert lifted.parfactors[1].table.tolist() == [3, 13, 7, 17, 5, 15, 1, 11], (
        "(0,3), (1,2), (2,1), (3,0) by Rev"
    )


@pytest.mark.parametrize(
    "seed", [seed for seed in range(50) if not len(random_graph(seed).unknown)]
)
def test_answers_are_those_of_the_graph(seed):
    given = random_graph(seed)
    rng = np.random.default_rng(seed)
    asked, *seen = rng.permutation(list(given.variable_names))[:3].tolist()
    evidence = {name: given.variable(name).range[1] for name in seen}
    expected, lifted = lifagu.query(given, asked, evidence=evidence), lifagu.lift(given)
    found = lifagu.query(lifted, asked, evidence=evidence)
    np.testing.assert_allclose(found.probabilities, expected.probabilities, atol=1e-9)
    assert found.log_partition == pytest.approx(expected.log_partition, rel=1e-9, abs=1e-9)


# ---- names and individuals


def test_relations_are_called_by_kinds_stems_or_letters():
    lifted = checked_lift(
        graph(
            [
                *((f"a{each}", {"kind": "Sick"}) for each in range(2)),
                *((f"b{each}", {"kind": "Sick"}) for each in range(2)),
                *((f"c{each}", {"kind": "KL"[each]}) for each in range(2)),
                *((f"{each}.Travel", {}) for each in ("al", "hal")),
                *((each, {}) for each in ("R", "q")),
                *((each, {}) for each in ("S", "T")),
            ],
            [([f"a{each}"], [1, 2]) for each in range(2)]
            + [([f"b{each}"], [1, 3]) for each in range(2)]
            + [([f"c{each}"], [1, 4]) for each in range(2)]
            + [([f"{each}.Travel"], [1, 5]) for each in ("al", "hal")]
            + [([each], [1, 6]) for each in ("R", "q")]
            + [([each], [1, 7]) for each in ("S", "T")],
        )
    )
    assert [each.name for each in lifted.relations] == ["Sick", "Sick_2", "U", "Travel", "P", "Q"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["Treat0_0", "Treat0_1"], "Treat"),
        (["Travel.alice", "Travel.adam"], "Travel"),
        (["SickAnna", "SickAnton"], "Sick"),
        (["p10.sick", "p11.sick"], "p"),
        (["anna sick", "anton sick"], "sick"),
        (["alice", "alina"], ""),
        (["x", "x1"], "x"),
        (["größe_1", "größe_2"], "größe"),
    ],
)
def test_stems(given, expected):
    assert stem(given) == expected


def test_no_name_is_taken_for_another():
    """Where names look like a relation's, but of other constants, it takes another name."""
    scopes = [(["Sick(1)"], [1, 2]), (["Sick(2)"], [1, 2])]
    lifted = checked_lift(graph(["Sick(1)", "Sick(2)"], scopes))
    assert [(each.name, len(each.names)) for each in lifted.relations] == [("Sick", 0)], (
        "no need for other names"
    )
    lifted = checked_lift(graph(["Sick(2)", "Sick(1)"], scopes))
    assert [(each.name, len(each.names)) for each in lifted.relations] == [("Sick_2", 2)]
    lifted = checked_lift(graph(["Sick(1)", "Sick(2)", "Sick"], [*scopes, (["Sick"], [1, 3])]))
    assert [(each.name, len(each.names)) for each in lifted.relations] == [("Sick_2", 2)]
    lifted = checked_lift(
        graph(["Sick(1)", "Sick(2)", "Sick(3)"], [*scopes, (["Sick(3)"], [1, 3])])
    )
    assert [(each.name, len(each.names)) for each in lifted.relations] == [("Sick_2", 2)]


def test_parfactors_do_not_take_the_names_of_ground_factors():
    builder = (
        FactorGraph.build()
        .variables(["A0", "A1", "B"])
        .factor("g0", ["B"], [1, 3])
        .factor("g1(x)", ["B"], [1, 4])
    )
    lifted = checked_lift(builder.factors({"f0": ["A0"], "f1": ["A1"]}, [1, 2]).graph())
    assert [each.name for each in lifted.parfactors] == ["g2"]


def test_declared_individuals_become_constants_where_they_fit():
    lifted = checked_lift(shape("counted treatments of individuals"))
    assert [each.constants for each in lifted.domains] == [("al", "bo", "eve"), ("m1", "m2", "m3")]
    assert (
        lifted.vocabulary.find("Treat.bo.m3")
        == lifted.vocabulary.find("Treat(bo,m3)")
        == (0, (1, 2))
    )
    lifted = checked_lift(shape("individuals decide"))
    assert shown(lifted) == ["T(X), S(Y)) | (X,Y) ∈ {(a,b), (b,c), (c,a)}", "T(X), S(X))"]
    assert checked_lift(shape("contradicting individuals")).domains[0].constants is None


def test_one_individual_is_one_constant():
    """Alignment follows factors, not declarations (case 31b), also across unconnected relations."""
    lifted = lifagu.lift(graph_of(CASES["31b_individual_alignment_broken"]["model"]))
    words = lifted.vocabulary
    assert words.find("C0")[1] == words.find("S0")[1] != words.find("C1")[1] == words.find("S1")[1]
    lifted = lifagu.lift(shape("overlapping individuals"))
    assert lifted.vocabulary.find("T.b")[1] == lifted.vocabulary.find("S.b")[1]


def test_a_grounded_model_lifts_to_itself():
    model = lifagu.read(ROOT / "examples/smokers.json")
    lifted = lifagu.lift(model)
    assert shown(lifted) == shown(model)
    assert [(each.name, len(each.names)) for each in lifted.relations] == [
        ("Smokes", 0),
        ("Ill", 0),
        ("Friends", 0),
    ]
    assert lifted.domains[0].size == 4
    assert_means(lifted, lifagu.ground(model))


def test_a_grounded_model_with_several_domains_lifts_to_itself():
    """Its individuals are Person:1 and Drug:1, whose domains are numbered again."""
    relations = [{"name": "Sick", "of": ["Person"]}, {"name": "Treat", "of": ["Person", "Drug"]}]
    parts = {"domains": {"Person": 5, "Drug": 3}, "relations": relations}
    parfactor = {"name": "g", "args": ["Treat(X,M)", "Sick(X)"], "table": [1, 2, 3, 5]}
    model = lifagu.io.from_json(
        json.dumps({"format": "lifagu/1", **parts, "parfactors": [parfactor]})
    )
    lifted = checked_lift(lifagu.ground(model))
    assert shown(lifted) == shown(model)
    assert [(each.name, len(each.names)) for each in lifted.relations] == [
        ("Sick", 0),
        ("Treat", 0),
    ]
    assert [(each.size, each.constants) for each in lifted.domains] == [(5, None), (3, None)]


# ---- figures and cases


def test_figure_1_becomes_figure_2():
    lifted = checked_lift(example("epidemic").graph)
    assert lines_of(lifted, "parfactors") == [
        "g0 = φ0(Epid)",
        "g1 = φ1(Travel(X), Sick(X), Epid)",
        "g2 = φ2(Treat(X,M), Sick(X), Epid)",
    ]
    assert lines_of(lifted, "domains") == ["|X| = 2: alice, bob", "|M| = 2"]
    assert [each.name for each in lifted.relations] == ["Epid", "Travel", "Sick", "Treat"]
    assert lifted.vocabulary.find("Treat.bob.m2") == (3, (1, 1))


def test_figure_3():
    assert shown(checked_lift(example("figure3").graph)) == ["R(X), B)"]


@pytest.mark.parametrize("name", CASES)
def test_cases_come_back(name):
    checked_lift(graph_of(CASES[name]["model"]))


@pytest.mark.parametrize(
    ("name", "parfactors", "sizes"),
    [
        ("22_not_a_product", ["A(X), B(Y)) | X ≠ Y", "A(X))"], [3]),
        (
            "26_pfg_fig1",
            ["Epid)", "Travel(X), Sick(X), Epid)", "Treat(X,M), Sick(X), Epid)"],
            [2, 2],
        ),
        ("27_pfg_parallel_identical_factors", ["A)", "A)"], []),
        (
            "28_pfg_two_matchings",
            ["A(X), B(X))", "A(X), B(Y)) | (X,Y) ∈ {(1,2), (2,3), (3,1)}"],
            [3],
        ),
        ("29_pfg_ring", ["X(M), X(N)) | (M,N) ∈ {(1,2), (2,3), (3,4), (4,1)}"], [4]),
        ("31a_individual_alignment_ok", ["C(X), S(X))", "C(X), R)"], [2]),
        ("31b_individual_alignment_broken", ["C(X), S(X))", "C(X), R)"], [2]),
    ],
)
def test_worked_cases(name, parfactors, sizes):
    lifted = checked_lift(graph_of(CASES[name]["model"]))
    assert shown(lifted) == parfactors
    assert [each.size for each in lifted.domains] == sizes


# ---- the proof


def tampered(model, **changes):
    return replace(
        model,
        parfactors=(replace(model.parfactors[0], **changes), *model.parfactors[1:]),
        proof=None,
    )


def test_the_proof_notices_tampering():
    given = shape("friends")
    lifted = lifagu.lift(given)
    assert prove(lifted, given) == lifted.proof
    assert (
        "the same 36 variables and the same 30 factors, each as often, with 1 distinct table"
        in str(lifted.proof)
    )
    table = lifted.parfactors[0].table
    with pytest.raises(
        lifagu.ModelError, match=r"factor 'f0' on \(F0_1, S0, S1\) is not as often in the model"
    ):
        prove(tampered(lifted, table=np.append(table[:-1], table[-1] + 1e-9)), given)
    with pytest.raises(lifagu.ModelError, match="does not mean the graph"):
        prove(tampered(lifted, where=()), given)
    with pytest.raises(lifagu.ModelError, match="does not mean the graph"):
        prove(tampered(lifted, table=None), given)
    swapped = tuple(lifted.parfactors[0].arguments[each] for each in (0, 2, 1))
    with pytest.raises(lifagu.ModelError, match="is not as often in the model"):
        prove(tampered(lifted, arguments=swapped), given)
    twice = replace(
        lifted,
        parfactors=(*lifted.parfactors, replace(lifted.parfactors[0], name="again")),
        proof=None,
    )
    with pytest.raises(lifagu.ModelError, match="is not as often in the model as in the graph"):
        prove(twice, given)


def test_the_proof_looks_at_names_and_ranges():
    given = shape("matching")
    lifted = lifagu.lift(given)
    one, two = lifted.relations
    turned = replace(
        one,
        names=[
            (row[0], other[-1]) for row, other in zip(one.names, reversed(one.names), strict=True)
        ],
    )
    with pytest.raises(lifagu.ModelError, match="is not as often in the model"):
        prove(replace(lifted, relations=(turned, two), proof=None), given)
    unnamed = replace(one, names=())
    with pytest.raises(lifagu.ModelError, match="it has a variable that the graph has not"):
        prove(replace(lifted, relations=(unnamed, two), proof=None), given)
    other = replace(one, range=("no", "yes"))
    with pytest.raises(lifagu.ModelError, match="variable 'A0' has another range"):
        prove(replace(lifted, relations=(other, two), proof=None), given)
    with pytest.raises(lifagu.ModelError, match="variable 'Z' is not once in it"):
        prove(
            lifted,
            graph(
                ["Z", *given.variable_names],
                [(each.arguments, each.table) for each in given.factors],
            ),
        )


def test_extra_ground_factors_are_noticed():
    given = shape("star")
    lifted = lifagu.lift(given)
    extra = FactorGraph.build().variable("Hub").factor("h", ["Hub"], [1, 2]).graph()
    with pytest.raises(
        lifagu.ModelError, match="the ground part has a ground factor that the graph does not have"
    ):
        prove(replace(lifted, ground_part=extra, proof=None), given)


def test_what_fails_the_proof_goes_into_the_ground_part(monkeypatch):
    """A draft that is made wrong on purpose is found out, and only its factors stay ground."""
    honest = lifting.draft_of

    def wrong(graph, factors, slots, frame):
        draft = honest(graph, factors, slots, frame)
        return replace(draft, copies=draft.copies * 2) if len(factors.factors) == 6 else draft

    monkeypatch.setattr(lifting, "draft_of", wrong)
    given = shape("regions")
    lifted = lifagu.lift(
        graph(
            [*given.variable_names, "C0", "C1"],
            [*scopes(given), *(([f"C{e}"], [1, 2]) for e in (0, 1))],
        )
    )
    assert [str(each) for each in lifted.parfactors] == ["g0: C(X)"]
    assert len(lifted.ground_part.factor_names) == 6
    assert isinstance(lifted.proof, Proof)


def scopes(graph):
    return [(each.arguments, each.table) for each in graph.factors]


def test_a_model_that_cannot_even_be_made_stays_ground(monkeypatch):
    honest = lifting.build

    def broken(graph, frame, drafts):
        if drafts:
            raise lifagu.ModelError("two relations have one name")
        return honest(graph, frame, drafts)

    monkeypatch.setattr(lifting, "build", broken)
    lifted = lifagu.lift(shape("star"))
    assert not lifted.parfactors
    assert_means(lifted, shape("star"))


def test_rows_are_compared_as_multisets():
    rng = np.random.default_rng(0)
    for _ in range(200):
        one = rng.integers(0, 3, (rng.integers(0, 6), 2))
        two = rng.permutation(one) if rng.random() < 0.5 else rng.integers(0, 3, one.shape)
        assert same_rows(one, two) == (
            Counter(map(tuple, one.tolist())) == Counter(map(tuple, two.tolist()))
        )


# ---- ways in


def test_lifting_a_transfer():
    hospital = lifagu.read(ROOT / "examples/epidemic.json").with_individual("eve", like="alice")
    lifted = lifagu.lift(lifagu.transfer(hospital))
    assert lifted.domains[0].constants == ("alice", "bob", "eve")
    assert len(lifted.parfactors) == 3
    unfilled = lifagu.lift(hospital)
    assert any(each.table is None for each in unfilled.parfactors)
    assert_means(unfilled, hospital)


def test_wrong_ways_in():
    with pytest.raises(
        lifagu.ModelError, match="lift takes a FactorGraph, a ParfactorGraph or a Transfer, not str"
    ):
        lifagu.lift("model.json")
    with pytest.raises(lifagu.ModelError, match="the colouring is one of another graph"):
        lifagu.lift(shape("star"), lifagu.colour(shape("ring")))


def test_evidence_splits_groups_if_asked():
    given = graph_of(CASES["31a_individual_alignment_ok"]["model"])
    lifted = checked_lift(given, colouring=lifagu.colour(given, {"C0": "true"}))
    assert not lifted.parfactors, "every variable is alone"


def test_zero_tables_of_a_grounding_stay_ground():
    model = lifagu.io.from_json(
        json.dumps(
            {
                "format": "lifagu/1",
                "domains": {"X": 2},
                "relations": [{"name": "R", "of": ["X"]}],
                "parfactors": [{"name": "g", "args": ["R(X)", "R(Y)"], "table": [0, 1, 2, 0]}],
            }
        )
    )
    lifted = lifagu.lift(model)
    assert_means(lifted, lifagu.ground(model))
    assert shown(lifted) == ["R(X), R(Y)) | X ≠ Y"]


def test_empty_graphs():
    lifted = checked_lift(FactorGraph.build().graph())
    assert str(lifted).startswith("proof")
    assert (
        checked_lift(FactorGraph.build().variable("A").graph()).ground_part.variable_names[0] == "A"
    )


def test_many_small_groups_stay_ground_beyond_a_number():
    pairs = 1500
    rows = np.arange(2 * pairs)
    tables = np.random.default_rng(0).random((pairs, 2))
    given = FactorGraph.from_arrays(
        ranges=[["f", "t"]],
        variable_ranges=np.zeros(2 * pairs, dtype=int),
        offsets=np.arange(2 * pairs + 1),
        arguments=rows,
        tables=tables,
        factor_tables=rows // 2,
    )
    lifted = lifagu.lift(given)
    assert len(lifted.parfactors) == 1000
    assert len(lifted.ground_part.factor_names) == 2 * 500
    assert isinstance(lifted.proof, Proof)


# ---- size, determinism, the command line


def epidemic(people):
    """The paper's epidemic by arrays; names are made on demand."""
    travel, sick, one, two = 1 + 4 * np.arange(people) + np.arange(4)[:, None]
    hub = np.zeros(people, dtype=np.int64)
    rows = np.stack([np.stack([other, sick, hub], 1) for other in (travel, one, two)], 1)
    return FactorGraph.from_arrays(
        ranges=[["true", "false"]],
        variable_ranges=np.zeros(4 * people + 1, dtype=np.int64),
        offsets=np.concatenate([[0], 1 + 3 * np.arange(3 * people + 1)]),
        arguments=np.concatenate([[0], rows.reshape(-1)]),
        tables=[[1, 3], [3, 1, 2, 2, 1, 2, 5, 1], [1, 4, 2, 1, 3, 1, 1, 2]],
        factor_tables=np.concatenate([[0], np.tile([1, 2, 2], people)]),
    )


def test_an_epidemic_by_arrays():
    people = 5_000
    given = epidemic(people)
    lifted = lifagu.lift(given)
    assert repr(lifted) == "<ParfactorGraph: 2 domains, 4 relations, 3 parfactors>"
    assert [each.size for each in lifted.domains] == [people, 2]
    words = lifted.vocabulary
    for number in (0, 1, 2, 3, 4, 4 * people):
        assert words.ground_name(*words.find(f"x{number}")) == f"x{number}"
    assert words.find(f"x{4 * people + 1}") is None
    observed = lifted.observations({f"x{number}": "true" for number in range(4 * people)})
    assert [
        words.ground_name(each.relation, [low for low, _ in each.spans]) for each in observed[:9]
    ] == [f"x{number}" for number in range(9)]
    back = lifagu.ground(lifted)
    assert back.variable("x7").range == ("true", "false")
    assert back.variable_names.number("x7") != 7
    assert prove(lifted, given) == lifted.proof


@pytest.mark.full
def test_a_million_persons():
    given = epidemic(10**6)
    groups = Colouring(
        np.concatenate([[0], np.tile([1, 2, 3, 3], 10**6)]),
        np.concatenate([[0], np.tile([1, 2, 2], 10**6)]),
    )
    lifted = lifagu.lift(given, groups)
    assert repr(lifted) == "<ParfactorGraph: 2 domains, 4 relations, 3 parfactors>"
    assert lifted.vocabulary.find("x4000000") == (3, (999_999, 1))


def test_the_same_bytes_whatever_the_hash_seed():
    program = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "import lifagu; from support.shapes import SHAPES, random_graph, shape\n"
        "graphs = [*map(shape, SHAPES), *map(random_graph, range(30))]\n"
        "print(*(lifagu.io.to_json(lifagu.lift(each)) + str(lifagu.lift(each)) for each in graphs))"
    )
    command = [sys.executable, "-c", program, str(ROOT / "tests")]
    outputs = {
        subprocess.run(
            command, capture_output=True, check=True, env=os.environ | {"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("0", "1", "4711")
    }
    assert len(outputs) == 1
    assert len(outputs.pop()) > 10_000


def test_the_command_line_shows_and_writes_it(capsys, tmp_path):
    _, out, _ = run_cli(capsys, "lift", ROOT / "examples/epidemic.json", "--add", "eve=alice")
    assert "g2 = φ2(Treat(X,M), Sick(X), Epid)" in out
    assert out.splitlines()[-1].startswith("proof        grounded again: the same 13 variables")
    options = ("--add", "eve=alice", "--evidence", "Sick.eve=true", "--json")
    _, out, _ = run_cli(capsys, "lift", ROOT / "examples/epidemic.json", *options)
    model = json.loads(out)["model"]
    SCHEMA.validate(model)
    assert model["evidence"] == {"Sick.eve": "true"}
    target = tmp_path / "lifted.json"
    target.write_text(json.dumps(model))
    _, expected, _ = run_cli(capsys, "query", ROOT / "examples/epidemic.json", "Epid", *options)
    _, found, _ = run_cli(capsys, "query", target, "Epid", "--json")
    assert json.loads(found)["answers"][0]["probabilities"] == pytest.approx(
        json.loads(expected)["answers"][0]["probabilities"], abs=1e-12
    )
    status, _, _ = run_cli(capsys, "convert", target, tmp_path / "again.json")
    assert status == 0
    assert lifagu.read(tmp_path / "again.json") == lifagu.read(target)
