"""Individuals admitted without side effects: nobody is moved, what they show counts by Bayes."""

from functools import cached_property
from itertools import product

import numpy as np
import pytest

import lifagu
from lifagu.filling.cohorts.completing import CohortTransfer
from lifagu.questions.posterior_model import possible_model
from support.crowds import Oddities, crowd
from support.helpers import mostly_full, sampled

EPIDEMIC = "examples/epidemic.json"
CLOSE = {"abs": 1e-9, "rel": 1e-9}
CROWDS = {
    "plain": Oddities(),
    "zeros": Oddities(zeros=True),
    "estimated, conditional": Oddities(estimated=20, given=True),
    "twice, orders": Oddities(twice=True, permuted=True, relabelled=True, zeros=True),
    "linked": Oddities(between=True),
    "stays unknown": Oddities(no_candidate=True),
    "no holes": Oddities(hole=0),
}
FILLINGS = {
    "default": {},
    "best": {"combine": "best"},
    "extended": {"by": "extended"},
    "steps": {"by": "extended", "steps": 4},
}


def marginals(case):
    found = case.marginals()
    return {name: found[name] for name in found}, found.log_partition


def farthest(before, after):
    """How far marginals that were there before are apart now."""
    pairs = ((before[name], after[name]) for name in before)
    return max((abs(b[label] - a[label]) for b, a in pairs for label in b), default=0.0)


# ---- nobody is moved


@pytest.mark.parametrize(("odd", "filling"), sampled(product(CROWDS, FILLINGS), step=3))
def test_whoever_is_admitted_moves_nobody(odd, filling):
    case = lifagu.open(crowd(1, CROWDS[odd]).graph).fill(**FILLINGS[filling])
    admitted = case.admit("eve", "p0").admit("zoe", "p1").admit("ann", "eve")
    (before, log_z), (after, same) = marginals(case), marginals(admitted)
    assert farthest(before, after) <= 1e-12
    assert after.keys() >= before.keys()
    assert log_z is None or same == pytest.approx(log_z, abs=1e-11)


@pytest.mark.parametrize("many", mostly_full([1, 10, 1000], always=[1, 1000]))
def test_many_move_nobody_and_share_one_table(many):
    case = lifagu.open(EPIDEMIC)
    admitted = case
    for number in range(many):
        admitted = admitted.admit(f"e{number}", "alice" if number % 3 else "bob")
    (before, _), (after, _) = marginals(case), marginals(admitted)
    assert farthest(before, after) <= 1e-12
    assert len(admitted.transfer.graph.tables) == len(case.transfer.graph.tables) + 1
    assert after["Sick.e0"] == pytest.approx(before["Sick.bob"], abs=1e-12)
    alone, seen = case.admit("e0", "bob"), {"Sick.e0": "true"}
    wanted = alone.observe(seen).ask("Epid")["true"]
    assert admitted.observe(seen).ask("Epid")["true"] == pytest.approx(wanted)


def test_adding_moves_others_where_admitting_does_not():
    case = lifagu.open(EPIDEMIC)
    plain, added = case.ask("Epid")["true"], case.add("eve", "alice").ask("Epid")["true"]
    assert (round(plain, 3), round(added, 3)) == (0.341, 0.392)
    assert case.admit("eve", "alice").ask("Epid")["true"] == plain


# ---- Bayes' rule


class Guest:
    """Who is admitted, state by state: how likely its own states are given the shared ones."""

    def __init__(self, moved, graph, name, like):
        full, example = moved.original, moved.examples[like]
        self.known = {}
        of = {}
        for factor in range(*example.first_factor.tolist()):
            of[factor] = graph.scope(factor)
        first, end = example.first_variable.tolist()
        model = len(example.graph.variable_names)
        used = sorted({each for scope in of.values() for each in scope} | set(range(first, end)))
        self.own = [each for each in used if first <= each < end]
        self.shared = [each for each in used if each < first]
        self.hidden = [each for each in used if each >= model]
        self.graph, self.scopes = graph, of
        whole = moved.guests
        start = int(whole.first_variable[whole.names.index(name)])
        shift = start - first
        self.names = [full.variable_names[each + shift] for each in self.own]
        self.shared_names = [full.variable_names[each] for each in self.shared]
        self.labels = [full.ranges.canonical[full.variable_range[e + shift]] for e in self.own]
        self.shared_labels = [full.ranges.canonical[full.variable_range[e]] for e in self.shared]
        self.first_hidden = len(example.graph.factor_names)

    @cached_property
    def hidden_choices(self):
        """Each row of choices of hidden tables, and how likely it is by the network of cohorts."""
        graph = self.graph
        about = [
            factor
            for factor in range(self.first_hidden, len(graph.factor_names))
            if set(graph.scope(factor)) & set(self.hidden)
        ]
        every = sorted({each for factor in about for each in graph.scope(factor)})
        about += [
            factor
            for factor in range(self.first_hidden, len(graph.factor_names))
            if len(graph.scope(factor)) == 1
            and factor not in about
            and graph.scope(factor)[0] in every
        ]
        likely = {}
        for row in product(*(range(int(graph.sizes[each])) for each in every)):
            at = dict(zip(every, row, strict=True))
            weight = self.product(about, at)
            key = tuple(at[each] for each in self.hidden)
            likely[key] = likely.get(key, 0.0) + weight
        total = sum(likely.values())
        return [(dict(zip(self.hidden, key, strict=True)), w / total) for key, w in likely.items()]

    def product(self, factors, at):
        return float(np.prod([self.entry(factor, at) for factor in factors]))

    def entry(self, factor, at):
        table = self.graph.tables[int(self.graph.factor_table[factor])]
        return float(table[tuple(at[each] for each in self.graph.scope(factor))])

    def parts(self):
        parts = [{each} for each in self.own]
        for scope in self.scopes.values():
            met = [part for part in parts if part & set(scope)]
            parts = [part for part in parts if part not in met] + [set().union(*met)]
        return [sorted(part) for part in parts]

    def given(self, shared):
        """Own states (labels) with how likely they are in a state of the shared ones."""
        if shared not in self.known:
            self.known[shared] = self._given(shared)
        return self.known[shared]

    def _given(self, shared):
        graph = self.graph
        labelled = zip(self.shared, self.shared_labels, shared, strict=True)
        at = {variable: labels.index(label) for variable, labels, label in labelled}
        found = {}
        for choice, share in self.hidden_choices:
            rows = [({}, share)]
            for part in self.parts():
                factors = [f for f, scope in self.scopes.items() if set(scope) & set(part)]
                states = list(product(*(range(int(graph.sizes[each])) for each in part)))
                places = [at | choice | dict(zip(part, state, strict=True)) for state in states]
                weights = np.array([self.product(factors, place) for place in places])
                weights = weights if weights.sum() else np.ones(len(states))
                weights = weights / weights.sum()
                rows = [
                    (row | dict(zip(part, state, strict=True)), p * w)
                    for row, p in rows
                    for state, w in zip(states, weights.tolist(), strict=True)
                    if p * w
                ]
            for row, p in rows:
                key = tuple(labels[row[v]] for v, labels in zip(self.own, self.labels, strict=True))
                found[key] = found.get(key, 0.0) + p
        return found


def likelihood(evidence, state):
    """How likely a state makes what was observed of its variables."""
    found = 1.0
    for name, value in state.items():
        seen = evidence.get(name)
        if seen is not None:
            found *= seen.get(value, 0.0) if isinstance(seen, dict) else float(seen == value)
    return found


def by_bayes(case, guests, question, evidence):
    """P(question | evidence) as P(others) · Π P(theirs | others), each state listed; None if 0."""
    mine = {name for guest in guests for name in guest.names}
    shared = list(dict.fromkeys(name for guest in guests for name in guest.shared_names))
    others = list(dict.fromkeys([*shared, *(name for name in question if name not in mine)]))
    before = case.observe({n: v for n, v in evidence.items() if n not in mine})
    try:
        joint = before.ask(*others)
    except lifagu.NoAnswerError:
        return None
    found, total = {}, 0.0
    for values, p in zip(joint.values, joint.probabilities.reshape(-1).tolist(), strict=True):
        if not p:
            continue
        at = dict(zip(others, values, strict=True))
        rows = [(at, p)]
        for guest in guests:
            states = guest.given(tuple(at[name] for name in guest.shared_names))
            own = [(dict(zip(guest.names, state, strict=True)), w) for state, w in states.items()]
            rows = [
                (row | state, q * w * likelihood(evidence, state))
                for row, q in rows
                for state, w in own
            ]
        for row, q in rows:
            key = tuple(row[name] for name in question)
            found[key] = found.get(key, 0.0) + q
            total += q
    return {key: q / total for key, q in found.items()} if total else None


def lent_graph(moved, way):
    if isinstance(moved, CohortTransfer) and way == "average":
        return possible_model(moved).graph
    return moved.graph


def evidence_of(graph, rng, share):
    seen = {}
    for variable in graph.variables:
        if rng.random() < share:
            labels = variable.range
            if rng.random() < 0.3:
                weights = rng.choice([0.2, 1.0, 3.0], len(labels)).tolist()
                seen[variable.name] = dict(zip(labels, weights, strict=True))
            else:
                seen[variable.name] = str(rng.choice(labels))
    return seen


@pytest.mark.parametrize(
    ("odd", "filling"),
    [
        ("plain", "default"),
        ("zeros", "default"),
        ("zeros", "extended"),
        ("estimated, conditional", "best"),
        ("twice, orders", "extended"),
        ("linked", "default"),
        ("stays unknown", "default"),
        ("no holes", "default"),
        ("no holes", "steps"),
    ],
)
@pytest.mark.parametrize("seed", mostly_full(range(2), always=[0]))
def test_observations_count_by_bayes(odd, filling, seed):
    case = lifagu.open(crowd(2, CROWDS[odd]).graph).fill(**FILLINGS[filling])
    admitted = case.admit("eve", "p0").admit("zoe", "p1")
    moved = admitted.transfer
    graphs = [lent_graph(each, moved.filling.combine) for each in moved.lent]
    names = enumerate(("eve", "zoe"))
    guests = [Guest(moved, graphs[like], name, like) for like, name in names]
    if any(guest.graph.factor_table[factor] < 0 for guest in guests for factor in guest.scopes):
        with pytest.raises(lifagu.NoAnswerError, match="unknown"):
            admitted.ask("A.eve")
        return
    evidence = evidence_of(moved.original, np.random.default_rng(seed), 0.3)
    asked = admitted.observe(evidence)
    for question in (("S",), ("A.eve",), ("B.zoe", "S"), ("B.p3",)):
        wanted = by_bayes(case, guests, question, evidence)
        if wanted is None:
            with pytest.raises(lifagu.NoAnswerError):
                asked.ask(*question)
            continue
        answer = asked.ask(*question)
        for values, p in zip(answer.values, answer.probabilities.reshape(-1), strict=True):
            assert wanted.get(tuple(values), 0.0) == pytest.approx(float(p), **CLOSE)


# ---- several tables, other models, refusals


def competing():
    """Three individuals around a shared variable, two of them with the same table."""
    builder = lifagu.FactorGraph.build().variable("E", kind="E").factor("p", ["E"], [2, 1])
    for number, table in enumerate(([4, 1, 1, 3], [4, 1, 1, 3], [1, 2, 5, 1])):
        name = f"p{number}"
        builder.variable(f"S.{name}", kind="S", individual=name)
        builder.factor(f"f.{name}", [f"S.{name}", "E"], table)
    return builder.graph()


def test_posterior_is_the_mixture_of_admitted_models():
    """Each choice of tables is divided by its own sum: otherwise what is shared would tell it."""
    case = lifagu.open(competing()).fill(by="auto").admit("eve", "p0")
    seen = case.observe({"S.eve": "true"})
    tables = [np.array(each.table).reshape(2, 2) for each in case.transfer.record[0].competing]
    shares = [each.share for each in case.transfer.record[0].competing]
    likely = sum(w * t[1] / t.sum(axis=0) for w, t in zip(shares, tables, strict=True))
    wanted = lifagu.open(competing()).ask("E").probabilities * likely
    assert seen.ask("E").probabilities == pytest.approx(wanted / wanted.sum(), abs=1e-3)


def test_a_state_in_which_she_is_impossible_leaves_her_uniform_and_others_unmoved():
    builder = lifagu.FactorGraph.build().variable("E").factor("p", ["E"], [2, 1])
    builder.variable("S.al", individual="al").variable("T.al", individual="al")
    builder.factor("f.al", ["S.al", "E"], [1, 0, 1, 4]).factor(
        "g.al", ["S.al", "T.al"], [1, 1, 0, 0]
    )
    builder.variable("S.bo", individual="bo").variable("T.bo", individual="bo")
    builder.factor("f.bo", ["S.bo", "E"], None).factor("g.bo", ["S.bo", "T.bo"], [3, 1, 1, 1])
    case = lifagu.open(builder.graph()).fill(by="extended")
    admitted = case.admit("eve", "al")
    assert farthest(marginals(case)[0], marginals(admitted)[0]) <= 1e-12
    sure = admitted.observe({"E": "true"})
    assert admitted.ask("S.eve").probabilities.sum() == pytest.approx(1)
    with pytest.raises(lifagu.NoAnswerError, match="probability zero"):
        sure.ask("S.eve")  # as al is impossible with it


def test_relational_models_and_those_written_and_lifted(tmp_path):
    case = lifagu.open("examples/smokers.json")
    admitted = case.admit("zoe", "1")
    assert admitted.ask("Smokes(2)")["true"] == case.ask("Smokes(2)")["true"]
    seen = admitted.observe({"Smokes(zoe)": "true"})
    assert seen.ask("Smokes(2)")["true"] > case.ask("Smokes(2)")["true"]
    epidemic = lifagu.open(EPIDEMIC).admit("eve", "alice").observe({"Sick.eve": "true"})
    wanted = epidemic.ask("Epid")["true"]
    names = list(epidemic.completed.factor_names)
    assert names[-4:] == ["f1.eve", "f2.eve.m1", "f2.eve.m2", "admission of eve"]
    epidemic.write(tmp_path / "model.json")
    assert lifagu.open(tmp_path / "model.json").ask("Epid")["true"] == pytest.approx(wanted)
    found = epidemic.lift(tmp_path / "lifted")
    assert lifagu.query(found.model, "Epid", evidence=epidemic.evidence)["true"] == pytest.approx(
        wanted
    )


def test_refusals_in_one_line():
    case = lifagu.open(EPIDEMIC).admit("eve", "alice")
    for ask, words in (
        (lambda: case.fill(by="lifagu").ask("Sick.eve"), "differ by none"),
        (lambda: case.admit("eve", "bob").ask("Sick.eve"), "is in the model already"),
        (lambda: case.admit("bob", "alice").ask("Sick.eve"), "is in the model already"),
        (lambda: case.admit("zoe", "nobody").ask("Sick.eve"), "no individual 'nobody'"),
        (lambda: case.at("duckdb").ask("Epid"), "takes a folder"),
        (lambda: case.validate(), "admitted"),
    ):
        with pytest.raises(lifagu.LifaguError, match=words) as refusal:
            ask()
        assert "\n" not in str(refusal.value)


def test_what_is_shared_may_be_too_wide_for_a_table():
    builder = lifagu.FactorGraph.build().variable("A.al", individual="al")
    for number in range(25):
        builder.variable(f"X{number}").factor(f"f{number}", ["A.al", f"X{number}"], [3, 1, 1, 3])
    case = lifagu.open(builder.graph()).admit("eve", "al")
    with pytest.raises(lifagu.TooLargeError, match="67108864 entries.*case.add"):
        case.ask("A.eve")
    assert case.ask("X0")["true"] == pytest.approx(0.5)


# ---- how far adding moves


def test_how_far_adding_moved_others_is_said():
    move = lifagu.open(EPIDEMIC).add("eve", "alice").moved_by_adding("Sick.bob")
    assert (move.variable, move.label) == ("Epid", "true")
    assert (round(move.before, 3), round(move.after, 3)) == (0.341, 0.392)
    assert "from 0.341 to 0.392" in str(move)
    assert lifagu.open(EPIDEMIC).admit("eve", "alice").moved_by_adding("Sick.bob") is None
    seen = lifagu.open(EPIDEMIC).add("eve", "alice").observe({"Sick.eve": "true"})
    assert seen.moved_by_adding() == lifagu.open(EPIDEMIC).add("eve", "alice").moved_by_adding()
