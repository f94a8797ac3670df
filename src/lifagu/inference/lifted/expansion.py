"""From cells to single individuals: what cannot be done for all of a kind is listed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.basics.words import counted
from lifagu.errors import TooLargeError
from lifagu.inference.lifted.adjoints import Adjoints
from lifagu.inference.lifted.assignment import Assignment, CellValues
from lifagu.inference.lifted.cells import Individuals, Pattern, Patterns
from lifagu.inference.lifted.fifty_digits import total
from lifagu.inference.lifted.matrices import Matrices
from lifagu.inference.lifted.problem import Problem, Tie, Variables
from lifagu.inference.lifted.rows import ByArity, RowPlaces, classes_of

MOST_TOLD = 3  # kinds that are told one by one
MOST_ROWS = 2**25  # argument places up to which rows are listed


@dataclass(frozen=True, eq=False)
class ExpandStep:
    """Variables over cells became ground ones: v those from first[v] on, one axis per individual.

    shapes[v]: how many individuals there are along each axis; entries: where the rows of each old
    entry went.
    """

    individuals: Individuals
    labels: ByArity
    first: dict[int, int]
    shapes: dict[int, tuple[int, ...]]
    entries: list[tuple[int, int, RowPlaces]]
    listed: tuple[str, ...]

    def __str__(self) -> str:
        return "\n  ".join(self.listed)

    def ground(self, variable: int) -> Ints:
        """The ground variables of one, one axis per individual (also where these coincide)."""
        shape = self.shapes[variable]
        return self.first[variable] + np.arange(math.prod(shape)).reshape(shape)

    def walk_back(self, after: Adjoints) -> ByArity:
        """Ground variables of a kind have one marginal, rows of a pattern one joint marginal."""
        before = after.before(self.labels, {})
        marginals = after.marginals
        for variable, shape in self.shapes.items():
            if shape:
                numbers = marginals.of_variable[self.ground(variable)].reshape(-1)
                marginals.of_variable[variable] = numbers[np.argmax(numbers >= 0)]
        for arity, entry, (_, places) in self.entries:
            before[arity][entry] = after.of_row[arity][places[0]]
        return before

    def values(self, ground: Assignment[Ints]) -> CellValues:
        """The values of all of a kind from those of its ground variables."""
        values = {variable: ground.of(self.ground(variable)) for variable in self.first}
        return CellValues(self.individuals, values)


def expand(problem: Problem[Pattern]) -> tuple[Problem[Ints], ExpandStep]:
    """List the rows that are left over cells, and those that were put aside at the start."""
    rows, variables = problem.rows, problem.variables
    assert isinstance(rows, Patterns), "only rows over cells are listed"
    individuals = rows.individuals
    left = np.flatnonzero(variables.present).tolist()
    _check(problem, rows, left)
    first, shapes = {}, {}
    for variable in left:
        cells = individuals.cells_of[variable]
        first[variable] = len(variables) if cells else variable
        shapes[variable] = individuals.shape(variable)
        if cells:
            variables = _list(variables, variable, shapes[variable], cells)
    step = ExpandStep(individuals, rows.labels, first, shapes, [], _told(problem, rows, left))
    made, weights = _rows(problem, rows, step)
    origin = [(arity, entry) for arity, entry, *_ in rows.each()]
    ties = _ties(problem, step)
    ground, places = Matrices({}, {}).plus(made)
    step.entries.extend((*old, place) for old, place in zip(origin, places, strict=False))
    variables = variables.without(
        np.array([each for each in left if individuals.cells_of[each]], dtype=np.int64)
    )
    open_now = variables.present.copy()
    tied = [each for tie in ties for each in (tie.variables, tie.classes.variables)]
    open_now[np.concatenate([np.array(sorted(problem.kept), dtype=np.int64), *tied])] = False
    collected = total([problem.collected, *weights])
    left_open = replace(variables, open=open_now)
    return Problem(
        ground, problem.tables, left_open, problem.kept, collected, problem.maximise, ties=ties
    ), step


def _told(problem: Problem[Pattern], rows: Patterns, left: Sequence[int]) -> tuple[str, ...]:
    """What is listed, in words: the first few kinds with the reason, then how many more."""
    kinds = [each for each in left if rows.individuals.cells_of[each]]
    members = rows.individuals.members
    lines = [
        f"list {counted(members(each), 'variable')} {obstacle(problem, rows, each)}"
        for each in kinds[:MOST_TOLD]
    ]
    if more := kinds[MOST_TOLD:]:
        lines.append(
            f"list {rows.members(np.array(more))} variables of {counted(len(more), 'kind')} more"
        )
    return tuple(lines)


def _check(problem: Problem[Pattern], rows: Patterns, left: Sequence[int]) -> None:
    """Refuse what would be too much to list, and say what stood in the way."""
    places = sum(
        arity * rows.individuals.choices(pattern.cells) for arity, *_, pattern in rows.each()
    )
    variables = sum(math.prod(rows.individuals.shape(variable)) for variable in left)
    if max(places, variables) > MOST_ROWS:
        many = max(left, key=rows.individuals.members)
        raise TooLargeError(
            f"variables {obstacle(problem, rows, many)}, cannot be lifted; listing what is left "
            f"one by one would need {float(places):.3g} argument places, and {MOST_ROWS:.3g} is "
            "the limit; make the domains smaller, or leave out evidence that tells single "
            "individuals apart"
        )


def obstacle(problem: Problem[Pattern], rows: Patterns, variable: int) -> str:
    """A variable, and why it could be neither eliminated nor counted for all at once."""
    name = problem.variables.name(variable)
    if any(variable == each for deferred in problem.deferred for each, _ in deferred.arguments):
        return f"like {name}, which stand in factors that name their individuals one by one"
    for *_, pattern in rows.each():
        if pattern.variables.count(variable) > 1:
            return f"like {name}, which a table ties to each other"
        if variable in pattern.variables and len(pattern.used) > len(
            rows.individuals.cells_of[variable]
        ):
            beside = next(each for each in pattern.variables if each != variable)
            many = problem.variables.name(beside)
            return f"like {name}, each of which a table ties to many like {many}"
    return f"like {name}, of which there are too few to be worth it"


def _list(
    variables: Variables, variable: int, shape: tuple[int, ...], cells: tuple[int, ...]
) -> Variables:
    """The variables with the ground ones of one; those with an individual twice are not there."""
    first, size = len(variables), math.prod(shape)
    there = _exist(shape, cells).reshape(-1)
    listed = dict(variables.listed) | {first: (first + size, variables.name(variable))}
    longer = variables.plus(np.full(size, variables.sizes[variable]), present=there, opened=False)
    return replace(longer, listed=listed)


def _exist(shape: tuple[int, ...], cells: tuple[int, ...]) -> np.ndarray:
    """Which choices of individuals have those of one cell all different."""
    there = np.ones(shape, dtype=np.bool_)
    grid = np.indices(shape, sparse=True)
    for right in range(len(cells)):
        for left in range(right):
            if cells[left] == cells[right]:
                there &= grid[left] != grid[right]
    return there


def _rows(
    problem: Problem[Pattern], rows: Patterns, step: ExpandStep
) -> tuple[list[tuple[Ints, Ints]], list[Decimal]]:
    """All rows of patterns, then those put aside: matrices of ground variables, and labels."""
    made, weights = [], []
    for arity, _, label, pattern in rows.each():
        if pattern.fold > 1:
            many = rows.individuals.choices(pattern.cells)
            terms = ((label, tuple(range(arity)), Fraction(1, pattern.fold)),)
            label, weight = problem.tables.add(problem.tables.summed(terms, many), many)
            weights.append(weight)
        listed = rows.individuals.listed(pattern.cells)
        arguments = [(variable, listed[:, list(own)]) for variable, own in pattern.arguments]
        made.append(_matrix(step, arguments, label))
    made += [_matrix(step, deferred.arguments, deferred.label) for deferred in problem.deferred]
    return made, weights


def _matrix(
    step: ExpandStep, arguments: Sequence[tuple[int, Ints]], label: int
) -> tuple[Ints, Ints]:
    """Rows of ground variables as an n×k matrix, and their labels."""
    matrix = np.column_stack([_ground(step, variable, own) for variable, own in arguments])
    return matrix, np.full(len(matrix), label)


def _ground(step: ExpandStep, variable: int, own: Ints) -> Ints:
    """The ground variables for n choices of individuals (an n×k matrix of places in cells)."""
    place = np.zeros(len(own), dtype=np.int64)
    for axis, length in enumerate(step.shapes[variable]):
        place = place * length + own[:, axis]
    return step.first[variable] + place


def _ties(problem: Problem[Pattern], step: ExpandStep) -> tuple[Tie, ...]:
    """What histograms count, listed: a class for each choice of individuals they name."""
    found = []
    for tie in problem.ties:
        (histogram,) = tie.variables.tolist()
        there = _exist(step.shapes[histogram], step.individuals.cells_of[histogram]).reshape(-1)
        own = [_counted(step, int(member), tie.classes.logical) for member in tie.classes.variables]
        members = np.concatenate(own, axis=1)[there]
        variables = step.ground(histogram).reshape(-1)[there]
        found.append(Tie(variables, classes_of(list(members), [members.shape[1]] * len(members))))
    return tuple(found)


def _counted(step: ExpandStep, member: int, logical: int) -> Ints:
    """The ground variables of a counted one: a row for each choice that its histogram names."""
    ground, shape = step.ground(member), step.shapes[member]
    if logical < 0:
        return ground.reshape(-1, 1)
    exist = _exist(shape, step.individuals.cells_of[member])
    there = np.moveaxis(exist, logical, -1).reshape(-1, shape[logical])
    flat = np.moveaxis(ground, logical, -1).reshape(-1, shape[logical])
    width = int(there.sum(axis=1).max(initial=0))
    front = np.argsort(~there, axis=1, kind="stable")[:, :width]
    return np.take_along_axis(flat, front, axis=1)
