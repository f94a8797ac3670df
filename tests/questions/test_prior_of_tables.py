"""Before anything is observed, what is hidden of an individual is as likely as the classes say."""

import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import lifagu
from lifagu.errors import ModelError
from lifagu.filling.cohorts.completing import CohortTransfer
from lifagu.questions import own_parts
from lifagu.questions.posterior_model import posterior_model
from support.helpers import run_cli
from support.naive.posterior import JointOracle

CASE = Path(__file__).parent.parent / "cases/interacting_holes.json"
CLOSE = {"abs": 1e-9, "rel": 0}
PLACES = {"p": "A", "q": "AB", "r": "BC", "s": "AC", "t": "ABC", "u": "C"}


# ---- the worked case


def test_two_holes_that_share_a_variable_are_as_likely_as_their_shares():
    case = lifagu.open(CASE)
    for record in case.transfer.record:
        answer = case.ask(f"table of {record.factor}")
        assert max(answer.probabilities) == pytest.approx(record.share, **CLOSE)
    assert list(case.lift().posteriors) == pytest.approx([0.499917, 0.833084], abs=1e-6)


def test_what_is_hidden_is_asked_by_name(capsys):
    status, out, err = run_cli(capsys, "query", CASE, "table of q.i6", "class of i6", "--json")
    assert status == 0, err
    table, group = json.loads(out)["answers"]
    assert table["values"] == [["that of q.i0"], ["that of q.i1"], ["another"]]
    assert table["probabilities"][1] == pytest.approx(5 / 6, abs=1e-3)
    assert group["values"][0] == ["class 1"]
    case = lifagu.open(CASE)
    seen = case.observe({"B.i6": "true"}).ask("table of q.i6")
    assert seen["that of q.i0"] > table["probabilities"][0]
    both = case.ask("table of q.i6", "B.i6")
    assert both.probabilities.sum(axis=1) == pytest.approx(table["probabilities"], **CLOSE)
    status, out, err = run_cli(capsys, "query", CASE, "table of q.i7")
    assert (status, out) == (2, "")
    assert "hidden is class of i6, table of p.i6, table of q.i6" in err
    with pytest.raises(ModelError, match="there is no variable 'table of q.i6'"):
        case.observe({"table of q.i6": "another"}).ask("B.i6")
    with pytest.raises(ModelError, match="there is no variable 'table of q.i6'"):
        case.fill(combine="best").ask("table of q.i6")


# ---- the law


def of_few_sorts(moved):
    """The same by the two sorts of cohorts that count most, so that everything can be listed."""
    sorts = moved.posterior.cohorts
    weights = sorts.weights[-2:] / sorts.weights[-2:].sum()
    cohorts = replace(sorts, found=sorts.found[-2:], weights=weights)
    return replace(moved, posterior=replace(moved.posterior, cohorts=cohorts))


def lone(rng, holes, *, steep, zeros, records):
    """Individuals by themselves; of one, eve, some tables are unknown."""
    places = {**PLACES}
    few = list(holes) + [name for name in places if name not in holes and rng.random() < 0.5]
    tables = {name: 10.0 ** rng.uniform(-steep, steep, (3, 2 ** len(places[name]))) for name in few}
    if zeros:
        for each in tables.values():
            each[rng.random(each.shape) < 0.4] = 0.0
            each[[0, 1, 2], [0, -1, 0]] += 1.0  # everybody but eve has tables of one sort
    builder = lifagu.FactorGraph.build()
    names = ["eve", *(f"i{number}" for number in range(7))]
    for number, name in enumerate(names):
        for kind in "ABC":
            builder.variable(f"{kind}.{name}", kind=kind, individual=name)
        sort = (number % 3) if number < 3 else int(rng.integers(3))
        for place in few:
            own = sort if zeros or rng.random() < 0.8 else int(rng.integers(3))
            more = {"support": records, "prior": 0.5} if records else {}
            unknown = name == "eve" and place in holes
            args = [f"{kind}.{name}" for kind in places[place]]
            table = None if unknown else tables[place][own]
            if records and not unknown:
                table = rng.multinomial(records, table / table.sum()) + 0.5
            builder.factor(f"{place}.{name}", args, table, **({} if unknown else more))
    return builder.graph()


def hidden_of(moved):
    """Names of all that is hidden of eve, each state of each as one of the oracle's."""
    joint, names = moved.joint, moved.original.factor_names
    every = [
        (sort, k)
        for sort, found in enumerate(moved.posterior.cohorts.found)
        for k in range(len(found.prior))
    ]
    nodes = [("cohort", int(each)) for each in joint.cohorts.who]
    nodes += [("table", names[int(each)]) for each in joint.tables.who]
    owners = moved.posterior.places.owners
    mine = np.concatenate((joint.cohorts.who, owners[joint.tables.who]))
    mine = np.flatnonzero(mine == owners[moved.unknown[0]]).tolist()
    states = {}
    for number in mine:
        own = joint.hidden.choices[slice(*joint.hidden.offsets[[number, number + 1]].tolist())]
        node = nodes[number]
        states[node] = [every[each] if node[0] == "cohort" else each for each in own.tolist()]
    asked = posterior_model(moved).graph.variable_names[len(moved.original.variable_names) :]
    return [asked[number] for number in mine], states


def by_the_classes(moved, states):
    """The classes' own joint distribution over these states, and P(A.eve): each listed by hand.

    States under which every assignment has weight zero are left out.
    """
    oracle = JointOracle(moved, weighed=False)
    mine = next(iter(states)) if next(iter(states))[0] == "cohort" else None
    owner = moved.posterior.places.owners[moved.unknown[0]]
    factors = oracle.pieces[int(owner)].factors
    about = [each for each in factors if all(node in states for node in each[0])]
    others = [each for each in factors if any(node not in states for node in each[0])]
    known = {node: oracle.states[node] for node in states}
    variables = sorted({node for scope, _ in others for node in scope} - {*states})
    found, first = np.zeros([len(each) for each in states.values()]), np.zeros(2)
    rows = [
        dict(zip(variables, values, strict=True))
        for values in itertools.product(range(2), repeat=len(variables))
    ]
    for place in np.ndindex(*found.shape):
        at = {}
        for (node, some), number in zip(states.items(), place, strict=True):
            at[node] = known[node].index(some[number]) if some[number] in known[node] else None
        if None in at.values():
            continue  # a cohort that nobody is in
        prior = np.prod([table[tuple(at[node] for node in scope)] for scope, table in about])
        if not prior > 0:
            continue
        sums = np.zeros(2)
        for row in rows:
            entries = [table[tuple((at | row)[node] for node in scope)] for scope, table in others]
            sums[row["value", "A.eve"]] += float(np.prod(entries))
        if sums.sum() > 0:
            found[place] = prior
            first += prior * (sums / sums.sum())
    assert mine is None or found.shape[0] > 1
    return found / found.sum(), first / first.sum()


@settings(max_examples=12)
@given(
    seed=st.integers(0, 10**6),
    holes=st.sets(st.sampled_from("pqrst"), min_size=1, max_size=4),
    steep=st.sampled_from([0.5, 3, 12, 30]),
    zeros=st.booleans(),
    records=st.sampled_from([0, 0, 15]),
)
def test_alone_what_is_hidden_is_as_likely_as_the_classes_say(seed, holes, steep, zeros, records):
    rng = np.random.default_rng(seed)
    graph = lone(
        rng, sorted(holes), steep=min(steep, 3) if records else steep, zeros=zeros, records=records
    )
    moved = lifagu.transfer(graph, by="auto", combine="average")
    assume(isinstance(moved, CohortTransfer))
    moved = of_few_sorts(moved)
    assume(
        "A.eve"
        in {
            graph.variable_names[each]
            for f in range(len(graph.factor_names))
            if graph.factor_names[f].endswith(".eve")
            for each in graph.scope(f)
        }
    )
    names, states = hidden_of(moved)
    assume(np.prod([len(each) for each in states.values()]) <= 500)
    wanted, first = by_the_classes(moved, states)
    model = posterior_model(moved)
    if not model.single:
        assert lifagu.query(moved, *names).probabilities == pytest.approx(wanted, **CLOSE)
        assert lifagu.query(moved, "A.eve").probabilities == pytest.approx(first, **CLOSE)
        return
    assert model.gap <= own_parts.CLOSE
    for number, name in enumerate(names):
        others = tuple(axis for axis in range(wanted.ndim) if axis != number)
        single = lifagu.query(moved, name)
        assert "not jointly" in single.notes[-1]
        assert single.probabilities == pytest.approx(wanted.sum(axis=others), abs=1e-7)


# ---- whoever is admitted


@settings(max_examples=6)
@given(seed=st.integers(0, 10**6), zeros=st.booleans(), steep=st.sampled_from([0.5, 3, 8]))
def test_an_admitted_copy_of_somebody_unknown_has_the_same_answers(seed, zeros, steep):
    holes = ["p", "q", "r", "s", "t"]
    graph = lone(np.random.default_rng(seed), holes, steep=steep, zeros=zeros, records=0)
    case = lifagu.open(graph)
    unknown = {graph.factor_names[each] for each in graph.unknown}
    assume("u.eve" not in graph.factor_names or "u.eve" in unknown)
    admitted = case.admit("zoe", "eve")
    for kind in "ABC":
        before = case.ask(f"{kind}.eve").probabilities
        assert admitted.ask(f"{kind}.zoe").probabilities == pytest.approx(before, **CLOSE)
        assert admitted.ask(f"{kind}.eve").probabilities == pytest.approx(before, **CLOSE)
