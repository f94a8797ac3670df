"""Mixtures and bounds over very many combinations: exact part by part, honest where drawn."""

from itertools import product

import numpy as np
import pytest

import lifagu
from lifagu.examples.hospital import hospital
from lifagu.examples.installing import install_hospital
from lifagu.questions.requested_marginals import request
from lifagu.questions.unsure import copies, units
from lifagu.questions.unsure.considered import consider
from lifagu.questions.unsure.draws import drawn_places, estimated
from lifagu.questions.unsure.parts_and_classes import PartsAndClasses

TABLES = np.array([[[1.0, 2], [3, 4]], [[4, 2], [3, 1]]])  # of what is beside the hub, H first


def around_a_hub(count, unknown=1, tables=TABLES):
    """So many classes in one connected part, two tables competing for each, and for each holes."""
    graph = lifagu.FactorGraph.build().variable("H")
    for i in range(count):
        named = [("a", tables[0] + i), ("b", tables[1] + i)]
        for name, table in [*named, *((f"c{j}_", None) for j in range(unknown))]:
            graph.variable(f"{name}{i}", kind=f"k{i}")
            graph.factor(f"f{name}{i}", ["H", f"{name}{i}"], table)
    return lifagu.transfer(graph.graph())


def all_of_hub(count, seen=()):
    """(weight, P(H = true)) of all combinations; seen: the classes of which c0_ is true."""
    weights, answers = [], []
    for choice in product(range(2), repeat=count):
        before, after = np.ones(2), np.ones(2)
        for i, chosen in enumerate(choice):
            own = TABLES + i
            known = own[0].sum(axis=1) * own[1].sum(axis=1)
            before *= known * own[chosen].sum(axis=1)
            after *= known * (own[chosen][:, 1] if i in seen else own[chosen].sum(axis=1))
        weights.append(after.sum() / before.sum())
        answers.append(after[1] / after.sum())
    return np.array(weights) / sum(weights), np.array(answers)


@pytest.fixture
def only_draws(monkeypatch):
    monkeypatch.setattr(units, "_affordable", lambda whole, parts, draws: False)


# ---- exact


@pytest.mark.parametrize("seen", [(), (0, 3, 5)])
def test_many_combinations_in_one_part(seen):
    moved, evidence = around_a_hub(9), {f"c0_{i}": "true" for i in seen}
    weights, answers = all_of_hub(9, seen)
    mixture = lifagu.query(moved, "H", evidence=evidence, unknown="mixture")
    assert mixture["true"] == pytest.approx(weights @ answers, rel=1e-9)
    assert (mixture.error, mixture.notes) == (None, ())
    bounds = lifagu.query(moved, "H", evidence=evidence, unknown="bounds")
    assert bounds.lower[1] == pytest.approx(answers.min(), rel=1e-9)
    assert bounds.upper[1] == pytest.approx(answers.max(), rel=1e-9)


def apart(count, members=4):
    """Classes whose members are all in parts of their own: 2^count combinations, 2 each."""
    graph = lifagu.FactorGraph.build()
    for i in range(count):
        for name, table in (
            ("a", [1, 3]),
            ("b", [9, 1]),
            *((f"c{j}_", None) for j in range(members)),
        ):
            graph.variable(f"{name}{i}", kind=f"k{i}").factor(f"f{name}{i}", [f"{name}{i}"], table)
    return lifagu.transfer(graph.graph())


def test_parts_do_not_multiply():
    moved = apart(200)
    for seen, true in (({}, 0.425), ({"c1_7": "true"}, (0.75**2 + 0.1**2) / 0.85)):
        evidence = seen | {"c1_8": "false"}
        assert lifagu.query(moved, "c0_7", evidence=evidence, unknown="mixture")[
            "true"
        ] == pytest.approx(true)
    bounds = lifagu.query(moved, "c0_7", "c3_9", unknown="bounds")
    assert bounds.lower == pytest.approx(np.outer([0.25, 0.1], [0.25, 0.1]))
    assert bounds.upper == pytest.approx(np.outer([0.9, 0.75], [0.9, 0.75]))


@pytest.mark.parametrize("way", ["mixture", "bounds"])
def test_all_marginals_are_those_of_single_questions(way, monkeypatch):
    monkeypatch.setattr(copies, "TOGETHER", 50)
    moved, evidence = apart(30), {f"c2_{i}": "true" for i in range(0, 30, 3)}
    graph = moved.original
    found = request(moved, np.arange(len(graph.variable_names)), graph.evidence(evidence), way, {})
    for name in ("a3", "c0_3", "c2_3", "c0_4"):
        single = lifagu.query(moved, name, evidence=evidence, unknown=way)
        own = found.distributions[found.of[found.names.find(name)]]
        assert own["true"][0] == pytest.approx(single["true"])
        if way == "bounds":
            assert own["true"][1:] == pytest.approx((single.lower[1], single.upper[1]))


@pytest.mark.parametrize("way", ["mixture", "bounds"])
def test_rows_one_by_one_are_those_at_once(way, monkeypatch):
    moved, evidence = around_a_hub(5, 2), {"c0_1": "true", "c1_3": "false"}
    at_once = lifagu.queries(moved, ["H", ("c0_0", "c1_1"), "c0_1"], evidence=evidence, unknown=way)
    monkeypatch.setattr(copies, "LARGE", 0)
    monkeypatch.setattr(copies, "FEW", 1)
    each = lifagu.queries(moved, ["H", ("c0_0", "c1_1"), "c0_1"], evidence=evidence, unknown=way)
    single = lifagu.queries(moved, ["H", "c0_0", "c0_1"], evidence=evidence, unknown=way)
    for one, other in zip([*at_once, at_once[0]], [*each, single[0]], strict=True):
        assert one.probabilities == pytest.approx(other.probabilities, rel=1e-9)
        assert way == "mixture" or one.lower == pytest.approx(other.lower, rel=1e-9)


def test_alternatives_that_are_equal_up_to_scale_are_one():
    graph = lifagu.FactorGraph.build().variables(["A", "B", "C", "D"], kind="x")
    for name, table in (("A", [1, 3]), ("B", [2, 6]), ("C", [9, 1]), ("D", None)):
        graph.factor(f"f{name}", [name], table)
    moved = lifagu.transfer(graph.graph())
    whole = PartsAndClasses.of(moved, moved.original.evidence({}), cut=False)
    lent = copies.Copies(whole, np.array([3]), {})
    assert [each.tolist() for each in lent.merged(3)] == [[0, 0, 2]]
    assert lifagu.query(moved, "D", unknown="mixture")["true"] == pytest.approx(1.6 / 3)


# ---- drawn


@pytest.mark.parametrize("seen", [(), (0, 3, 5)])
def test_stated_errors_are_honest(seen, only_draws):
    """Over many seeds estimates lie around the truth, as far off as the standard error says."""
    count, evidence = 7, {f"c0_{i}": "true" for i in seen}
    weights, answers = all_of_hub(count, seen)
    truth, scores = weights @ answers, []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        rows = rng.integers(2, size=(200, count)) @ 2 ** np.arange(count)[::-1]
        found = estimated(answers[rows][:, None], np.log(weights)[rows])
        scores.append((found.mean[0] - truth) / found.error[0])
    assert 0.5 < np.mean(np.square(scores)) < 1.7
    mixture = lifagu.query(around_a_hub(count), "H", evidence=evidence, unknown="mixture")
    assert mixture.error is not None
    assert 0 < mixture.error[1] < 0.02
    assert abs(mixture["true"] - truth) < 4 * mixture.error[1]
    assert mixture.error == pytest.approx(mixture.error[::-1])
    assert "by 1000 draws of 128 combinations" in mixture.notes[0]


def test_bounds_over_draws_are_within_the_true_ones(only_draws):
    _, answers = all_of_hub(7)
    bounds = lifagu.query(around_a_hub(7), "H", unknown="bounds")
    assert answers.min() - 1e-12 <= bounds.lower[1] <= bounds["true"] <= bounds.upper[1]
    assert bounds.upper[1] <= answers.max() + 1e-12
    assert "may be wider" in bounds.notes[0]


@pytest.mark.parametrize("way", ["mixture", "bounds"])
def test_far_more_combinations_than_can_be_counted(way):
    moved = around_a_hub(1200)
    alone = lifagu.query(moved, "c0_3", unknown=way)
    again = lifagu.queries(moved, ["H", "c0_3", ("H", "c0_4")], unknown=way)[1]
    assert alone.probabilities.tolist() == pytest.approx(again.probabilities.tolist(), rel=1e-9)
    assert "10^361 combinations" in alone.notes[0]
    assert alone.rests_on == again.rests_on
    assert len(alone.rests_on) == 1200


def test_shares_are_drawn_as_often_as_they_say():
    places = drawn_places(np.array([0.5, 0.3, 0.2]), 4, 100, 0)
    assert np.bincount(places).tolist() == [50, 30, 20]
    assert (places == drawn_places(np.array([0.5, 0.3, 0.2]), 4, 100, 0)).all()
    assert (places != drawn_places(np.array([0.5, 0.3, 0.2]), 5, 100, 0)).any()


def test_evidence_that_no_draw_explains_has_no_answer(only_draws):
    impossible = np.array([[[1.0, 0], [1, 0]], [[2, 0], [1, 0]]])
    graph = lifagu.FactorGraph.build().variable("H")
    for i, name in enumerate("abc"):
        table = None if name == "c" else impossible[i]
        graph.variable(name, kind="k").factor(f"f{name}", ["H", name], table)
    moved = lifagu.transfer(graph.graph())
    with pytest.raises(lifagu.NoAnswerError, match="probability zero"):
        lifagu.query(moved, "H", evidence={"c": "true"}, unknown="mixture")


@pytest.mark.parametrize("way", ["mixture", "bounds"])
def test_the_example_hospital_is_answered(way, tmp_path):
    case = lifagu.open(install_hospital(tmp_path, hospital())).fill(by="individuals", unknown=way)
    answer = case.ask("Sick(eve)")
    assert "draws of about 10^1" in answer.notes[0]
    if way == "mixture":
        assert answer.error is not None
        assert answer.error.max() < 0.002
    else:
        assert answer.lower[1] < answer["true"] < answer.upper[1]


# ---- where models themselves can be drawn


class Drawing:
    """A transfer that draws its completions, each alternative by its share."""

    def __init__(self, moved):
        self._moved = moved

    def __getattr__(self, name):
        return getattr(self._moved, name)

    def drawn(self, rng):
        return self._moved.completed(
            (each, int(rng.choice(each.alternatives, p=each.shares)))
            for each in self._moved.open_classes
        )


def test_bounds_over_drawn_models_are_quantiles():
    moved = Drawing(around_a_hub(6))
    nothing = moved.original.evidence({})
    found = consider(moved, [("H",), ("H", "c0_2")], nothing, "bounds", {}).run()
    _, answers = all_of_hub(6)
    first, joint = found.answers
    assert first["true"] == pytest.approx(answers.mean(), abs=4 * first.error[1])
    low, high = np.quantile(answers, [0.05, 0.95])
    assert first.lower[1] == pytest.approx(low, abs=0.03)
    assert first.upper[1] == pytest.approx(high, abs=0.03)
    assert "5 % and 95 %" in first.notes[0]
    assert joint.probabilities.sum() == pytest.approx(1)
    assert first.rests_on == tuple(f"fc0_{i}" for i in range(6))
