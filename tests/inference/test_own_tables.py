"""Many places of one shape, each with its own numbers: engines against each one by itself.

With `-m full` the long campaign runs; every failure names the kind, the seed and the engine.
"""

import itertools
import math
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lifagu
from lifagu import FactorGraph
from lifagu.inference.lifted import table_stack as stack
from support.helpers import ROOT, mostly_full
from support.naive.individuals import Oracle, World
from support.own_tables import KINDS, drawn, evidence_of, graph_of

ENGINES = ("auto", "lifted", "ground")
# individuals; variables up to which all marginals are compared, and else how many
MOST, MANY, SOME = (12, 250, 60)
CHUNK, LONG = 50, 500  # seeds at a time and in all, of each kind in the long campaign


class Known:
    """What an oracle knows of a world: marginals of all or some, and two to ask about jointly."""

    def __init__(self, world: World, seed: int) -> None:
        self.world, self.oracle = world, Oracle(world)
        self.possible = self.oracle.log_total > -math.inf
        rng = np.random.default_rng(seed)
        count = len(world.labels)
        self.pair = tuple(rng.permutation(count)[:2].tolist())
        if world.shared and rng.random() < 0.5 and count > 1:
            self.pair = (
                world.shared[0],
                int(rng.choice([each for each in range(count) if each != world.shared[0]])),
            )
        if self.possible:
            some = (
                range(count)
                if count <= MANY
                else [*world.shared, *self.pair, *rng.permutation(count)[:SOME].tolist()]
            )
            self.marginals = {variable: self.oracle.joint(variable) for variable in some}
            self.joint = self.oracle.joint(*self.pair)


def check_all(
    world: World, seed: int = 0, graph: FactorGraph | None = None, engines=ENGINES
) -> None:
    """All engines and questions; raises what is wrong. graph: asked in place of the world's own."""
    known = Known(world, seed)
    graph, evidence = graph or graph_of(world), evidence_of(world)
    questions = {
        lifagu.log_partition: check_total,
        lifagu.marginals: check_marginals,
        lifagu.query: check_query,
        lifagu.map_assignment: check_best,
    }
    for engine, (ask, check) in itertools.product(engines, questions.items()):
        pairs = [known.pair, known.pair[:1], known.pair[1:]] if ask is lifagu.query else [()]
        for names in {
            tuple(f"v{variable}" for variable in pair): None
            for pair in pairs
            if pair or len(pairs) == 1
        }:
            if known.possible:
                check(ask(graph, *names, evidence=evidence, engine=engine), known)
            else:
                with pytest.raises(lifagu.NoAnswerError, match="zero"):
                    ask(graph, *names, evidence=evidence, engine=engine)


def close(found, expected) -> None:
    """Equal probabilities but for rounding; what is impossible or tiny is not more than that."""
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-13)
    assert np.max(np.asarray(found)[np.asarray(expected) == 0], initial=0.0) < 1e-300


def check_total(found, known: Known) -> None:
    assert found == pytest.approx(known.oracle.log_total, rel=1e-10, abs=1e-10)


def check_marginals(found, known: Known) -> None:
    check_total(found.log_partition, known)
    labels = known.world.labels
    assert list(found) == [f"v{variable}" for variable in range(len(labels))]
    for variable, expected in known.marginals.items():
        assert tuple(found[f"v{variable}"]) == labels[variable]
        close(list(found[f"v{variable}"].values()), expected)


def check_query(found, known: Known) -> None:
    check_total(found.log_partition, known)
    asked = tuple(int(name[1:]) for name in found.variables)
    expected = known.joint if len(asked) > 1 else known.marginals[asked[0]]
    close(np.reshape(found.probabilities, expected.shape), expected)


def check_best(found, known: Known) -> None:
    """The largest weight, and an assignment that has it, whichever."""
    labels, assignment = known.world.labels, found.assignment
    values = {
        variable: each.index(assignment[f"v{variable}"]) for variable, each in enumerate(labels)
    }
    assert len(assignment) == len(labels)
    for log_weight in (found.log_weight, known.world.log_weight(values)):
        assert log_weight == pytest.approx(known.oracle.log_best, rel=1e-10, abs=1e-10)


# ---- the engines


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(8))
def test_engines_are_right(kind, seed):
    check_all(drawn(kind, seed, MOST), seed)


@settings(max_examples=40, print_blob=True)
@given(st.sampled_from(sorted(KINDS)), st.integers(0, 10**9))
def test_engines_are_right_on_worlds_drawn_anew(kind, seed):
    check_all(drawn(kind, seed, 6), seed)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", mostly_full(range(100, 103), always=[100]))
def test_engines_are_right_on_more_individuals(kind, seed):
    check_all(drawn(kind, seed, 40), seed)


def large(kind: str, first: int) -> World:
    """A world of a kind with hundreds of individuals, or long rows, that is possible."""
    for seed in itertools.count(first):
        world = drawn(kind, seed, 300)
        if len(world.labels) > 400 and Oracle(world).log_total > -math.inf:
            return world
    raise AssertionError


@pytest.mark.parametrize("kind", KINDS)
def test_auto_is_right_on_hundreds_of_individuals(kind):
    check_all(large(kind, 400), engines=["auto"])


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("first", range(500, 600, 10))
def test_engines_are_right_on_hundreds_of_individuals(kind, first):
    check_all(large(kind, first), first)


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("first", range(1000, 1000 + LONG, CHUNK))
def test_full_campaign(kind, first):
    wrong = []
    for seed in range(first, first + CHUNK):
        try:
            check_all(drawn(kind, seed, 40 if seed % 10 == 0 else MOST), seed)
        except Exception as error:
            wrong.append(f"drawn({kind!r}, {seed}, …): {type(error).__name__}: {error}")
    assert not wrong, f"{len(wrong)} of {CHUNK} worlds\n" + "\n".join(wrong[:3])


# ---- the same numbers in other clothes


def shuffled(world: World, seed: int) -> tuple[World, list[int]]:
    """The same world with variables and factors in another order; each variable's new number."""
    rng = np.random.default_rng(seed)
    new = rng.permutation(len(world.labels)).tolist()
    old = np.argsort(new).tolist()
    factors = [(tuple(new[each] for each in scope), table) for scope, table in world.factors]
    return replace(
        world,
        labels=[world.labels[each] for each in old],
        factors=[factors[each] for each in rng.permutation(len(factors)).tolist()],
        shared=tuple(new[each] for each in world.shared),
        pieces=[tuple(new[each] for each in piece) for piece in world.pieces],
        hard={new[each]: value for each, value in world.hard.items()},
        soft={new[each]: likelihood for each, likelihood in world.soft.items()},
    ), new


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_variables_and_factors_does_not_matter(kind):
    world = drawn(kind, 200, MOST)
    check_all(shuffled(world, 1)[0])


@pytest.mark.parametrize("engine", ENGINES)
def test_no_individual_gets_the_numbers_of_another(engine):
    """One shape forty times, each in its own order: answers stay with their individuals."""
    rng = np.random.default_rng(3)
    labels: list[tuple[str, ...]] = [("low", "high")]
    factors, pieces = [], []
    for _ in range(40):
        one, two, three = (len(labels) + each for each in rng.permutation(3))
        labels += [("a", "b", "c")] * 3
        pieces.append((int(one), int(two), int(three)))
        scopes = [(0, one), (one, two), (two, three), (one, three)]
        order = rng.permutation(4).tolist()
        for scope in (scopes[each] for each in order):
            sizes = [len(labels[variable]) for variable in scope]
            factors.append((tuple(int(each) for each in scope), np.exp(rng.normal(size=sizes))))
    world = World(labels, factors, (0,), pieces)
    known = Known(world, 0)
    check_marginals(lifagu.marginals(graph_of(world), engine=engine), known)
    check_best(lifagu.map_assignment(graph_of(world), engine=engine), known)
    for variable in (pieces[0][0], pieces[19][1], pieces[39][2]):
        check_query(lifagu.query(graph_of(world), f"v{variable}", engine=engine), known)


# ---- a part that does not fit


BESIDE_WIDE = ["apart", "around_one", "in_wards", "in_a_row"]


def with_wide_part(world: World, count: int) -> World:
    """The same beside so many variables tied pair by pair, each pair by a table of its own."""
    rng, first = np.random.default_rng(count), len(world.labels)
    pairs = itertools.combinations(range(first, first + count), 2)
    return replace(
        world,
        labels=[*world.labels, *[("0", "1", "2")] * count],
        factors=[*world.factors, *((pair, np.exp(rng.normal(size=(3, 3)))) for pair in pairs)],
    )


@pytest.mark.parametrize(
    ("kind", "engine"),
    [
        *itertools.product(["observed"], ENGINES),
        *itertools.product(BESIDE_WIDE, ["auto"]),
        *(
            pytest.param(kind, engine, marks=pytest.mark.full)
            for kind, engine in itertools.product(BESIDE_WIDE, ENGINES)
            if engine != "auto"
        ),
    ],
)
def test_small_parts_are_answered_beside_one_that_is_too_wide(kind, engine):
    knowing = (Known(drawn(kind, seed, 6), seed) for seed in itertools.count())
    known = next(
        each for each in knowing if each.possible and len(each.world.hard) < len(each.world.labels)
    )
    world, limits = with_wide_part(known.world, 26), {"engine": engine, "memory_limit": 2**24}
    graph, evidence = graph_of(world), evidence_of(world)
    for pair in (known.pair[:1], known.pair):
        found = lifagu.query(
            graph, *(f"v{variable}" for variable in pair), evidence=evidence, **limits
        )
        assert found.log_partition is None
        assert any("left out" in note for note in found.notes)
        expected = known.joint if len(pair) == len(known.pair) > 1 else known.marginals[pair[0]]
        close(np.reshape(found.probabilities, expected.shape), expected)
    for ask in (lifagu.log_partition, lifagu.map_assignment):
        with pytest.raises(lifagu.TooLargeError, match="entries"):
            ask(graph, evidence=evidence, **limits)
    answered = lifagu.marginals(graph, evidence=evidence, **limits)
    assert len(answered.left_out) >= 26
    assert answered.log_partition is None
    for variable, expected in known.marginals.items():
        close(list(answered[f"v{variable}"].values()), expected)


# ---- equal bytes


ANSWERS = """
import sys
import lifagu
from support.own_tables import KINDS, drawn, evidence_of, graph_of
for kind, seed in ((kind, seed) for kind in KINDS for seed in (1, 2)):
    world = drawn(kind, seed, 12)
    given, graph = {"evidence": evidence_of(world), "engine": sys.argv[1]}, graph_of(world)
    try:
        found, best = lifagu.marginals(graph, **given), lifagu.map_assignment(graph, **given)
    except lifagu.NoAnswerError as error:
        print(error)
        continue
    shown = {name: [each.hex() for each in found[name].values()] for name in found}
    print(found.log_partition.hex(), shown)
    print(best.log_weight.hex(), best.assignment, found.plan, best.plan)
    print([each.hex() for each in lifagu.query(graph, "v0", **given).probabilities.tolist()])
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_equal_bytes_whatever_the_hash_seed(engine):
    path = os.pathsep.join(
        [str(ROOT / "tests"), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    )
    first, second = (
        subprocess.run(
            [sys.executable, "-c", ANSWERS, engine],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    )
    assert len(first) > 20_000
    assert first == second


# ---- what is known is right, and what is wrong is found


def visited(world: World) -> tuple[float, float, list[np.ndarray]]:
    """Total, largest weight and marginals by visiting every state of everything."""
    total, best = 0.0, -math.inf
    weights = [np.zeros(len(labels)) for labels in world.labels]
    for state in itertools.product(*(range(len(labels)) for labels in world.labels)):
        log_weight = world.log_weight(dict(enumerate(state)))
        total, best = total + math.exp(log_weight), max(best, log_weight)
        for weight, value in zip(weights, state, strict=True):
            weight[value] += math.exp(log_weight)
    return total, best, weights


@pytest.mark.parametrize("kind", KINDS)
def test_the_oracle_is_enumeration(kind):
    compared = 0
    for seed in itertools.count():
        world = drawn(kind, seed, 2)
        far = any(
            not 1e-9 < number < 1e9
            for _, table in world.factors
            for number in table[table > 0].tolist()
        )
        if far or math.prod(map(len, world.labels)) > 2000:
            continue
        oracle, (total, best, weights) = Oracle(world), visited(world)
        if total == 0:
            assert oracle.log_total == -math.inf
            continue
        assert oracle.log_total == pytest.approx(math.log(total), rel=1e-9, abs=1e-9)
        assert oracle.log_best == pytest.approx(best, rel=1e-9, abs=1e-9)
        for variable, weight in enumerate(weights):
            np.testing.assert_allclose(
                oracle.joint(variable), weight / total, rtol=1e-9, atol=1e-13
            )
        both = oracle.joint(0, len(weights) - 1) if len(weights) > 1 else oracle.joint(0)[:, None]
        np.testing.assert_allclose(both.sum(1), weights[0] / total, rtol=1e-9, atol=1e-13)
        compared += 1
        if compared == 4:
            break


def with_one_wrong(world: World) -> World | None:
    """The same with other numbers in one table, if that makes a difference."""
    for place, (scope, table) in enumerate(world.factors):
        other = table + 0.01 * table.max() * (1 + np.arange(table.size).reshape(table.shape) % 2)
        changed = replace(
            world, factors=[*world.factors[:place], (scope, other), *world.factors[place + 1 :]]
        )
        if abs(Oracle(changed).log_total - Oracle(world).log_total) > 1e-4:
            return changed
    return None


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_number_in_one_place_is_found(kind):
    worlds = (drawn(kind, seed, 6) for seed in itertools.count(300))
    world, other = next(
        (world, other)
        for world in worlds
        if Oracle(world).log_total > -math.inf and (other := with_one_wrong(world)) is not None
    )
    with pytest.raises(AssertionError):
        check_all(world, 0, graph_of(other))


def test_worlds_are_of_many_sorts():
    """Zeros, all evidence, even impossible, single labels, equal tables, repeated rows occur."""
    worlds = [drawn(kind, seed, MOST) for kind in KINDS for seed in range(8)]
    tables = [[table for _, table in world.factors] for world in worlds]
    assert sum(any((table == 0).any() for table in each) for each in tables) >= 8
    assert sum(bool(world.hard) for world in worlds) >= 20
    assert sum(bool(world.soft) for world in worlds) >= 8
    assert 1 <= sum(Oracle(world).log_total == -math.inf for world in worlds) <= 20
    assert sum(any(len(labels) == 1 for labels in world.labels) for world in worlds) >= 8
    assert sum(len({table.tobytes() for table in each}) < len(each) for each in tables) >= 20
    assert (
        sum(
            len({frozenset(scope) for scope, _ in world.factors}) < len(world.factors)
            for world in worlds
        )
        >= 8
    )
    assert {len(labels) for world in worlds for labels in world.labels} == {1, 2, 3, 4}


def test_equal_bytes_whatever_the_number_of_threads(monkeypatch):
    length = 3000  # of a chain
    places, numbers = np.arange(length), np.random.default_rng(0).random((length - 1, 9)) + 0.1
    graph = lifagu.FactorGraph.from_arrays(
        ranges=[["a", "b", "c"]],
        variable_ranges=np.zeros(length, dtype=np.int64),
        offsets=2 * places,
        arguments=np.stack((places[:-1], places[1:]), 1).reshape(-1),
        tables=list(numbers),
        factor_tables=places[:-1],
    )
    monkeypatch.setattr(stack, "PIECE", 64)
    answers = []
    for processors in (1, 2):
        monkeypatch.setattr(os, "cpu_count", lambda processors=processors: processors)
        found = lifagu.marginals(graph, engine="lifted")
        assert "tables of its own" in found.plan
        answers.append([found.log_partition, *(tuple(found[name].values()) for name in found)])
    assert answers[0] == answers[1]
