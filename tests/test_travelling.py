"""Values that travel: evidence from one graph to another, and anything through pickle, copy and other processes."""

import random

import numpy as np
import pytest

import lifagu
from lifagu.evidence import Evidence


def town(order=(0, 1, 2), labels=("low", "high")):
    """Three people around an epidemic, declared in some order; f.2 is unknown."""
    builder = lifagu.FactorGraph.build()
    for person in order:
        builder.variable(f"Sick.{person}", individual=f"p{person}", kind="Sick")
    builder.variable("Epid", labels)
    for person in order:
        flipped = [[1, 4], [3, 1]] if labels[0] == "high" else [[4, 1], [1, 3]]
        builder.factor(f"f.{person}", [f"Sick.{person}", "Epid"], None if person == 2 else flipped)
    return builder.factor("g", ["Epid"], [1, 5] if labels[0] == "high" else [5, 1]).graph()


def probability(model, name, evidence):
    return lifagu.query(model, name, evidence=evidence)["true"]


# ---- evidence of one graph and another


def test_evidence_of_a_graph_is_not_applied_by_number_to_another():
    graph = lifagu.transfer(town()).graph
    seen = {"Sick.0": "true", "Epid": {"high": 3, "low": 1}}
    bound, expected = graph.evidence(seen), probability(graph, "Sick.1", seen)
    for other in (
        lifagu.transfer(town(order=(2, 1, 0))).graph,
        lifagu.transfer(town(labels=("high", "low"))).graph,
        lifagu.transfer(town(order=(1, 2, 0))),
        lifagu.ground(lifagu.lift(graph)),
        lifagu.lift(graph),
        lifagu.lift(lifagu.transfer(town(order=(2, 1, 0)))),
    ):
        assert probability(other, "Sick.1", bound) == pytest.approx(expected, rel=1e-12)


def test_graphs_with_the_same_variables_take_evidence_as_it_is():
    graph = town()
    bound = graph.evidence({"Sick.0": "true"})
    moved = lifagu.transfer(graph)
    for other in (moved.graph, moved.averaged(), lifagu.round_tables(graph, 3).graph, graph):
        assert other.evidence(bound) is bound
    assert graph.with_individual("p9", like="p0").evidence(bound).variables.tolist() == bound.variables.tolist()


def test_evidence_that_does_not_fit_another_graph_is_refused():
    graph = town()
    other = lifagu.FactorGraph.build().variables(["Sick.0", "X"]).factor("f", ["X"], [1, 2]).graph()
    with pytest.raises(lifagu.ModelError, match="belongs to another graph: it observes 'Epid'.*by name"):
        lifagu.query(other, "X", evidence=graph.evidence({"Epid": "low"}))
    other = lifagu.FactorGraph.build().variable("Epid", ["a", "b"]).factor("f", ["Epid"], [1, 2]).graph()
    with pytest.raises(lifagu.ModelError, match="'Epid' has the range low, high and not a, b; pass evidence by name"):
        lifagu.query(other, "Epid", evidence=graph.evidence({"Epid": "low"}))
    model = lifagu.ParfactorGraph.build().domain("P", 3).relation("S", "P").parfactor("g", ["S(X)"], [1, 2]).model()
    with pytest.raises(lifagu.ModelError, match="no variable 'Epid'"):
        lifagu.query(model, "S(1)", evidence=graph.evidence({"Epid": "low"}))
    with pytest.raises(lifagu.ModelError, match="pass evidence by name to a relational model"):
        lifagu.query(model, "S(1)", evidence=Evidence(np.array([0]), np.array([1])))
    with pytest.raises(lifagu.ModelError, match="evidence of two graphs"):
        graph.evidence({"Epid": "low"}).overridden(other.evidence({"Epid": "a"}))


@pytest.mark.parametrize(
    "wrong",
    [
        Evidence(np.array([9]), np.array([0])),
        Evidence(np.array([-1]), np.array([0])),
        Evidence(np.array([1, 0]), np.array([0, 0])),
        Evidence(np.array([0, 0]), np.array([0, 0])),
        Evidence(np.array([0]), np.array([2])),
        Evidence(np.array([0]), np.array([0, 0])),
        Evidence(soft_variables=np.array([0]), likelihoods=(np.ones(3),)),
        Evidence(soft_variables=np.array([0])),
    ],
)
def test_evidence_by_number_must_fit_the_graph(wrong):
    with pytest.raises(lifagu.ModelError, match="by number"):
        town().evidence(wrong)


@pytest.mark.parametrize("seed", range(40))
def test_bound_evidence_means_what_it_meant_by_name(seed):
    """Graphs with shuffled variables and label orders answer as if the evidence had been given by name."""
    rng = random.Random(seed)
    names, labels = [f"v{each}" for each in range(5)], ["a", "b", "c"]
    size = {name: rng.randint(2, 3) for name in names}

    def shuffled():
        builder = lifagu.FactorGraph.build()
        for name in rng.sample(names, len(names)):
            builder.variable(name, rng.sample(labels[: size[name]], size[name]))
        for place in range(4):
            scope = names[place : place + 2]
            span = size[scope[0]] * size[scope[1]]
            builder.factor(f"f{place}", scope, [rng.randint(1, 9) for _ in range(span)])
        return builder.graph()

    first, second = shuffled(), shuffled()
    seen = {"v1": rng.choice(labels[: size["v1"]])}
    seen["v3"] = {label: rng.randint(1, 9) for label in labels[: size["v3"]]}
    bound = first.evidence(seen)
    expected = lifagu.query(second, "v0", "v4", evidence=seen)
    assert np.array_equal(lifagu.query(second, "v0", "v4", evidence=bound).probabilities, expected.probabilities)
    lifted = lifagu.lift(second)
    found = lifagu.query(lifted, "v0", "v4", evidence=bound)
    for labels_of, value in expected.items():
        assert found[labels_of] == pytest.approx(value, rel=1e-12)
    assert dict(second.observations(bound)).keys() == seen.keys()


def test_bound_evidence_is_written_with_relational_models(tmp_path):
    graph = lifagu.transfer(town()).graph
    lifted, bound = lifagu.lift(graph), graph.evidence({"Sick.0": "true"})
    for ending in (".json", ".blog", ".uai"):
        lifagu.write(lifted, path := tmp_path / f"model{ending}", bound)
        seen = lifagu.read_evidence(tmp_path / "model.uai.evid" if ending == ".uai" else path)
        assert list(seen.values()) == ["1" if ending == ".uai" else "true"]
    lifagu.plot(lifted, tmp_path / "figure.svg", "colours", evidence=bound)


def test_binding_a_million_observations_to_a_copy_is_quick():
    count = 10**6
    table, numbers = [[1.0, 2.0, 3.0, 4.0]], np.arange(count)
    pieces = {"ranges": [["a", "b"]], "variable_ranges": np.zeros(count, dtype=np.int64), "offsets": [0, 2]}
    pieces |= {"arguments": [0, 1], "tables": table, "factor_tables": [0]}
    first, second = (lifagu.FactorGraph.from_arrays(**pieces) for _ in range(2))
    bound = first.evidence(Evidence(numbers, numbers % 2))
    assert np.array_equal(second.evidence(bound).values, bound.values)
