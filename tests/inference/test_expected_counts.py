"""Expected counts against enumeration, on any small task, and on large ones with closed forms."""

import numpy as np
import pytest
from hypothesis import given

from lifagu.errors import TooLargeError
from lifagu.inference.expected_counts import expectation
from lifagu.relational.learning_task import ArgumentCells, FixedTables, LearningTask
from support.learning_tasks import cells, enumerated, random_stacks, table, tasks


def check(task, stacks, observed):
    total, counts = enumerated(task, stacks, observed)
    found = expectation(task)(stacks, observed=observed)
    if total == 0:
        assert np.isneginf(found.log_weight)
        assert not any(each.any() for each in found.counts)
        return
    assert found.log_weight == pytest.approx(np.log(total), rel=1e-9, abs=1e-9)
    for mine, theirs in zip(found.counts, counts, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)


@given(tasks())
def test_counts_are_those_of_enumeration(made):
    task, stacks = made
    check(task, stacks, observed=True)
    check(task, stacks, observed=False)


@given(tasks())
def test_compiled_or_not_counts_are_the_same(made):
    task, stacks = made
    found = expectation(task)(stacks)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lifagu.basics.kernel._kernel", None)
        again = expectation(task)(stacks)
    assert found.log_weight == again.log_weight
    for mine, theirs in zip(found.counts, again.counts, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def individuals(count, random, seen):
    """Persons with a hidden class and three columns."""
    rows = np.arange(count)
    columns = [np.where(random.random(count) < seen, random.integers(0, 3, count), -1)] * 3
    relations = [cells("C", [-1] * count, 2), *(cells("X", each, 3) for each in columns)]
    joint = [table("x", (0, rows), (place, rows)) for place in (1, 2, 3)]
    return LearningTask(tuple(relations), (table("c", (0, rows)), *joint))


def test_parts_that_are_alike_cost_once():
    random = np.random.default_rng(0)
    few, many = individuals(30, random, 0.5), individuals(3000, random, 0.5)
    stacks = random_stacks(few, random)
    one, other = expectation(few), expectation(many)
    assert one.work(observed=False) == other.work(observed=False)
    assert other.work() < 2 * one.work()
    mine, theirs = one(stacks, observed=False), other(stacks, observed=False)
    assert theirs.log_weight == pytest.approx(100 * mine.log_weight, rel=1e-12)
    for first, second in zip(mine.counts, theirs.counts, strict=True):
        np.testing.assert_allclose(100 * first, second, rtol=1e-12)


def test_thousands_on_one_hidden_variable():
    """An epidemic: P(everything | Epid) is a product over persons."""
    count, random = 5000, np.random.default_rng(1)
    rows, none = np.arange(count), np.zeros(count, dtype=int)
    sick = np.where(random.random(count) < 0.5, random.integers(0, 2, count), -1)
    relations = (cells("Epid", [-1], 2), cells("Sick", sick, 2), cells("Travel", -1 - none, 3))
    tables = (table("s", (1, rows), (0, none)), table("t", (2, rows), (1, rows), (0, none)))
    task = LearningTask(relations, tables)
    stacks = random_stacks(task, random)
    by_sick = stacks[0].reshape(2, 2) * stacks[1].reshape(3, 2, 2).sum(axis=0)
    logs = np.where(sick[:, None] < 0, np.log(by_sick.sum(axis=0)), np.log(by_sick)[sick])
    whole = np.logaddexp(*logs.sum(axis=0))
    found = expectation(task)(stacks)
    assert found.log_weight == pytest.approx(whole, rel=1e-12)
    epidemic = np.exp(logs.sum(axis=0) - whole)
    np.testing.assert_allclose(found.counts[0].reshape(2, 2).sum(axis=0), count * epidemic)
    np.testing.assert_allclose(
        found.counts[1].reshape(3, 2, 2).sum(axis=0), found.counts[0].reshape(2, 2), atol=1e-8
    )


@pytest.mark.parametrize("length", [2, 3, 1000])
def test_chains(length):
    random = np.random.default_rng(length)
    rows = np.arange(length - 1)
    task = LearningTask((cells("X", [-1] * length, 3),), (table("x", (0, rows), (0, rows + 1)),))
    stacks = random_stacks(task, random)
    log_weight, ahead = 0.0, np.ones(3)
    for _ in rows:
        ahead = ahead @ stacks[0].reshape(3, 3)
        log_weight, ahead = log_weight + np.log(ahead.sum()), ahead / ahead.sum()
    found = expectation(task)(stacks)
    assert found.log_weight == pytest.approx(log_weight, rel=1e-12)
    assert found.counts[0].sum() == pytest.approx(length - 1, rel=1e-9)


def test_what_is_too_wide_is_refused():
    side = 40
    grid = np.arange(side * side).reshape(side, side)
    across = table("a", (0, grid[:, 1:].ravel()), (0, grid[:, :-1].ravel()))
    down = table("d", (0, grid[1:].ravel()), (0, grid[:-1].ravel()))
    task = LearningTask((cells("X", [-1] * side**2, 2),), (across, down))
    with pytest.raises(TooLargeError, match=r"a table over \d+ hidden cells of X, 2\^\d+ numbers"):
        expectation(task, memory_limit=2**24).work()
    long = LearningTask((cells("X", [-1] * 10**4, 2),), (table("x", (0, np.arange(10**4))),))
    assert expectation(long, memory_limit=2**14).work() < 10  # all alike
    chain = table("x", (0, np.arange(9999)), (0, np.arange(1, 10**4)))
    with pytest.raises(TooLargeError, match="more than 16 KiB; raise the memory limit"):
        expectation(LearningTask(long.relations, (chain,)), memory_limit=2**14).work()


def test_what_takes_too_much_work_is_refused_before_it_is_planned():
    chain = table("x", (0, np.arange(999)), (0, np.arange(1, 1000)))
    task = LearningTask((cells("X", [-1] * 1000, 2),), (chain,))
    work = expectation(task).work()
    assert expectation(task).work(work) == work
    with pytest.raises(TooLargeError, match="more than 3,000 numbers"):
        expectation(task).work(3_000)


def test_nothing_to_learn_and_idle_cells():
    task = LearningTask((cells("X", [-1, 0, -1], 3),), ())
    assert expectation(task)([]).log_weight == pytest.approx(2 * np.log(3))
    assert expectation(task)([], observed=False).log_weight == pytest.approx(3 * np.log(3))
    fixed = FixedTables(
        "f", (ArgumentCells(0, np.array([1])),), np.array([[0.0, 1.0, 1.0]]), np.array([0])
    )
    impossible = LearningTask(task.relations, (), (fixed,))
    assert np.isneginf(expectation(impossible)([]).log_weight)
