"""Small tasks of learning, and what enumeration says about them."""

import itertools

import numpy as np
from hypothesis import strategies as st

from lifagu.relational.learning_task import (
    ArgumentCells,
    FixedTables,
    GroupLevel,
    KnownCells,
    LearningTask,
    TableToLearn,
)


def cells(name, values, size):
    """A relation with labels 0, 1, …; -1 is hidden."""
    return KnownCells(name, tuple(map(str, range(size))), np.array(values, dtype=np.int64))


def table(name, *slots, given=(), groups=None):
    """A table to learn over (relation, cells of its rows); groups: of each row, one level."""
    made = tuple(
        ArgumentCells(relation, np.array(rows, dtype=np.int64)) for relation, rows in slots
    )
    levels = ()
    if groups is not None:
        count = max(groups, default=-1) + 1
        keys = [(str(each),) for each in range(count)]
        of_row = np.array(groups, dtype=np.int64)
        levels = (GroupLevel("ward", of_row, np.zeros(count, dtype=np.int64), keys),)
    return TableToLearn(name, name, made, given, levels)


@st.composite
def tasks(draw):
    """Few cells and any tables over them: hidden or not, shared, named twice, fixed, zeros."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    relations = []
    for number in range(draw(st.integers(1, 3))):
        size, count = int(random.integers(1, 4)), int(random.integers(1, 4))
        hidden = random.random(count) < random.choice([0.0, 0.4, 0.8, 1.0])
        values = np.where(hidden, -1, random.integers(0, size, count))
        relations.append(cells(f"R{number}", values, size))

    def slots():
        rows = int(random.integers(0, 4))
        chosen = random.integers(0, len(relations), int(random.integers(1, 4)))
        return [
            (int(each), random.integers(0, len(relations[each].values), rows)) for each in chosen
        ]

    tables = []
    for number in range(draw(st.integers(0, 3))):
        places = slots()
        groups = None
        if random.random() < 0.5:
            groups = random.integers(-1, 2, len(places[0][1])).tolist()
        tables.append(table(f"t{number}", *places, groups=groups))
    fixed = []
    for number in range(draw(st.integers(0, 2))):
        made = tuple(ArgumentCells(relation, np.array(rows)) for relation, rows in slots())
        sizes = [len(relations[slot.relation].labels) for slot in made]
        numbers = random.integers(0, 4, (2, int(np.prod(sizes)))).astype(float)
        which = random.integers(-1, 2, len(made[0].cells))
        fixed.append(FixedTables(f"f{number}", made, numbers, which))
    task = LearningTask(tuple(relations), tuple(tables), tuple(fixed))
    return task, random_stacks(task, random)


def random_stacks(task, random):
    """Positive potentials for all tables to learn."""
    return [
        np.exp(random.normal(size=(len(each.above), int(np.prod(task.shape(each))))))
        for each in task.tables
    ]


def enumerated(task, stacks, observed=True):
    """The total weight of all states, and the expected counts of each table."""
    ranges = [
        [int(value)] if observed and value >= 0 else range(len(relation.labels))
        for relation in task.relations
        for value in relation.values
    ]
    states = np.array(list(itertools.product(*ranges)), dtype=np.int64)
    starts = np.cumsum([0, *(len(each.values) for each in task.relations)])
    rows = [
        *((each, each.in_stack, stack) for each, stack in zip(task.tables, stacks, strict=True)),
        *((each, each.table_of, each.tables) for each in task.fixed),
    ]
    weights, met = np.ones(len(states)), []
    for number, (each, which, numbers) in enumerate(rows):
        for row in np.flatnonzero(which >= 0):
            values = [states[:, starts[slot.relation] + slot.cells[row]] for slot in each.slots]
            place = np.ravel_multi_index(values, task.shape(each))
            weights = weights * numbers[which[row], place]
            met.append((number, which[row], place))
    total, counts = weights.sum(), [np.zeros_like(each) for each in stacks]
    for number, which, place in met:
        if number < len(counts) and total:
            np.add.at(counts[number][which], place, weights / total)
    return total, counts
