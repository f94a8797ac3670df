"""Expectation and maximisation: never downhill, the same bytes twice, and near the truth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifagu.errors import NoAnswerError
from lifagu.inference.expected_counts import expectation
from lifagu.learning.counting import ConditionalShape, learn_by_counts
from lifagu.learning.directed import directed
from lifagu.learning.expectation import Centres, learn_by_expectation, run
from lifagu.relational.learning_task import (
    ArgumentCells,
    FixedTables,
    LearningSettings,
    LearningTask,
)
from support.learning_tasks import cells, enumerated, random_stacks, table


def drawn(table_, of, random):
    """A value for each row of a conditional table."""
    return (table_[of].cumsum(axis=1) > random.random(len(of))[:, None]).argmax(axis=1)


def classes(count, seed, kinds=3, columns=6, sizes=3, seen=1.0, by=None):
    """Individuals of hidden classes, their tables, and the truth."""
    random = np.random.default_rng(seed)
    shares = np.arange(kinds, 0, -1) / np.arange(1, kinds + 1).sum()
    truth = random.dirichlet(np.full(sizes, 0.4), size=(columns, kinds))
    kind = random.choice(kinds, count, p=shares)
    rows = np.arange(count)
    relations = [cells("C", [-1] * count, kinds)]
    tables = [table("c", (0, rows))]
    for number in range(columns):
        values = drawn(truth[number], kind, random)
        values = np.where(random.random(count) < seen, values, -1)
        relations.append(cells(f"X{number}", values, sizes))
        groups = None if by is None else (rows % by).tolist()
        tables.append(table(f"x{number}", (0, rows), (1 + number, rows), given=(0,), groups=groups))
    return LearningTask(tuple(relations), tuple(tables)), shares, truth


def learned(task, **settings):
    return learn_by_expectation(task, expectation, LearningSettings(**settings))


@st.composite
def networks(draw):
    """Small networks with holes everywhere, a hidden relation, groups, and a fixed table."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count = int(random.integers(2, 12))
    rows = np.arange(count)
    values = [np.where(random.random(count) < 0.6, random.integers(0, 2, count), -1) for _ in "XYZ"]
    relations = [cells("C", [-1] * count, 3), *(cells("X", each, 2) for each in values)]
    groups = random.integers(-1, 3, count).tolist()
    tables = [
        table("c", (0, rows)),
        table("x", (0, rows), (1, rows), given=(0,), groups=groups),
        table("y", (1, rows), (0, rows), (2, rows), given=(0, 1)),
    ]
    certain = np.array([[0.9, 0.1, 0.0, 1.0]])
    fixed = FixedTables(
        "z", (ArgumentCells(2, rows), ArgumentCells(3, rows)), certain, np.zeros(count, dtype=int)
    )
    return LearningTask(tuple(relations), tuple(tables), (fixed,)), random


@given(networks())
def test_no_step_goes_down(made):
    task, random = made
    assert directed(task) is not None
    start = [
        stack / ConditionalShape(task.shape(each), each.given).sums(stack)
        for each, stack in zip(task.tables, random_stacks(task, random), strict=True)
    ]
    if np.isneginf(expectation(task)(start).log_weight):
        return
    centres = Centres.of(task, [10 * random.random(each.shape) for each in start])
    found = run(expectation(task), centres, start)
    gained = np.diff(found.objectives)
    assert (gained >= -1e-9 * np.abs(found.objectives[1:])).all()
    if len(task.relations[0].values) < 4:
        whole = np.log(enumerated(task, found.stacks)[0]) + centres.log_prior(found.stacks)
        assert found.objectives[-1] == pytest.approx(whole, rel=1e-9)


def test_without_anything_hidden_that_matters_counts_decide():
    random = np.random.default_rng(1)
    rows = np.arange(50)
    first, second = random.integers(0, 2, 50), random.integers(-1, 2, 50)
    relations = cells("X", first, 2), cells("Y", second, 2)
    tables = table("x", (0, rows)), table("y", (0, rows), (1, rows), given=(0,))
    task = LearningTask(relations, tables)
    found, counts = learned(task), learn_by_counts(task)
    assert [each.method for each in found] == ["counts"] * 2
    for mine, theirs in zip(found, counts, strict=True):
        assert mine.stack.tobytes() == theirs.stack.tobytes()


def test_hidden_classes_are_found_closer_with_more_individuals():
    errors = []
    for count in (200, 800, 3200):
        far = []
        for seed in range(4):
            task, shares, truth = classes(count, seed, seen=0.9)
            found = learned(task)
            tables = np.array([each.stack.reshape(3, 3) for each in found[1:]])
            far.append(((tables - truth) ** 2).mean() + ((found[0].stack[0] - shares) ** 2).mean())
        errors.append(np.median(far))
    assert errors[0] > 2 * errors[1] > 4 * errors[2]


def test_labels_are_ordered_by_size_and_bytes_are_the_same_twice():
    task, _, _ = classes(500, 7)
    found, again = learned(task, seed=3), learned(task, seed=3)
    assert [each.stack.tobytes() for each in found] == [each.stack.tobytes() for each in again]
    assert (np.diff(found[0].stack[0]) <= 0).all()
    other = learned(task, seed=4, restarts=8)
    np.testing.assert_allclose(found[0].stack, other[0].stack, atol=0.02)
    assert found[0].method == "expectation"
    assert found[1].records.tolist() == [0.0]


def test_an_undirected_star_learns_the_same_model():
    task, _, _ = classes(400, 2)
    star = LearningTask(
        task.relations,
        tuple(
            table(each.name, *((slot.relation, slot.cells) for slot in each.slots))
            for each in task.tables
        ),
    )
    arrows = directed(star)
    assert arrows is not None
    for mine, theirs in zip(learned(arrows), learned(task), strict=True):
        assert mine.stack.tobytes() == theirs.stack.tobytes()


def test_groups_with_hidden_classes():
    task, _, _ = classes(600, 11, by=4)
    wards = task.tables[1].levels[0].of_row
    silent = [
        np.where(wards == 3, -1, each.values) if number else each.values
        for number, each in enumerate(task.relations)
    ]
    relations = tuple(
        cells(each.relation, values, len(each.labels))
        for each, values in zip(task.relations, silent, strict=True)
    )
    found = learned(LearningTask(relations, task.tables))
    for each in found[1:]:
        assert each.stack[4].tobytes() == each.stack[0].tobytes()


def test_groups_differ_where_they_do():
    """Two columns whose tables differ by ward, two whose do not; classes are hidden."""
    count, wards, random = 3000, 20, np.random.default_rng(2)
    ward, kind, rows = (
        random.integers(0, wards, count),
        random.integers(0, 2, count),
        np.arange(3000),
    )
    relations, tables, truth = [cells("C", [-1] * count, 2)], [table("c", (0, rows))], []
    for number in range(4):
        odds = np.array([-2.0, 2.0]) + random.normal(size=(wards, 2)) * (number < 2)
        right = 1 / (1 + np.exp(-odds))
        truth.append(np.stack((1 - right, right), axis=2))
        values = drawn(truth[-1].reshape(-1, 2), ward * 2 + kind, random)
        relations.append(cells("X", values, 2))
        tables.append(table("x", (0, rows), (1 + number, rows), given=(0,), groups=ward.tolist()))
    found = learned(LearningTask(tuple(relations), tuple(tables)))[1:]
    assert min(each.scales[0] for each in found[:2]) > 0.2
    assert max(each.scales[0] for each in found[2:]) < 0.1
    for each, right in zip(found[:2], truth, strict=False):
        own, common = each.stack[1:].reshape(-1, 2, 2), each.stack[:1].reshape(1, 2, 2)
        far = [
            min(np.abs(one - right).mean(), np.abs(one[:, ::-1] - right).mean())
            for one in (own, common)
        ]
        assert far[0] < 0.7 * far[1]


def test_what_is_impossible_is_said():
    never = FixedTables(
        "f", (ArgumentCells(0, np.array([0])),), np.array([[0.0, 1.0]]), np.array([0])
    )
    tables = (
        table("y", (0, [0, 1]), (1, [0, 1]), given=(0,)),
        table("z", (1, [0, 1]), (2, [0, 1]), given=(0,)),
    )
    relations = cells("X", [0, 1], 2), cells("Y", [-1, -1], 2), cells("Z", [0, 1], 2)
    with pytest.raises(NoAnswerError, match="observed has probability zero under the tables"):
        learned(LearningTask(relations, tables, (never,)))


def test_steps_are_told():
    told = []
    task, _, _ = classes(100, 1)
    learn_by_expectation(
        task,
        expectation,
        LearningSettings(restarts=2),
        lambda step, objective: told.append((step, objective)),
    )
    assert [step for step, _ in told] == list(range(1, len(told) + 1))
    assert told[-1][1] >= told[0][1]
