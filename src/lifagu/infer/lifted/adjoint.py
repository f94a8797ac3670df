"""All marginals in one pass: probabilities walk back through the recorded steps.

The adjoint of a row's log table is the joint marginal of its arguments. Rows that share a table need not share their
marginal, so adjoints are kept per class of rows: cost follows the number of classes, not of rows.
"""

from __future__ import annotations

import numpy as np

from lifagu.arrays import Ints, by_first_occurrence, first_places, group_rows, members
from lifagu.infer.lifted.algebra import Table, log_integers, log_member_shares, log_sum, project
from lifagu.infer.lifted.rows import Place
from lifagu.infer.lifted.step_kinds import (
    CountStep,
    EliminateStep,
    ExpandStep,
    JoinStep,
    MergeStep,
    PivotStep,
    Step,
    UnaryCountStep,
)

OfRow = dict[int, Ints]


class Distinct:
    """Tables by number, equal ones (in double precision) once: far from what was observed, many become equal."""

    def __init__(self) -> None:
        self.tables: list[Table] = []
        self._numbers: dict[tuple[tuple[int, ...], bytes], int] = {}

    def add(self, table: Table) -> int:
        """Number of a table."""
        key = (table.shape, np.asarray(table, dtype=np.float64).tobytes())
        number = self._numbers.setdefault(key, len(self.tables))
        if number == len(self.tables):
            self.tables.append(table)
        return number


class Marginals:
    """Log marginals of variables: tables[of_variable[v]], -1 where nothing is known."""

    def __init__(self, count: int) -> None:
        self._distinct = Distinct()
        self.of_variable: Ints = np.full(count, -1, dtype=np.int64)

    @property
    def tables(self) -> list[Table]:
        """The distinct marginals."""
        return self._distinct.tables

    def add(self, variables: Ints, table: Table) -> None:
        """These variables have this marginal."""
        self.of_variable[variables] = self._distinct.add(table - log_sum(table))


def walk_back(
    steps: tuple[Step, ...], of_row: OfRow, joints: Distinct, marginals: Marginals, wanted: Ints | None
) -> None:
    """Fill in the marginals of all variables that the steps took away, or at least of those that are wanted.

    of_row, joints: the joint marginal of each row that was left at the end. marginals: those of the variables left.
    """
    for number in range(len(steps) - 1, -1, -1):
        step = steps[number]
        if wanted is not None and (marginals.of_variable[wanted] >= 0).all():
            return
        if wanted is not None and isinstance(step, CountStep) and np.isin(wanted, step.twins.variables).all():
            _members(step, marginals)
            return
        if isinstance(step, MergeStep):
            of_row = _unmerge(step, of_row, joints)
        elif isinstance(step, EliminateStep):
            of_row = _uneliminate(step, of_row, joints, marginals, needed=number > 0)
        elif isinstance(step, CountStep):
            of_row = _uncount(step, of_row, joints, marginals)
        elif isinstance(step, UnaryCountStep):
            of_row = _uncount_unary(step, of_row, joints, marginals)
        elif isinstance(step, PivotStep):
            of_row = _unpivot(step, of_row, joints)
        elif isinstance(step, JoinStep):
            of_row = _unjoin(step, of_row, joints, marginals)
        else:
            of_row = _unexpand(step, of_row, marginals)


def _unmerge(step: MergeStep, of_row: OfRow, joints: Distinct) -> OfRow:
    """A row's joint marginal is the merged row's, with the axes back in its own order."""
    before = {}
    for arity, target in step.target.items():
        kind = group_rows(np.column_stack((of_row[arity][target], step.order[arity])))
        numbers = []
        for example in first_places(kind).tolist():
            joint = joints.tables[int(of_row[arity][target[example]])]
            numbers.append(joints.add(joint.transpose(np.argsort(step.order[arity][example]))))
        before[arity] = np.array(numbers, dtype=np.int64)[kind]
    return before


def _uneliminate(step: EliminateStep, of_row: OfRow, joints: Distinct, marginals: Marginals, needed: bool) -> OfRow:
    """P(variable, neighbours) = P(variable | neighbours) · P(neighbours), for each class of blocks."""
    before = _kept(step, of_row)
    for blocks, product, result, (arity, places) in step.shapes:
        conditional = product - np.where(np.isneginf(result), 0, result)
        number = of_row[arity][places] if arity else np.full(len(places), -1)
        for same in members(by_first_occurrence(number - number.min())):
            joint = conditional + joints.tables[int(number[same[0]])] if arity else conditional
            marginals.add(blocks.variables[same], project(joint, (0,)))
            if not needed:
                continue
            for (_, axes), (size, rows) in zip(blocks.parts, blocks.sources, strict=True):
                before[size][rows[same]] = joints.add(project(joint, axes))
    return before


def _uncount(step: CountStep, of_row: OfRow, joints: Distinct, marginals: Marginals) -> OfRow:
    """Given the histogram, which members have which values is uniform."""
    before = _kept(step, of_row)
    _members(step, marginals)
    for entry, (size, places) in step.entries:
        arity, rows = entry.old
        number = of_row[size][places[entry.groups]]
        for same in members(by_first_occurrence(number - number.min())):
            joint = joints.tables[int(number[same[0]])]
            if entry.tie < 0:
                spread = _spread(joint, log_member_shares(step.counts, len(entry.slots)), entry.slots)
            else:
                spread = _spread_tied(joint, step.counts, entry.slots[0], entry.tie)
            before[arity][rows[same]] = joints.add(spread)
    return before


def _members(step: CountStep, marginals: Marginals) -> None:
    """The marginal of counted members: E[histogram] / N."""
    histogram = marginals.tables[int(marginals.of_variable[step.variable])]
    marginals.add(step.twins.variables, _spread(histogram, log_member_shares(step.counts, 1), (0,)))


def _spread(joint: Table, shares: Table, slots: tuple[int, ...]) -> Table:
    """The joint marginal of a row's members (at these slots) and its other arguments, given the histogram's.

    joint: histogram × others; shares: log P(values | histogram), one axis per member after the histogram's.
    """
    sizes, others = shares.shape[1:], joint.shape[1:]
    spread: Table = np.empty(sizes + others, dtype=np.longdouble)
    for values in np.ndindex(*sizes):
        own = shares[(slice(None), *values)].reshape(-1, *(1,) * len(others))
        spread[values] = log_sum(joint + own, axis=0)
    return np.moveaxis(spread, range(len(slots)), slots)


def _spread_tied(joint: Table, counts: Ints, slot: int, tie: int) -> Table:
    """The same for a row that holds one member and the histogram itself."""
    shares = log_member_shares(counts, 1)
    whole = shares.T.reshape(shares.shape[1], -1, *(1,) * (joint.ndim - 1)) + joint[None]
    return np.moveaxis(whole, (0, 1), (slot, tie))


def _uncount_unary(step: UnaryCountStep, of_row: OfRow, joints: Distinct, marginals: Marginals) -> OfRow:
    """Given the histogram, members' values depend on their unary tables."""
    before = _kept(step, of_row)
    histogram = marginals.tables[int(marginals.of_variable[step.variable])]
    group_of = {int(each): number for number, group in enumerate(step.groups.variables) for each in group}
    for number, (group, rows) in enumerate(zip(step.groups.variables, step.groups.entries, strict=True)):
        table = _spread(histogram, step.log_shares((number,)), (0,))
        marginals.add(group, table)
        before.get(1, rows)[rows] = joints.add(table)
    for entry, (size, places) in step.entries:
        arity, rows = entry.old
        number_of = of_row[size][places[entry.groups]]
        owners = np.column_stack([_owners(step, entry.old, slot, group_of) for slot in entry.slots])
        for same in members(group_rows(np.column_stack((number_of, owners)))):
            shares = step.log_shares(tuple(owners[same[0]].tolist()))
            joint = joints.tables[int(number_of[same[0]])]
            before[arity][rows[same]] = joints.add(_spread(joint, shares, entry.slots))
    return before


def _owners(step: UnaryCountStep, place: Place, slot: int, group_of: dict[int, int]) -> Ints:
    """The group of the member in one slot of each of these entries."""
    return np.array([group_of[each] for each in step.before.at(place, slot).tolist()])


def _unpivot(step: PivotStep, of_row: OfRow, joints: Distinct) -> OfRow:
    """P(A(X), B(Y)), X ≠ Y: given B(X) and the histogram, Y is any of the others."""
    before = _kept(step, of_row)
    total, size = int(step.counts[0].sum()), step.counts.shape[1]
    logs = log_integers(total)
    left = np.maximum(step.counts[:, None, :] - np.eye(size, dtype=np.int64), 0)  # h × b' × b
    shares = logs[left] - logs[total - 1]
    arity, places = step.new
    number = of_row[arity][places[step.groups]]
    for same in members(by_first_occurrence(number - number.min())):
        joint = joints.tables[int(number[same[0]])]  # a × b' × h
        pairs = [log_sum(joint + shares[:, :, value].T, axis=(1, 2)) for value in range(shares.shape[2])]
        pair = np.stack(pairs, axis=1)
        before[2][step.old[same]] = joints.add(pair.T if step.turned else pair)
    return before


def _unjoin(step: JoinStep, of_row: OfRow, joints: Distinct, marginals: Marginals) -> OfRow:
    """A pair's marginal is that of its halves together."""
    before = {arity: np.full(len(labels), -1, dtype=np.int64) for arity, labels in step.before.labels.items()}
    number = marginals.of_variable[step.joined]
    for same in members(by_first_occurrence(number)):
        pair = marginals.tables[int(number[same[0]])].reshape(step.sizes)
        marginals.add(step.first[same], log_sum(pair, axis=1))
        marginals.add(step.second[same], log_sum(pair, axis=0))
    for (arity, rows), makeup, (size, places) in step.shapes:
        number = of_row[size][places]
        for same in members(by_first_occurrence(number)):
            before[arity][rows[same]] = joints.add(makeup.parted(joints.tables[int(number[same[0]])]))
    return before


def _unexpand(step: ExpandStep, of_row: OfRow, marginals: Marginals) -> OfRow:
    """Ground variables of one kind have one marginal, and rows of one pattern one joint marginal."""
    before = {arity: np.full(len(labels), -1, dtype=np.int64) for arity, labels in step.before.labels.items()}
    for variable, shape in step.shapes.items():
        if shape:
            numbers = marginals.of_variable[step.ground(variable)].reshape(-1)
            marginals.of_variable[variable] = numbers[np.argmax(numbers >= 0)]
    for arity, entry, (_, places) in step.entries:
        before[arity][entry] = of_row[arity][places[0]]
    return before


def _kept(step: EliminateStep | CountStep | UnaryCountStep | PivotStep, of_row: OfRow) -> OfRow:
    """Rows that a step left alone keep their joint marginals; the others have none yet."""
    before = {arity: np.full(len(labels), -1, dtype=np.int64) for arity, labels in step.before.labels.items()}
    for arity, kept in step.kept.items():
        if arity and len(kept):
            before[arity][kept] = of_row[arity][: len(kept)]
    return before
