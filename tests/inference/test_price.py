"""The ground engine on a graph's own lists, the choice of engine, and what is too large."""

import itertools
import json
import math

import numpy as np
import pytest

import lifagu
from lifagu.inference.barren import find_barren
from lifagu.inference.connected_part import Part
from lifagu.inference.outline import outline_of
from lifagu.inference.parts_from_lists import listed_parts
from lifagu.inference.price import likeness_of
from lifagu.questions.planning import prepare, prepare_marginals
from support.helpers import graph_of, random_model, run_cli
from support.oracle import oracle


def network(seed, count=12, shared=False):
    """A random Bayesian network; its last variables tend to be leaves."""
    rng = np.random.default_rng(seed)
    sizes = [2] * count if shared else rng.integers(1, 4, count).tolist()
    builder = lifagu.FactorGraph.build()
    for child in range(count):
        builder.variable(f"v{child}", [str(value) for value in range(sizes[child])])
    tables = {}
    for child in range(count):
        parents = rng.permutation(child)[: rng.integers(0, 3)].tolist()
        shape = (*[sizes[each] for each in parents], sizes[child])
        if not shared or len(parents) not in tables:
            tables[len(parents)] = rng.dirichlet(np.ones(shape[-1]), size=shape[:-1])
        builder.factor(
            f"P{child}",
            [f"v{each}" for each in (*parents, child)],
            tables[len(parents)].reshape(-1),
        )
    return builder.graph()


def whole_part(graph):
    """A graph as one part, connected or not."""
    factors = [
        (tuple(graph.scope(factor)), graph.table(factor))
        for factor in range(len(graph.factor_names))
    ]
    with np.errstate(divide="ignore"):
        logs = tuple((scope, np.log(table)) for scope, table in factors)
    sizes = dict(enumerate(graph.sizes.tolist()))
    return Part(tuple(sizes), sizes, logs)


@pytest.mark.parametrize("seed", range(20))
def test_only_ancestors_matter(seed):
    """The same as peeling one variable after the other, found from the other end."""
    graph = network(seed)
    part = whole_part(graph)
    for asked in [{3}, {11}, {2, 7}]:
        variables, factors, log_constant = outline_of(graph).needed(asked)
        barren = find_barren(part, asked)
        wide = [each for each in variables if part.sizes[each] > 1]
        assert wide == [
            each for each in part.variables if part.sizes[each] > 1 and each not in barren.variables
        ]
        assert log_constant == pytest.approx(0, abs=1e-12)
        assert {each for each in factors if part.tables[each].ranks} == {
            each
            for each in range(len(part.tables))
            if each not in barren.factors and part.tables[each].ranks
        }


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("seed", range(15))
def test_the_ground_engine_on_networks_agrees_with_enumeration(seed, shared):
    graph = network(seed, 9, shared)
    rng = np.random.default_rng(seed)
    names = list(graph.variable_names)
    evidence = {
        name: str(rng.integers(0, len(graph.variable(name).range))) for name in rng.choice(names, 2)
    }
    evidence["v4"] = {label: 0.25 + place for place, label in enumerate(graph.variable("v4").range)}
    questions = [("v8",), ("v0", "v5"), ("v4",)]
    told = oracle(graph, evidence)
    expected = [told.joint(question) for question in questions]
    every = lifagu.marginals(graph, evidence=evidence)
    for question, right in zip(questions, expected, strict=True):
        for engine in ("ground", "lifted", "auto"):
            found = lifagu.query(graph, *question, evidence=evidence, engine=engine)
            assert found.probabilities == pytest.approx(right, abs=1e-12)
            assert found.log_partition == pytest.approx(told.log_total, abs=1e-10)
        if len(question) == 1:
            assert list(every[question[0]].values()) == pytest.approx(right.tolist(), abs=1e-12)
    best = {
        engine: lifagu.map_assignment(graph, evidence=evidence, engine=engine)
        for engine in ("auto", "lifted")
    }
    assert best["auto"].log_weight == pytest.approx(best["lifted"].log_weight, abs=1e-10)


@pytest.mark.parametrize("seed", range(30))
def test_doubly_constant_tables_are_dropped_from_either_end(seed):
    """A chain of tables that sum to one over either argument: only the question matters."""
    rng = np.random.default_rng(seed)
    builder = lifagu.FactorGraph.build().variables([f"x{place}" for place in range(6)])
    for place in range(5):
        p = rng.uniform(0.1, 0.9)
        builder.factor(f"f{place}", [f"x{place}", f"x{place + 1}"], [p, 1 - p, 1 - p, p])
    graph = builder.graph()
    assert not outline_of(graph).clear
    name = f"x{seed % 6}"
    prepared = prepare(graph, [(name,)], engine="ground")
    assert "eliminate 0 variables" in str(prepared)
    answer = prepared.run().answers[0]
    assert answer.probabilities == pytest.approx([0.5, 0.5], abs=1e-14)
    assert answer.log_partition == pytest.approx(math.log(2), abs=1e-12)


def test_numbers_beyond_floats_on_the_ground():
    """Potentials of 1e-300, five hundred in a chain: neither they nor their ratios are lost."""
    count = 500
    builder = lifagu.FactorGraph.build().variables([f"x{place}" for place in range(count)])
    for place in range(count - 1):
        builder.factor(
            f"f{place}",
            [f"x{place}", f"x{place + 1}"],
            [1e-300, 1e-310, 1e-305, (2 + place) * 1e-300],
        )
    answer = lifagu.query(builder.graph(), "x7", engine="ground")
    assert answer.log_partition == pytest.approx(
        lifagu.log_partition(builder.graph(), engine="lifted"), rel=1e-12
    )
    assert (answer.log_probabilities > -math.inf).all()
    found = lifagu.marginals(builder.graph(), engine="ground")
    assert list(found["x7"].values()) == pytest.approx(answer.probabilities.tolist(), rel=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_parts_with_unknown_factors_take_no_part(seed):
    model, evidence = random_model(seed, unknown=0.3)
    graph = graph_of(model)
    found = lifagu.marginals(graph, evidence=evidence, engine="ground")
    lifted = lifagu.marginals(graph, evidence=evidence, engine="lifted")
    assert list(found) == list(lifted)
    assert found.left_out == lifted.left_out
    assert (
        (found.log_partition is None) == (lifted.log_partition is None) == bool(len(graph.unknown))
    )
    for name in found:
        assert list(found[name].values()) == pytest.approx(list(lifted[name].values()), abs=1e-12)


def test_parts_come_by_their_first_variable():
    builder = lifagu.FactorGraph.build().variables(list("abcdef"))
    graph = (
        builder.factor("f", ["d", "a"], [1, 2, 3, 4]).factor("g", ["c", "f"], [1, 2, 3, 4]).graph()
    )
    rest, dropped = listed_parts(graph, graph.evidence({"c": "true"}), None, None)
    assert [part.variables for part in rest.parts] == [(0, 3), (1,), (4,), (5,)]
    assert rest.part_of.tolist() == [0, 1, -1, 0, 2, 3]
    assert dropped == 0


# ---- which engine


def workshops(people, others):
    builder = lifagu.FactorGraph.build().variables([f"A{x}" for x in range(people)])
    builder.variables([f"B{y}" for y in range(others)])
    pairs = itertools.product(range(people), range(others))
    return builder.factors(
        {f"f{x}.{y}": [f"A{x}", f"B{y}"] for x, y in pairs}, [1, 1.1, 1.2, 0.9]
    ).graph()


def test_the_plan_says_which_engine_won_and_why():
    small, large = workshops(2, 2), workshops(40, 40)
    answer = lifagu.query(small, "A0")
    assert answer.engine == "ground"
    assert answer.plan.startswith(
        "ground engine, 1 connected part, because its plan of 20 entries costs less than looking "
        "for lifted steps\n"
    )
    answer = lifagu.query(large, "A0")
    assert answer.engine == "lifted"
    assert ", because much looks alike:\n" in answer.plan
    assert lifagu.marginals(small).engine == "ground"
    assert lifagu.marginals(large).engine == "lifted"
    assert lifagu.map_assignment(small).plan.startswith("ground engine, because its plan of")
    assert "count" in lifagu.map_assignment(large).plan
    for engine in ("lifted", "ground"):
        assert lifagu.query(small, "A0", engine=engine).engine == engine


def test_likeness_is_seen_from_nearby():
    assert likeness_of(workshops(5, 7)).classes == 2
    assert likeness_of(workshops(5, 7)).fewest_neighbours == 5
    ring = lifagu.FactorGraph.build().variables([f"x{x}" for x in range(9)])
    ring.factors({f"f{x}": [f"x{x}", f"x{(x + 1) % 9}"] for x in range(9)}, [1, 2, 3, 4])
    for x in range(9):
        ring.factor(f"u{x}", [f"x{x}"], [1, 1 + x])
    assert likeness_of(ring.graph()).classes == 1
    empty = likeness_of(lifagu.FactorGraph.build().graph())
    assert (empty.classes, empty.fewest_neighbours) == (0, 0)


def test_what_is_made_of_a_graph_is_made_once():
    graph, calls = workshops(2, 2), []

    def count(given):
        calls.append(given)
        return len(given.factor_names)

    assert (graph.once(count), graph.once(count), len(calls)) == (4, 4, 1)


# ---- answers beside what does not fit

LIMIT = 2000  # bytes


def clique():
    """Twelve different variables that all know each other, in the making; they do not fit."""
    rng = np.random.default_rng(0)
    builder = lifagu.FactorGraph.build().variables([f"c{x}" for x in range(12)])
    for x, y in itertools.combinations(range(12), 2):
        builder.factor(f"f{x}.{y}", [f"c{x}", f"c{y}"], rng.uniform(1, 2, 4))
    return builder


def two_parts():
    """The clique beside a pair, which does fit."""
    return clique().variables(["a", "b"]).factor("g", ["a", "b"], [1, 2, 3, 4]).graph()


@pytest.mark.parametrize("engine", ["auto", "lifted", "ground"])
def test_the_other_parts_are_answered(engine, monkeypatch):
    monkeypatch.setattr("lifagu.inference.conditioning.MOST_RUNS", 1)
    graph = two_parts()
    found = lifagu.marginals(graph, engine=engine, memory_limit=LIMIT)
    assert dict(found) == {
        "a": pytest.approx({"false": 0.3, "true": 0.7}),
        "b": pytest.approx({"false": 0.4, "true": 0.6}),
    }
    assert found.left_out == [f"c{x}" for x in range(12)]
    assert [part.variables for part in found.too_large] == [tuple(found.left_out)]
    assert "needs a table of 4096 entries" in found.too_large[0].estimate
    assert found.log_partition is None
    with pytest.raises(lifagu.TooLargeError, match=r"P\(c3\) needs a table of"):
        found["c3"]
    with pytest.raises(lifagu.TooLargeError, match=r"P\(c3\) needs a table of"):
        lifagu.query(graph, "c3", engine=engine, memory_limit=LIMIT)
    assert lifagu.query(graph, "a", engine=engine, memory_limit=LIMIT)["true"] == pytest.approx(0.7)
    assert "left out: c0, c1, c2, c3, c4 and 7 more" in str(
        prepare_marginals(graph, engine=engine, memory_limit=LIMIT)
    )


def test_with_evidence_fewer_variables_are_left_out(monkeypatch):
    monkeypatch.setattr("lifagu.inference.conditioning.MOST_RUNS", 1)
    graph = two_parts()
    evidence = {f"c{x}": "true" for x in range(3)}
    found = lifagu.marginals(graph, evidence=evidence, memory_limit=LIMIT)
    assert found.left_out == [f"c{x}" for x in range(3, 12)]
    assert found["c0"] == {"false": 0.0, "true": 1.0}
    evidence = {f"c{x}": "true" for x in range(9)}
    found = lifagu.marginals(graph, evidence=evidence, memory_limit=LIMIT)
    assert not found.left_out
    assert found.too_large == ()
    assert found.log_partition is not None


def test_where_nothing_fits_everything_is_refused(monkeypatch):
    monkeypatch.setattr("lifagu.inference.conditioning.MOST_RUNS", 1)
    with pytest.raises(lifagu.TooLargeError, match="needs a table of"):
        lifagu.marginals(clique().graph(), memory_limit=LIMIT)


def test_the_command_line_answers_the_other_parts(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("lifagu.inference.conditioning.MOST_RUNS", 1)
    path = tmp_path / "model.json"
    lifagu.write(two_parts(), path)
    status, out, err = run_cli(capsys, "marginals", path, "--memory-limit", str(LIMIT))
    assert status == 0
    assert out == "  a  false 0.3  true 0.7\n  b  false 0.4  true 0.6\n"
    assert err.startswith(
        "warning: left out: c0, c1, c2, c3, c4 and 7 more; what is connected to them needs a table "
        "of"
    )
    assert err.endswith(
        "log Z is left out, too; observe some variables (--evidence), raise --memory-limit, or ask "
        "for less at once\n"
    )
    status, out, _ = run_cli(capsys, "marginals", path, "--memory-limit", str(LIMIT), "--json")
    result = json.loads(out)
    assert status == 0
    assert list(result) == ["engine", "log_partition", "marginals", "left_out", "too_large"]
    assert result["log_partition"] is None
    assert result["left_out"] == [f"c{x}" for x in range(12)]
    assert result["too_large"][0]["variables"] == result["left_out"]
    assert "4096 entries" in result["too_large"][0]["estimate"]
    status, _, err = run_cli(capsys, "query", path, "c0", "--memory-limit", str(LIMIT))
    assert (status, err[:7]) == (4, "error: ")


def test_other_kinds_of_a_relational_model_are_answered(monkeypatch):
    """Triangles of friends cannot be lifted and do not fit; who smokes is another matter."""
    monkeypatch.setattr("lifagu.inference.conditioning.MOST_RUNS", 1)
    builder = lifagu.ParfactorGraph.build().domain("Person", 6)
    builder.relation("F", "Person", "Person").relation("S", "Person")
    table = [1 + place / 10 for place in range(8)]
    builder.parfactor(
        "t", ["F(X,Y)", "F(Y,Z)", "F(Z,X)"], table, where=["X != Y", "Y != Z", "X != Z"]
    )
    model = builder.parfactor("s", ["S(X)"], [1, 3]).model()
    found = lifagu.marginals(model, memory_limit=20_000)
    assert found["S(2)"] == pytest.approx({"false": 0.25, "true": 0.75})
    assert found.log_partition is None
    assert found.left_out == [found.too_large[0].variables[0]]
    assert list(found.expanded()) == [f"S({x})" for x in range(1, 7)]
    with pytest.raises(lifagu.TooLargeError, match=r"P\(F\(1,2\)\) needs a table"):
        found["F(1,2)"]
    with pytest.raises(lifagu.TooLargeError):
        lifagu.query(model, "F(1,2)", memory_limit=20_000)
