"""Chains that draw hidden cells, and tables polished by them."""

from itertools import pairwise

import numpy as np
import pytest

from lifagu.basics.progress import listener
from lifagu.inference.expected_counts import expectation
from lifagu.learning import learn
from lifagu.learning.chains import Chain
from lifagu.learning.choosing import chosen
from lifagu.learning.parameters import Parameters
from lifagu.learning.polishing import polished
from lifagu.relational.learning_task import LearningSettings, LearningTask
from support.learning_tasks import cells, enumerated, table

COUNT = 4000


def trios(values):
    """Individuals with three columns, each pair of which has a table."""
    every = np.arange(len(values))
    pairs = [(0, 1), (0, 2), (1, 2)]
    return LearningTask(
        tuple(cells(f"R{place}", column, 3) for place, column in enumerate(values.T)),
        tuple(table(f"{a}{b}", (a, every), (b, every)) for a, b in pairs),
        asked=frozenset({0, 1, 2}),
    )


def truth():
    """The joint distribution of the three columns."""
    random = np.random.default_rng(7)
    logs = random.normal(size=(3, 3, 1)) + random.normal(size=(3, 1, 3))
    weights = np.exp(logs + random.normal(size=(1, 3, 3)))
    return weights / weights.sum()


def drawn(count, seed, gaps=0.15):
    random = np.random.default_rng(seed)
    states = random.choice(27, size=count, p=truth().reshape(-1))
    values = np.column_stack(np.unravel_index(states, (3, 3, 3)))
    return np.where(random.random(values.shape) < gaps, -1, values)


def test_cells_are_drawn_as_often_as_they_are_probable():
    one = trios(np.array([[1, -1, -1]]))
    parameters = Parameters.of(one, range(3))
    vector = np.random.default_rng(1).normal(size=parameters.size)
    stacks = [np.exp(parameters.stack(vector, number).reshape(1, -1)) for number in range(3)]
    _, expected = enumerated(one, stacks)
    many = trios(np.tile([1, -1, -1], (COUNT, 1)))
    parameters = Parameters.of(many, range(3))
    hidden = [relation.values < 0 for relation in many.relations]
    values = [relation.values for relation in many.relations]
    chain = Chain(parameters, values, hidden, np.random.default_rng(2))
    for _ in range(30):
        chain.sweep(parameters.entries(vector))
    counts = chain.counts()
    for number, block in enumerate(b for b in parameters.blocks if b.kind == "joint"):
        found = block.of(counts).reshape(-1) / COUNT
        assert found == pytest.approx(expected[number].reshape(-1), abs=0.03)


def test_cells_of_one_row_are_not_drawn_at_once():
    every = np.arange(50)
    friends = table("friends", (0, every), (0, np.roll(every, 1)))
    task = LearningTask((cells("Smokes", np.full(50, -1), 2),), (friends,), asked=frozenset({0}))
    parameters, seen = Parameters.of(task, (0,)), []

    class Watched:
        """Draws the last label of every cell, and keeps what there was before."""

        def random(self, shape):
            seen.append(chain.state[0].copy())
            return np.full(shape, 0.9)

    chain = Chain(parameters, [np.zeros(50, np.int64)], [np.ones(50, dtype=bool)], Watched())
    chain.sweep(parameters.entries(np.zeros(parameters.size)))
    at_once = np.array([after != before for before, after in pairwise([*seen, chain.state[0]])])
    assert (at_once.sum(axis=0) == 1).all()
    assert not (at_once & np.roll(at_once, 1, axis=1)).any()
    assert len(at_once) <= 10


def divergence(task, vector, parameters):
    """Of the truth from what was learned."""
    tables = [np.exp(parameters.stack(vector, number)[0]) for number in range(3)]
    weights = np.einsum("ab,ac,bc->abc", *tables)
    shares = truth()
    return float((shares * np.log(shares / (weights / weights.sum()))).sum())


def test_more_individuals_come_closer_and_polishing_does_no_harm():
    settings = LearningSettings(polished=0)
    found = []
    for count in (150, 1500):
        each = []
        for seed in range(3):
            task = trios(drawn(count, seed))
            parameters = Parameters.of(task, range(3))
            plain = chosen(parameters, settings, {})
            better = polished(parameters, plain.vector, plain.penalty, settings.random("x"))
            each.append([divergence(task, vector, parameters) for vector in (plain.vector, better)])
        found.append(np.mean(each, axis=0))
    assert found[0][0] > 2 * found[1][0]
    assert found[1][0] < 0.02
    assert all(better < 1.1 * plain + 1e-3 for plain, better in found)


def test_hidden_cells_are_told_better_than_by_frequencies():
    task = trios(drawn(600, 0))
    found = chosen(Parameters.of(task, range(3)), LearningSettings(), {})
    assert found.score < found.baseline - 0.05
    assert found.without.max() > 0.05


def test_an_interruption_may_keep_what_was_found(monkeypatch):
    task = trios(drawn(200, 2))
    monkeypatch.setattr(learn, "NARROW", 0)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("lifagu.learning.choosing.polished", interrupted)
    for keep in (False, True):
        settings = LearningSettings(keep_best=keep)
        learner = learn.Learner(settings, expectation, listener(None))
        if keep:
            found = learner.learn(task)
            assert found.score is None
            assert all(np.ptp(each.stack) > 0.1 for each in found.tables)
        else:
            with pytest.raises(KeyboardInterrupt):
                learner.learn(task)
