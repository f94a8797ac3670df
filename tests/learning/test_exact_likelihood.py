"""The exact likelihood: its gradient, what it finds, and where it is not tried."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifagu.errors import NoAnswerError
from lifagu.inference.expected_counts import expectation
from lifagu.learning.directed import directed
from lifagu.learning.exact_likelihood import Likelihood, is_tractable, learn_by_likelihood
from lifagu.relational.learning_task import ArgumentCells, FixedTables, LearningTask
from support.learning_tasks import cells, enumerated, table, tasks

PAIRS = ((1, 0), (2, 1), (2, 0))


def triangles(count, seed, seen=1.0, groups=None):
    """Individuals with three columns, each pair with a table; and how probable all states are."""
    random = np.random.default_rng(seed)
    states = np.array(list(itertools.product(range(3), repeat=3)))
    logs = sum(random.normal(size=(3, 3))[states[:, i], states[:, j]] for i, j in PAIRS)
    truth = np.exp(logs) / np.exp(logs).sum()
    values = states[random.choice(len(states), count, p=truth)]
    values = np.where(random.random(values.shape) < seen, values, -1)
    rows = np.arange(count)
    relations = tuple(cells(name, column, 3) for name, column in zip("XYZ", values.T, strict=True))
    tables = tuple(table(f"{i}{j}", (i, rows), (j, rows), groups=groups) for i, j in PAIRS)
    return LearningTask(relations, tables), states, truth


def fitted(task, states):
    found = learn_by_likelihood(task, expectation(task))
    weights = np.ones(len(states))
    for each, (i, j) in zip(found, PAIRS, strict=True):
        weights = weights * each.stack[0].reshape(3, 3)[states[:, i], states[:, j]]
    return weights / weights.sum()


def check_gradient(task, random):
    likelihood = Likelihood(task, expectation(task))
    penalties = [(0.5, *(2.0 for _ in each.levels)) for each in task.tables]
    point = random.normal(size=likelihood.size) * 0.5
    point[likelihood.silent] = 0.0
    loss, gradient = likelihood.loss(point, penalties)
    if not np.isfinite(loss):
        return

    def at(step):
        return likelihood.loss(point + step * direction, penalties)[0]

    for _ in range(3):
        direction = random.normal(size=likelihood.size)
        direction[likelihood.silent] = 0.0
        near, far = at(1e-3) - at(-1e-3), at(2e-3) - at(-2e-3)
        slope = (8 * near - far) / (12 * 1e-3)
        scale = np.abs(gradient * direction).sum()
        assert abs(slope - gradient @ direction) <= 1e-8 * max(scale, abs(loss), 1.0)


@given(tasks(), st.integers(0, 100))
def test_the_gradient_is_that_of_finite_differences(made, seed):
    task, _ = made
    check_gradient(task, np.random.default_rng(seed))


def test_the_gradient_with_conditional_tables_and_groups():
    random = np.random.default_rng(2)
    task, _, _ = triangles(20, 3, seen=0.7, groups=random.integers(-1, 3, 20).tolist())
    given_table = table("g", (2, np.arange(20)), (0, np.arange(20)), given=(1,))
    check_gradient(LearningTask(task.relations, (*task.tables, given_table)), random)


def test_the_gradient_with_conditions():
    task, _, _ = triangles(20, 4, groups=[0, 1] * 10)
    check_gradient(replace(task, conditions=frozenset({0})), np.random.default_rng(3))


@given(tasks(), st.integers(0, 100))
def test_the_loss_is_that_of_enumeration(made, seed):
    task, _ = made
    likelihood = Likelihood(task, expectation(task))
    point = np.random.default_rng(seed).normal(size=likelihood.size)
    loss, _ = likelihood.loss(point, [(0.0, *(0.0 for _ in each.levels)) for each in task.tables])
    stacks = likelihood.stacks(point)
    seen, free = enumerated(task, stacks)[0], enumerated(task, stacks, observed=False)[0]
    if seen:
        assert loss == pytest.approx(np.log(free) - np.log(seen), rel=1e-9, abs=1e-9)


def test_more_records_come_closer():
    errors = []
    for count in (200, 800, 3200):
        far = []
        for seed in range(4):
            task, states, truth = triangles(count, seed, seen=0.8)
            far.append((truth * np.log(truth / fitted(task, states))).sum())
        errors.append(np.mean(far))
    assert errors[0] > 2 * errors[1] > 4 * errors[2]


def test_a_tree_agrees_with_counts():
    """Where both apply, likelihood and counts find the same model, priors aside."""
    random = np.random.default_rng(4)
    values = random.integers(0, 2, (4000, 2))
    values[:, 1] = np.where(random.random(4000) < 0.8, values[:, 0], values[:, 1])
    rows = np.arange(4000)
    relations = cells("X", values[:, 0], 2), cells("Y", values[:, 1], 2)
    task = LearningTask(relations, (table("xy", (0, rows), (1, rows)),))
    (found,) = learn_by_likelihood(task, expectation(task))
    seen = np.bincount(values[:, 0] * 2 + values[:, 1]) / 4000
    np.testing.assert_allclose(found.stack[0] / found.stack[0].sum(), seen, atol=1e-3)
    assert np.log(found.stack).mean() == pytest.approx(0, abs=1e-12)
    assert found.records.tolist() == [4000.0]


def test_a_group_of_which_nothing_was_seen_has_the_common_table():
    groups = (np.arange(300) % 3).tolist()
    task, _, _ = triangles(300, 5, groups=groups)
    silent = np.arange(300) % 3 == 2
    relations = tuple(
        cells(each.relation, np.where(silent, -1, each.values), 3) for each in task.relations
    )
    made = LearningTask(relations, task.tables)
    found = learn_by_likelihood(made, expectation(made))
    again = learn_by_likelihood(made, expectation(made))
    for each, other in zip(found, again, strict=True):
        assert each.stack[3].tobytes() == each.stack[0].tobytes()
        assert each.stack[1].tobytes() != each.stack[0].tobytes()
        assert each.stack.tobytes() == other.stack.tobytes()


def test_two_tables_do_not_count_a_variable_twice():
    """A joint table beside one of its arguments alone: learned together they say it once."""
    random = np.random.default_rng(6)
    count = 3000
    failed = (random.random(count) < 0.5).astype(int)
    old = np.where(random.random(count) < 0.9, failed, 1 - failed)
    rows = np.arange(count)
    relations = cells("Failed", failed, 2), cells("Old", old, 2)
    task = LearningTask(relations, (table("f", (0, rows)), table("fo", (0, rows), (1, rows))))
    assert directed(task) is not None
    twice = LearningTask(relations, (*task.tables, table("again", (1, rows), (0, rows))))
    assert directed(twice) is None
    found = learn_by_likelihood(twice, expectation(twice))
    joint = found[0].stack[0][:, None] * found[1].stack[0].reshape(2, 2)
    joint = joint * found[2].stack[0].reshape(2, 2).T
    assert joint[1].sum() / joint.sum() == pytest.approx(failed.mean(), abs=2e-3)


def test_what_cannot_be_summed_is_not_tried():
    side = 30
    grid = np.arange(side**2).reshape(side, side)
    across = table("a", (0, grid[:, 1:].ravel()), (0, grid[:, :-1].ravel()))
    down = table("d", (0, grid[1:].ravel()), (0, grid[:-1].ravel()))
    task = LearningTask((cells("X", [-1] * side**2, 2),), (across, down))
    assert not is_tractable(expectation(task, memory_limit=2**28))
    small, _, _ = triangles(50, 0)
    assert is_tractable(expectation(small))
    assert not is_tractable(expectation(small), most=10)


def test_what_is_impossible_is_said():
    never = FixedTables(
        "f", (ArgumentCells(0, np.array([0])),), np.array([[0.0, 1.0]]), np.array([0])
    )
    task = LearningTask((cells("X", [0], 2),), (table("x", (0, [0])),), (never,))
    with pytest.raises(NoAnswerError, match="observed has probability zero under the tables"):
        learn_by_likelihood(task, expectation(task))
