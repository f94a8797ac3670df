"""Tables that make up a Bayesian network over cells, so that counts alone decide about them.

That is so if every cell is told by one row at most, given others, and none tells about itself. An
undirected tree is the same model as one with a root and arrows away from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints, offsets_of
from lifagu.relational.learning_task import ArgumentCells, FixedTables, LearningTask, TableToLearn

Mask = NDArray[np.bool_]
Places = tuple[int, ...]  # arguments of a table, by place


def directed(task: LearningTask) -> LearningTask | None:
    """The same task with each table conditional on what makes all of them a network, or None.

    Tables that say what they are given stay as they are. A joint table is conditional on what an
    earlier one tells about, from a hidden relation on where there is one. Tables that are given
    must sum to the same for everything they are conditional on.
    """
    of_fixed = _children_of_fixed(task)
    given = _oriented(task, of_fixed) if of_fixed is not None else None
    if of_fixed is None or given is None:
        return None
    tables = tuple(
        replace(table, given=places) for table, places in zip(task.tables, given, strict=True)
    )
    made = replace(task, tables=tables)
    return made if _is_network(made, of_fixed) else None


def informative(task: LearningTask) -> LearningTask:
    """A network without rows that tell only about hidden cells which no other row has.

    What is left has the same likelihood. Cost: rows, times how long chains of such cells are.
    """
    starts = _starts(task)
    values = np.concatenate([each.values for each in task.relations])
    of_fixed = _children_of_fixed(task)
    if of_fixed is None:
        raise ValueError("some fixed table is not part of a network")
    children = [*(_children(table) for table in task.tables), *of_fixed]
    cells = [_cells(block.slots, starts) for block in _blocks(task)]
    stay = [np.ones(len(table), dtype=bool) for table in task.tables]
    stay += [block.table_of >= 0 for block in task.fixed]
    while True:
        rows = [each[kept] for each, kept in zip(cells, stay, strict=True)]
        degree = np.zeros(len(values), dtype=np.int64)
        for each in rows:
            degree += np.bincount(each.reshape(-1), minlength=len(values))
        barren = (values < 0) & (degree == 1)
        gone = [
            kept & barren[each[:, places]].all(axis=1)
            for each, kept, places in zip(cells, stay, children, strict=True)
        ]
        if not any(each.any() for each in gone):
            break
        stay = [kept & ~each for kept, each in zip(stay, gone, strict=True)]
    tables = [_some_rows(table, kept) for table, kept in zip(task.tables, stay, strict=False)]
    fixed = [
        replace(block, slots=_some_slots(block.slots, kept), table_of=block.table_of[kept])
        for block, kept in zip(task.fixed, stay[len(tables) :], strict=True)
    ]
    return replace(task, tables=tuple(tables), fixed=tuple(fixed))


def is_complete(task: LearningTask) -> bool:
    """Whether every argument of every row was observed."""
    return all(
        bool((task.relations[slot.relation].values[slot.cells] >= 0).all())
        for block in _blocks(task)
        for slot in block.slots
    )


def _blocks(task: LearningTask) -> tuple[TableToLearn | FixedTables, ...]:
    return (*task.tables, *task.fixed)


def _some_rows(table: TableToLearn, kept: Mask) -> TableToLearn:
    levels = tuple(replace(level, of_row=level.of_row[kept]) for level in table.levels)
    return replace(table, slots=_some_slots(table.slots, kept), levels=levels)


def _some_slots(slots: Sequence[ArgumentCells], kept: Mask) -> tuple[ArgumentCells, ...]:
    return tuple(slot._replace(cells=slot.cells[kept]) for slot in slots)


def _children(table: TableToLearn) -> list[int]:
    return [place for place in range(len(table.slots)) if place not in table.given]


def _starts(task: LearningTask) -> Ints:
    return offsets_of(np.array([len(each.values) for each in task.relations], dtype=np.int64))


def _cells(slots: Sequence[ArgumentCells], starts: Ints) -> Ints:
    """Rows × arguments, cells of all relations numbered together."""
    return np.column_stack([starts[slot.relation] + slot.cells for slot in slots])


# ---- arrows


def _children_of_fixed(task: LearningTask) -> list[list[int]] | None:
    """For each fixed table the arguments it tells about: the fewest over which it sums to one.

    They are not told by tables that say what they are given, nor by earlier fixed ones.
    """
    starts = _starts(task)
    taken = np.zeros(starts[-1], dtype=bool)
    for table in task.tables:
        if table.given or len(table.slots) == 1:
            taken[_cells(table.slots, starts)[:, _children(table)]] = True
    found: list[list[int]] = []
    for block in task.fixed:
        known = block.table_of >= 0
        cells = _cells(block.slots, starts)[known]
        used = block.tables[np.unique(block.table_of[known])].reshape(-1, *task.shape(block))
        free = [place for place in range(len(block.slots)) if not taken[cells[:, place]].any()]
        choices = (c for n in range(1, len(free) + 1) for c in combinations(free, n))
        chosen = next((list(each) for each in choices if _sums_alike(used, each)), None)
        if chosen is None:
            return None
        taken[cells[:, chosen]] = True
        found.append(chosen)
    return found


def _sums_alike(tables: Floats, places: Places) -> bool:
    """Whether tables sum to the same whatever the other arguments are."""
    sums = tables.sum(axis=tuple(1 + place for place in places))
    return not sums.size or bool(np.ptp(sums) <= 1e-9 * sums.max())


def _oriented(task: LearningTask, of_fixed: list[list[int]]) -> list[Places] | None:
    """What each table is conditional on, by place, where joint tables form a tree."""
    given: dict[int, Places] = {
        number: table.given for number, table in enumerate(task.tables) if table.given
    }
    told = {
        table.slots[place].relation
        for number in given
        for table in (task.tables[number],)
        for place in _children(table)
    }
    told |= {
        block.slots[place].relation
        for block, places in zip(task.fixed, of_fixed, strict=True)
        for place in places
    }
    scopes: list[set[int]] = []  # of joint tables that have their arrows
    waiting = [number for number, table in enumerate(task.tables) if not table.given]
    while waiting:
        met = set().union(*scopes)
        number = min(waiting, key=lambda each: _turn(task, each, met))
        relations = [slot.relation for slot in task.tables[number].slots]
        earlier = {each for each in relations if each in met}
        apart = not any(earlier <= scope for scope in scopes) or earlier == set(relations)
        if told & set(relations) or (earlier and apart):
            return None
        given[number] = tuple(p for p, relation in enumerate(relations) if relation in earlier)
        scopes.append(set(relations))
        waiting.remove(number)
    return [given[number] for number in range(len(task.tables))]


def _turn(task: LearningTask, number: int, met: set[int]) -> tuple[bool, bool, int, int, int]:
    """Who is next: who hangs on what is there; else a hidden root, alone, or with most rows."""
    table = task.tables[number]
    relations = [slot.relation for slot in table.slots]
    hidden = any(not (task.relations[each].values >= 0).any() for each in relations)
    return not met & set(relations), not hidden, len(relations), -len(table), number


def _is_network(task: LearningTask, of_fixed: list[list[int]]) -> bool:
    """Whether each cell is told by one row at most, and none by way of itself.

    Arrows between relations are enough to see the latter where these have no circle.
    """
    starts = _starts(task)
    many = np.zeros(starts[-1], dtype=np.int64)
    arrows, between = [np.zeros((0, 2), dtype=np.int64)], set()
    places = [*(_children(table) for table in task.tables), *of_fixed]
    for block, told in zip(_blocks(task), places, strict=True):
        cells = _cells(block.slots, starts)
        if isinstance(block, FixedTables):
            cells = cells[block.table_of >= 0]
        many += np.bincount(cells[:, told].reshape(-1), minlength=len(many))
        for first in (place for place in range(len(block.slots)) if place not in told):
            for second in told:
                arrows.append(cells[:, [first, second]])
                between.add((block.slots[first].relation, block.slots[second].relation))
    if many.max(initial=0) > 1:
        return False
    relations = np.array(sorted(between), dtype=np.int64).reshape(-1, 2)
    return _ends(relations, len(task.relations)) or _ends(np.concatenate(arrows), len(many))


def _ends(arrows: Ints, count: int) -> bool:
    """Whether taking away nodes that nothing points to ends with none left."""
    order = np.argsort(arrows[:, 0], kind="stable")
    target = arrows[order, 1]
    begins = offsets_of(np.bincount(arrows[:, 0], minlength=count))
    waits = np.bincount(target, minlength=count)
    free, done = np.flatnonzero(waits == 0), 0
    while len(free):
        done += len(free)
        lengths = begins[free + 1] - begins[free]
        inside = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        reached = target[np.repeat(begins[free], lengths) + inside]
        np.subtract.at(waits, reached, 1)
        reached = np.unique(reached)
        free = reached[waits[reached] == 0]
    return done == count
