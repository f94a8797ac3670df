"""From cells to single individuals: what cannot be done for all of a kind at once is listed row by row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from lifagu.arrays import Ints
from lifagu.errors import TooLargeError
from lifagu.infer.lifted.algebra import times
from lifagu.infer.lifted.cells import Individuals, Pattern, Patterns
from lifagu.infer.lifted.matrices import Matrices
from lifagu.infer.lifted.rows import Place, Rows
from lifagu.infer.lifted.state import Deferred, State
from lifagu.views import counted

MOST_ROWS = 2**25  # argument places up to which rows are listed


@dataclass(frozen=True, eq=False)
class ExpandStep:
    """Variables over cells became ground variables: variable v those from first[v] on, one axis per individual.

    shapes[v]: how many individuals there are along each axis; entries: where the rows of each old entry went.
    """

    before: Rows
    first: dict[int, int]
    shapes: dict[int, tuple[int, ...]]
    entries: list[tuple[int, int, Place]]
    listed: tuple[str, ...]

    def __str__(self) -> str:
        return "\n  ".join(self.listed)

    def ground(self, variable: int) -> Ints:
        """The ground variables of a variable, with one axis per individual (also where individuals coincide)."""
        shape = self.shapes[variable]
        return self.first[variable] + np.arange(math.prod(shape)).reshape(shape)


def expand(state: State) -> ExpandStep:
    """List the rows that are left over cells, and those that were put aside at the start; the state then has these."""
    rows = state.rows
    assert isinstance(rows, Patterns)
    individuals = rows.individuals
    left = np.flatnonzero(state.present).tolist()
    _check(state, rows, left)
    first, shapes, listed = {}, {}, []
    for variable in left:
        cells = individuals.cells_of[variable]
        first[variable], shapes[variable] = variable, tuple(individuals.sizes[cell] for cell in cells)
        if cells:
            first[variable] = _list(state, variable, shapes[variable], cells)
            listed.append(
                f"list {counted(individuals.members(variable), 'variable')} {obstacle(state, rows, variable)}"
            )
    step = ExpandStep(rows, first, shapes, [], tuple(listed))
    made, origin = [], []
    for arity in rows.arities():
        for entry, (pattern, label) in enumerate(zip(rows.patterns[arity], rows.labels[arity].tolist(), strict=True)):
            if pattern.fold > 1:
                label = state.pool.add(times(state.pool[label], Fraction(1, pattern.fold)), 0)
            made.append((_listed_rows(pattern, individuals, step), label))
            origin.append((arity, entry))
    put_aside = [(_deferred_rows(each, step), each.label) for each in state.deferred]
    state.rows, places = Matrices({}, {}).plus([*made, *put_aside])
    step.entries.extend((*old, place) for old, place in zip(origin, places, strict=False))
    state.retire(np.array([variable for variable in left if individuals.cells_of[variable]], dtype=np.int64))
    state.open = state.present.copy()
    state.open[list(state.kept)] = False
    return step


def _check(state: State, rows: Patterns, left: Sequence[int]) -> None:
    """Refuse what would be too much to list, and say what stood in the way."""
    places = sum(
        arity * rows.individuals.choices(pattern.cells) for arity in rows.arities() for pattern in rows.patterns[arity]
    )
    variables = sum(
        math.prod(rows.individuals.sizes[cell] for cell in rows.individuals.cells_of[variable]) for variable in left
    )
    if max(places, variables) > MOST_ROWS:
        many = max(left, key=rows.individuals.members)
        raise TooLargeError(
            f"variables {obstacle(state, rows, many)}, cannot be lifted; listing what is left one by one would need "
            f"{float(places):.3g} argument places, and {MOST_ROWS:.3g} is the limit; make the domains smaller, or "
            "leave out evidence that tells single individuals apart"
        )


def obstacle(state: State, rows: Patterns, variable: int) -> str:
    """A variable, and why it could be neither eliminated nor counted for all individuals at once."""
    name = state.name(variable)
    if any(variable == each for deferred in state.deferred for each, _ in deferred.arguments):
        return f"like {name}, which stand in factors that name their individuals one by one"
    for arity in rows.arities():
        for pattern in rows.patterns[arity]:
            beside = [state.name(each) for each in pattern.variables if each != variable]
            if pattern.variables.count(variable) > 1:
                return f"like {name}, which a table ties to each other"
            if variable in pattern.variables and len(pattern.used) > len(rows.individuals.cells_of[variable]):
                return f"like {name}, each of which a table ties to many like {beside[0]}"
    return f"like {name}, of which there are too few to be worth it"


def _list(state: State, variable: int, shape: tuple[int, ...], cells: tuple[int, ...]) -> int:
    """Add the ground variables of a variable to the state; those that name one individual twice are not there."""
    first, size = len(state.sizes), math.prod(shape)
    there = np.ones(shape, dtype=np.bool_)
    grid = np.meshgrid(*(np.arange(length) for length in shape), indexing="ij", sparse=True)
    for right in range(len(cells)):
        for left in range(right):
            if cells[left] == cells[right]:
                there &= grid[left] != grid[right]
    state.sizes = np.append(state.sizes, np.full(size, state.sizes[variable]))
    state.open = np.append(state.open, np.zeros(size, dtype=np.bool_))
    state.present = np.append(state.present, there.reshape(-1))
    state.listed[first] = (first + size, state.name(variable))
    return first


def _listed_rows(pattern: Pattern, individuals: Individuals, step: ExpandStep) -> Ints:
    """All rows of a pattern as an n×k matrix."""
    rows = individuals.listed(pattern.cells)
    return np.column_stack([_ground(step, variable, rows[:, list(own)]) for variable, own in pattern.arguments])


def _deferred_rows(deferred: Deferred, step: ExpandStep) -> Ints:
    """Rows that were put aside, as an n×k matrix of ground variables."""
    return np.column_stack([_ground(step, variable, own) for variable, own in deferred.arguments])


def _ground(step: ExpandStep, variable: int, own: Ints) -> Ints:
    """The ground variables of a variable for n choices of its individuals (an n×k matrix of their places in cells)."""
    place = np.zeros(len(own), dtype=np.int64)
    for axis, length in enumerate(step.shapes[variable]):
        place = place * length + own[:, axis]
    return step.first[variable] + place
