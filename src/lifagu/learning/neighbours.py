"""Neighbouring bins of a number are alike: the prior of tables over labels that are in order.

What a table says of one bin is not far from what it says of the next. The prior of its entries has
the covariance of a path that forgets where it was, so that differences between neighbours are held
back, far ones hardly. Parameters are the coordinates along its axes, of which smooth ones may go
furthest; what all bins have in common is held back as if bins were in no order.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from lifagu.basics.arrays import Floats, frozen
from lifagu.relational.learning_task import LearningTask, TableToLearn

Mixings = Sequence[Floats | None]  # of some arguments, None where each parameter has its own label

FAR = 0.3  # of all bins, after which one hardly tells about another any more
ROUGH = 0.1  # share of what a bin has for itself


@lru_cache(maxsize=256)
def neighbours_alike(ordered: int, size: int) -> Floats | None:
    """What each parameter adds to each of so many labels, the first of which are bins in order.

    None where there is no order.
    """
    if ordered < 3:
        return None
    steps = np.abs(np.arange(ordered)[:, None] - np.arange(ordered))
    alike = (1 - ROUGH) * np.exp(-steps / (FAR * ordered)) + ROUGH * np.eye(ordered)
    common = np.full((ordered, ordered), 1 / ordered)
    apart = np.eye(ordered) - common
    varied = apart @ alike @ apart
    values, axes = np.linalg.eigh(varied * (ordered - 1) / np.trace(varied) + common)
    found = np.eye(size)
    found[:ordered, :ordered] = (axes * np.sqrt(np.maximum(values, 0.0))).T
    return frozen(found)


def mixings_of(task: LearningTask, table: TableToLearn) -> tuple[Floats | None, ...]:
    """What each parameter of a table adds to each label, argument by argument."""
    known = [task.relations[slot.relation] for slot in table.slots]
    return tuple(neighbours_alike(each.ordered, len(each.labels)) for each in known)


def along_axes(array: Floats, matrices: Mixings) -> Floats:
    """An array times matrices, one for each of its axes but the first."""
    for axis, matrix in enumerate(matrices, 1):
        if matrix is not None:
            array = np.moveaxis(np.tensordot(array, matrix, axes=(axis, 0)), -1, axis)
    return array


def by_parameters(by_logs: Floats, mixings: Mixings, power: int = 1) -> Floats:
    """A derivative by what parameters add to as one by themselves; power 2: a second one."""
    return along_axes(by_logs, [None if each is None else each.T**power for each in mixings])


def inverse(mixing: Floats) -> Floats:
    """What each label takes of each parameter."""
    return np.asarray(np.linalg.inv(mixing), dtype=np.float64)
