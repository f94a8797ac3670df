"""Values that travel: evidence from graph to graph, anything through pickle, copy, processes."""

import copy
import dataclasses
import multiprocessing
import pickle
import random
import subprocess
import sys
from collections.abc import Sequence

import numpy as np
import pytest

import lifagu
from lifagu.graph.evidence import Evidence
from lifagu.inference.marginals import AllMarginals
from lifagu.inference.memory_limit import PlanTooLargeError
from lifagu.inference.most_probable import Best
from lifagu.inference.relational.marginals import ClassMarginals
from lifagu.inference.relational.most_probable import RelationalBest
from lifagu.likeness.merging import merge_tables
from lifagu.questions.findings import Imputed
from lifagu.questions.planning import prepare, prepare_map, prepare_marginals
from lifagu.relational.grounding import expand_evidence
from lifagu.relational.parfactors import ParfactorError


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
    for other in (moved.graph, merge_tables(graph, 0.001).graph, graph):
        assert other.evidence(bound) is bound
    assert (
        graph.with_individual("p9", like="p0").evidence(bound).variables.tolist()
        == bound.variables.tolist()
    )


def test_evidence_that_does_not_fit_another_graph_is_refused():
    graph = town()
    other = lifagu.FactorGraph.build().variables(["Sick.0", "X"]).factor("f", ["X"], [1, 2]).graph()
    with pytest.raises(
        lifagu.ModelError, match="belongs to another graph: it observes 'Epid'.*by name"
    ):
        lifagu.query(other, "X", evidence=graph.evidence({"Epid": "low"}))
    other = (
        lifagu.FactorGraph.build()
        .variable("Epid", ["a", "b"])
        .factor("f", ["Epid"], [1, 2])
        .graph()
    )
    with pytest.raises(
        lifagu.ModelError,
        match="'Epid' has the range low, high and not a, b; pass evidence by name",
    ):
        lifagu.query(other, "Epid", evidence=graph.evidence({"Epid": "low"}))
    model = (
        lifagu.ParfactorGraph.build()
        .domain("P", 3)
        .relation("S", "P")
        .parfactor("g", ["S(X)"], [1, 2])
        .model()
    )
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
    """Graphs with shuffled variables and labels answer as if evidence had been given by name."""
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
    assert np.array_equal(
        lifagu.query(second, "v0", "v4", evidence=bound).probabilities, expected.probabilities
    )
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
        seen = lifagu.io.read_evidence(tmp_path / "model.uai.evid" if ending == ".uai" else path)
        assert list(seen.values()) == ["1" if ending == ".uai" else "true"]
    lifagu.plot(lifted, tmp_path / "figure.svg", "colours", evidence=bound)


def test_binding_a_million_observations_to_a_copy_is_quick():
    count = 10**6
    table, numbers = [[1.0, 2.0, 3.0, 4.0]], np.arange(count)
    pieces = {
        "ranges": [["a", "b"]],
        "variable_ranges": np.zeros(count, dtype=np.int64),
        "offsets": [0, 2],
    }
    pieces |= {"arguments": [0, 1], "tables": table, "factor_tables": [0]}
    first, second = (lifagu.FactorGraph.from_arrays(**pieces) for _ in range(2))
    bound = first.evidence(Evidence(numbers, numbers % 2))
    assert np.array_equal(second.evidence(bound).values, bound.values)


# ---- pickle, copy and other processes


def people(size=5):
    builder = (
        lifagu.ParfactorGraph.build()
        .domain("Person", size)
        .relation("Epid")
        .relation("Sick", "Person")
    )
    builder.parfactor("g", ["Sick(X)", "Epid"], [4, 1, 1, 3]).variable("Plain")
    return builder.factor("h", ["Sick(2)", "Plain"], [1, 2, 3, 4]).model()


def values():
    """One value of each kind that users hold in their hands, by name."""
    graph, model = town(), people()
    moved = lifagu.transfer(graph, tolerance=1e-5)
    evidence = {"Sick.0": "true", "Sick.1": {"true": 3, "false": 1}}
    lifted = lifagu.lift(moved)
    return {
        "graph": graph,
        "completed": moved.graph,
        "transfer": moved,
        "lifted": lifted,
        "relational": model,
        "ground": lifagu.ground(model),
        "ground again": lifagu.ground(lifted),
        "evidence": graph.evidence(evidence),
        "observations": graph.observations(evidence),
        "colouring": lifagu.colour(graph),
        "merged": merge_tables(graph, tolerance=0.1),
        "answer": lifagu.query(moved, "Sick.1", "Epid", combine="best", evidence=evidence),
        "believed": lifagu.query(moved, "Sick.1", engine="bp"),
        "marginals": lifagu.marginals(moved, evidence=evidence),
        "lifted marginals": lifagu.marginals(moved, evidence=evidence, engine="lifted"),
        "by class": lifagu.marginals(model, evidence={"Sick(3)": "true"}),
        "listed": lifagu.marginals(model).expanded(),
        "best": lifagu.map_assignment(moved),
        "relational best": lifagu.map_assignment(model),
        "imputed": lifagu.impute(graph),
        "loaded": lifagu.io.Loaded(graph, evidence),
        "scene": lifagu.draw(graph),
        "factors": graph.factors,
        "record": moved.record,
    }


def told(value):
    """What a value says, in plain values that can be compared."""
    if isinstance(value, lifagu.FactorGraph):
        return repr(value), list(value.variable_names), lifagu.io.to_json(value)
    if isinstance(value, lifagu.Transfer):
        return (
            list(value.record),
            told(value.graph),
            told(lifagu.query(value, "Epid")),
            value.bound(),
        )
    if isinstance(value, lifagu.ParfactorGraph):
        return str(value), told(lifagu.ground(value)), told(lifagu.marginals(value))
    if isinstance(value, Evidence):
        arrays = (value.variables, value.values, value.soft_variables, *value.likelihoods)
        return [each.tolist() for each in arrays]
    if isinstance(value, lifagu.Answer):
        return (
            dict(value.items()),
            value.lower is not None and value.lower.tolist(),
            value.plan,
            value.convergence,
        )
    if isinstance(value, dict):
        return dict(value)
    if isinstance(value, ClassMarginals | AllMarginals):
        return (
            dict(value),
            value.plan,
            value.engine,
            value.log_partition,
            value.left_out,
            repr(value),
        )
    if isinstance(value, Best | RelationalBest):
        return value.assignment, value.log_weight, value.plan
    if isinstance(value, Imputed):
        answers = [
            value.marginals.columns()[name].tolist()
            for name in ("variable", "value", "probability")
        ]
        return (
            value.filled,
            value.lent,
            value.left,
            told(value.transfer),
            answers,
            told(value.evidence),
        )
    if isinstance(value, lifagu.io.Loaded):
        return told(value.model), dict(value.evidence)
    if isinstance(value, lifagu.drawing.Scene):
        return lifagu.drawing.to_svg(value)
    if isinstance(value, tuple):
        return [told(each) for each in value]
    return list(map(repr, value)) if isinstance(value, Sequence) else repr(value)


def held_arrays(value, met=None):
    """All arrays that a value holds in its own fields, and in those of the values inside."""
    met = {} if met is None else met
    if id(value) in met:
        return
    met[id(value)] = value
    if isinstance(value, np.ndarray):
        yield value
    inside = (
        value
        if isinstance(value, tuple | list)
        else vars(value).values()
        if hasattr(value, "__dict__")
        else ()
    )
    for each in inside:
        if not isinstance(each, str) and not callable(each):
            yield from held_arrays(each, met)


VALUES = values()
ARRAYS = [
    "graph",
    "completed",
    "lifted",
    "relational",
    "ground",
    "evidence",
    "observations",
    "colouring",
    "answer",
    "best",
]


@pytest.mark.parametrize("name", VALUES)
def test_values_survive_pickling_and_copying(name):
    value = VALUES[name]
    for again in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
        assert type(again) is type(value)
        assert told(again) == told(value)
        if name in (
            "graph",
            "completed",
            "lifted",
            "relational",
            "ground",
            "ground again",
            "colouring",
        ):
            assert again == value
        assert told(pickle.loads(pickle.dumps(again))) == told(value)


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize(
    "travel", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))]
)
def test_arrays_stay_read_only(name, travel):
    again = travel(VALUES[name])
    for array in (each for each in vars(again).values() if isinstance(each, np.ndarray)):
        assert not array.flags.writeable
    graph = getattr(again, "ground_part", None) or getattr(again, "graph", again)
    for array in held_arrays(pickle.loads(pickle.dumps(graph))):
        assert not array.flags.writeable


def test_what_was_found_out_stays_at_home():
    graph = lifagu.transfer(town()).graph
    before = len(pickle.dumps(graph))
    lifagu.marginals(graph)
    lifagu.query(graph, "Epid", engine="ground")
    assert len(pickle.dumps(graph)) == before
    assert set(vars(pickle.loads(pickle.dumps(graph)))) == {
        field.name for field in dataclasses.fields(graph)
    }


def test_evidence_that_travels_with_its_graph_stays_bound_to_it():
    graph = town()
    again, bound = pickle.loads(pickle.dumps((graph, graph.evidence({"Epid": "low"}))))
    assert again.evidence(bound) is bound
    assert (
        again.evidence(graph.evidence({"Epid": "low"})).variables.tolist()
        == bound.variables.tolist()
    )


def test_names_of_ground_variables_say_what_is_wrong_after_a_journey():
    graph = pickle.loads(pickle.dumps(lifagu.ground(people())))
    with pytest.raises(lifagu.ModelError, match="'9' is not a constant of domain Person"):
        graph.variable("Sick(9)")
    assert graph.evidence(
        expand_evidence(people(), {"Sick(2..3)": "true"}, graph)
    ).values.tolist() == [1, 1]


def prepare_nothing(model):
    return prepare(model, [])


@pytest.mark.parametrize("prepare", [prepare_marginals, prepare_map, prepare_nothing])
@pytest.mark.parametrize("model", [people(), lifagu.transfer(town())])
def test_plans_stay_at_home_and_say_so(prepare, model):
    plan = prepare(model)
    with pytest.raises(
        lifagu.ModelError, match="a plan stays in the process that made it; pickle the model"
    ):
        pickle.dumps(plan)
    assert str(copy.deepcopy(plan)) == str(plan)


def test_values_come_back_from_another_process():
    """A new interpreter, which imports nothing but what it is sent, answers the same."""
    sent = {
        name: VALUES[name]
        for name in ("graph", "transfer", "ground", "lifted", "by class", "answer")
    }
    code = (
        "import pickle, sys; got = pickle.load(sys.stdin.buffer); import lifagu;"
        "back = lifagu.query(got['transfer'], 'Epid', evidence={'Sick.0': 'true'}), got;"
        "pickle.dump(back, sys.stdout.buffer)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], input=pickle.dumps(sent), stdout=subprocess.PIPE, check=True
    )
    answer, back = pickle.loads(run.stdout)
    assert told(answer) == told(lifagu.query(sent["transfer"], "Epid", evidence={"Sick.0": "true"}))
    assert {name: told(value) for name, value in back.items()} == {
        name: told(value) for name, value in sent.items()
    }


@pytest.mark.parametrize(
    "error",
    [
        lifagu.ModelError("a name\nand more"),
        lifagu.MissingExtraError("duckdb", "this", "sql"),
        ParfactorError(3, "g", ("args", 2), "it does not fit"),
        PlanTooLargeError("log Z", [((1, 2), "is too large")]),
    ],
)
def test_errors_come_back_from_other_processes(error):
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))
    assert "\n" not in str(again)


def test_spawned_workers_take_graphs():
    graph = lifagu.transfer(town()).graph
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply(
            lifagu.query, (graph, "Epid"), {"evidence": graph.evidence({"Sick.0": "true"})}
        )
    assert told(found) == told(lifagu.query(graph, "Epid", evidence={"Sick.0": "true"}))


def test_a_million_factors_travel_as_their_arrays():
    count = 10**6
    numbers = np.arange(count)
    graph = lifagu.FactorGraph.from_arrays(
        ranges=[["a", "b"]],
        variable_ranges=np.zeros(count, dtype=np.int64),
        offsets=np.arange(count + 1) * 2,
        arguments=np.column_stack((numbers, (numbers + 1) % count)).reshape(-1),
        tables=[[1, 2, 3, 4]],
        factor_tables=np.where(numbers % 7, 0, -1),
    )
    arrays = sum(each.nbytes for each in held_arrays(graph))
    lifagu.colour(graph)
    text = pickle.dumps(graph)
    assert len(text) < 1.01 * arrays + 10_000
    assert pickle.loads(text) == graph
