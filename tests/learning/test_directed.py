"""Which tables make up a network, and what counts say about them."""

import numpy as np
import pytest

from lifagu.learning.counting import counted, imagined_records, learn_by_counts
from lifagu.learning.directed import directed, informative, is_complete
from lifagu.relational.learning_task import ArgumentCells, FixedTables, LearningTask
from support.learning_tasks import cells, table

ROWS = np.arange(4)
HIDDEN = cells("C", [-1] * 4, 2)
SEEN = tuple(cells(name, [0, 1, 1, 0], 2) for name in "XYZ")


def task(*tables, relations=(HIDDEN, *SEEN), fixed=()):
    return LearningTask(tuple(relations), tables, tuple(fixed))


def pair(first, second, given=()):
    return table(f"{first}{second}", (first, ROWS), (second, ROWS), given=given)


def given_of(made):
    found = directed(made)
    return None if found is None else [each.given for each in found.tables]


def fixed(relation, numbers, cells_=ROWS):
    tables = np.array([numbers], dtype=float)
    slots = tuple(ArgumentCells(each, cells_) for each in relation)
    return FixedTables("f", slots, tables, np.zeros(len(cells_), dtype=int))


def test_a_lone_table_is_directed():
    assert given_of(task(table("x", (1, ROWS)))) == [()]
    assert given_of(task(pair(1, 2))) == [()]


def test_given_tables_stay():
    assert given_of(task(table("c", (0, ROWS)), pair(0, 1, (0,)), pair(2, 0, (1,)))) == [
        (),
        (0,),
        (1,),
    ]


def test_a_star_around_a_hidden_relation_has_its_root_there():
    assert given_of(task(pair(1, 0), pair(0, 2), pair(0, 3))) == [(), (0,), (0,)]
    assert given_of(task(pair(1, 0), pair(0, 2), table("c", (0, ROWS)))) == [(1,), (0,), ()]


def test_a_tree_has_arrows_away_from_its_root():
    assert given_of(task(pair(1, 2), pair(2, 3))) == [(), (0,)]
    assert given_of(task(pair(1, 2), pair(2, 3), pair(3, 0))) == [(1,), (1,), ()]


def test_circles_are_not_directed():
    assert given_of(task(pair(1, 2), pair(2, 3), pair(1, 3))) is None
    assert given_of(task(pair(1, 2, (0,)), pair(1, 2, (1,)))) is None
    assert given_of(task(pair(1, 2, (0,)), pair(2, 3, (0,)), pair(3, 1, (0,)))) is None


def test_what_is_told_twice_is_not_directed():
    assert given_of(task(pair(1, 2, (0,)), table("y", (2, ROWS)))) is None
    assert given_of(task(table("x", (1, [0, 0])))) is None
    assert given_of(task(table("x", (1, [0])), table("more", (1, [0])))) is None


def test_circles_between_relations_need_not_be_circles_of_cells():
    chain = table("next", (1, [0, 1, 2]), (1, [1, 2, 3]), given=(0,))
    assert given_of(task(chain)) == [(0,)]
    ring = table("next", (1, [0, 1, 2, 3]), (1, [1, 2, 3, 0]), given=(0,))
    assert given_of(task(ring)) is None


def test_fixed_tables_have_to_be_conditional():
    prior, noisy = fixed([0], [4, 1]), fixed([0, 1], [0.9, 0.1, 0.2, 0.8])
    told = pair(0, 2, (0,))
    assert given_of(task(told, fixed=[prior, noisy])) == [(0,)]
    assert given_of(task(told, fixed=[prior, fixed([0, 1], [0.9, 0.1, 0.2, 0.7])])) is None
    assert given_of(task(told, fixed=[prior, prior])) is None
    assert given_of(task(table("c", (0, ROWS)), fixed=[prior])) is None


def test_rows_that_tell_nothing_are_left_out():
    holes = cells("X", [0, -1, 1, -1], 2), cells("Y", [-1, -1, 0, 1], 2)
    made = task(
        table("x", (0, ROWS)), table("y", (0, ROWS), (1, ROWS), given=(0,)), relations=holes
    )
    left = informative(made)
    assert [each.slots[0].cells.tolist() for each in left.tables] == [[0, 2, 3], [2, 3]]
    assert not is_complete(left)  # X(3) is hidden, and Y(3) tells about it


def test_counts_and_their_prior():
    values = cells("X", [0, 0, 0, 1, -1, -1], 3)
    made = task(table("x", (0, np.arange(6))), relations=[values])
    assert counted(made)[0].tolist() == [[3, 1, 0]]
    prior = imagined_records(made, made.tables[0])
    assert prior.sum() == pytest.approx(1)
    (found,) = learn_by_counts(made)
    np.testing.assert_allclose(found.stack[0], (np.array([3, 1, 0]) + prior) / 5)
    assert 0 < found.stack[0, 2] < 0.05
    assert (found.records.tolist(), found.method, found.parameters) == ([4.0], "counts", 2.0)


def test_groups_are_drawn_to_the_common_table_and_without_records_have_it():
    random = np.random.default_rng(5)
    ward = np.repeat([0, 1, 2], 300)
    values = (random.random(900) < np.array([0.2, 0.5, 0.8])[ward]).astype(int)
    values[600:] = -1
    given_x = random.integers(0, 2, 900)
    relations = cells("X", given_x, 2), cells("Y", values, 2)
    rows = np.arange(900)
    by_ward = table("y", (0, rows), (1, rows), given=(0,), groups=ward.tolist())
    (found,) = learn_by_counts(informative(task(by_ward, relations=relations)))
    assert found.stack[3].tobytes() == found.stack[0].tobytes()
    assert found.stack[1, 1] < found.stack[0, 1] < found.stack[2, 1]
    assert found.records.tolist() == [0, 300, 300, 0]
    assert 2 < found.parameters < 6
    assert found.scales[0] > 0


def test_more_records_come_closer():
    """Mean squared error over seeds at n, 4n and 16n."""
    errors = []
    for count in (40, 160, 640):
        far = []
        for seed in range(20):
            random = np.random.default_rng(seed)
            truth = random.dirichlet(np.ones(3), size=2)
            first = random.integers(0, 2, count)
            second = (truth[first].cumsum(axis=1) > random.random(count)[:, None]).argmax(axis=1)
            rows = np.arange(count)
            made = task(
                table("y", (0, rows), (1, rows), given=(0,)),
                relations=(cells("X", first, 2), cells("Y", second, 3)),
            )
            (found,) = learn_by_counts(made)
            far.append(((found.stack.reshape(2, 3) - truth) ** 2).mean())
        errors.append(np.mean(far))
    assert errors[0] > 2 * errors[1] > 4 * errors[2]


def test_what_has_nothing_to_do_with_each_other_is_told_by_frequencies():
    apart, tied = [], []
    for seed in range(5):
        random = np.random.default_rng([seed, 17])
        first, rows = random.integers(0, 3, 120), np.arange(120)
        for found, share in ((apart, 0.0), (tied, 0.7)):
            second = np.where(random.random(120) < share, first, random.integers(0, 3, 120))
            relations = cells("X", first, 3), cells("Y", second, 3)
            made = task(table("y", (0, rows), (1, rows), given=(0,)), relations=relations)
            (learned,) = learn_by_counts(made)
            usual = np.bincount(second, minlength=3) / 120
            found.append(np.abs(learned.stack[0].reshape(3, 3) - usual).max())
    assert np.mean(apart) < 0.02
    assert np.mean(tied) > 0.3
