"""All marginals in one pass: probabilities walk back through the recorded steps.

The adjoint of a row's log table is the joint marginal of its arguments. Rows that share a table need not share their
marginal, so adjoints are kept per class of rows: cost follows the number of classes, not of rows.
"""

from __future__ import annotations

import numpy as np

from lifagu.arrays import Ints, by_first_occurrence, first_places, group_rows, members
from lifagu.infer.lifted.algebra import Table, log_sum, member_shares, project
from lifagu.infer.lifted.step_kinds import (
    CountStep,
    EliminateStep,
    JoinStep,
    MergeStep,
    PivotStep,
    Step,
    TiedCountStep,
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


def walk_back(steps: tuple[Step, ...], of_row: OfRow, joints: Distinct, marginals: Marginals) -> None:
    """Fill in the marginals of all variables that the steps took away.

    of_row, joints: the joint marginal of each row that was left at the end. marginals: those of the variables left.
    """
    for number in range(len(steps) - 1, -1, -1):
        step = steps[number]
        if isinstance(step, MergeStep):
            of_row = _unmerge(step, of_row, joints)
        elif isinstance(step, EliminateStep):
            of_row = _uneliminate(step, of_row, joints, marginals, needed=number > 0)
        elif isinstance(step, CountStep):
            of_row = _uncount(step, of_row, joints, marginals)
        elif isinstance(step, UnaryCountStep):
            of_row = _uncount_unary(step, of_row, joints, marginals)
        elif isinstance(step, TiedCountStep):
            of_row = _uncount_tied(step, of_row, joints, marginals)
        elif isinstance(step, PivotStep):
            of_row = _unpivot(step, of_row, joints)
        else:
            of_row = _unjoin(step, of_row, joints, marginals)


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
            for (_, slot, near), (size, rows) in zip(blocks.parts, blocks.sources, strict=True):
                axes = [1 + each for each in near]
                axes.insert(slot, 0)
                before[size][rows[same]] = joints.add(project(joint, axes))
    return before


def _uncount(step: CountStep, of_row: OfRow, joints: Distinct, marginals: Marginals) -> OfRow:
    """Given the histogram, which members have which values is uniform."""
    before = _kept(step, of_row)
    histogram = np.exp(marginals.tables[int(marginals.of_variable[step.variable])])
    with np.errstate(divide="ignore"):
        marginals.add(step.members, np.log(histogram @ member_shares(step.counts, 1)))
    for _, slots, (arity, rows), groups, (size, places) in step.entries:
        number = of_row[size][places[groups]]
        for same in members(by_first_occurrence(number - number.min())):
            joint = joints.tables[int(number[same[0]])]
            before[arity][rows[same]] = joints.add(_spread(joint, step.counts, slots))
    return before


def _spread(joint: Table, counts: Ints, slots: tuple[int, ...]) -> Table:
    """The joint marginal of a row's members (at these slots) and its other arguments."""
    shares = member_shares(counts, len(slots)).astype(np.longdouble)
    with np.errstate(divide="ignore"):
        values = np.log(np.tensordot(shares, np.exp(joint), axes=(0, 0)))
    return np.moveaxis(values.reshape((counts.shape[1],) * len(slots) + joint.shape[1:]), range(len(slots)), slots)


def _uncount_unary(step: UnaryCountStep, of_row: OfRow, joints: Distinct, marginals: Marginals) -> OfRow:
    """Given the histogram, a member's value depends on its unary table."""
    before = _kept(step, of_row)
    histogram = np.exp(marginals.tables[int(marginals.of_variable[step.variable])])
    group_of = {int(each): number for number, group in enumerate(step.groups) for each in group}
    with np.errstate(divide="ignore"):
        for group, share, rows in zip(step.groups, step.shares, step.unary_rows, strict=True):
            table = np.log(histogram @ share)
            marginals.add(group, table)
            before.get(1, rows)[rows] = joints.add(table)
    for _, (slot,), (arity, rows), groups, (size, places) in step.entries:
        number = of_row[size][places[groups]]
        owner = np.array([group_of[each] for each in step.before.matrix[arity][rows, slot].tolist()])
        for same in members(group_rows(np.column_stack((number, owner)))):
            joint = np.exp(joints.tables[int(number[same[0]])])
            share = step.shares[int(owner[same[0]])]
            with np.errstate(divide="ignore"):
                spread = np.moveaxis(np.log(np.tensordot(share, joint, axes=(0, 0))), 0, slot)
            before[arity][rows[same]] = joints.add(spread)
    return before


def _uncount_tied(step: TiedCountStep, of_row: OfRow, joints: Distinct, marginals: Marginals) -> OfRow:
    """As when counting, but rows may hold the histogram itself, too."""
    before = _kept(step, of_row)
    histogram = np.exp(marginals.tables[int(marginals.of_variable[step.variable])])
    shares = member_shares(step.counts, 1)
    with np.errstate(divide="ignore"):
        marginals.add(step.members, np.log(histogram @ shares))
        log_shares = np.log(shares.astype(np.longdouble))
    for (arity, rows), slot, tie, groups, (size, places) in step.entries:
        number = int(of_row[size][places[groups]][0])
        joint = joints.tables[number]
        if tie < 0:
            spread = _spread(joint, step.counts, (slot,))
        else:
            whole = log_shares.T.reshape(log_shares.shape[1], -1, *(1,) * (joint.ndim - 1)) + joint[None]
            own = tie - (tie > slot)  # place of the histogram among the other slots
            spread = np.moveaxis(np.moveaxis(whole, 1, own + 1), 0, slot)
        before[arity][rows] = joints.add(spread)
    return before


def _unpivot(step: PivotStep, of_row: OfRow, joints: Distinct) -> OfRow:
    """P(A(X), B(Y)), X ≠ Y: given B(X) and the histogram, Y is any of the others."""
    before = _kept(step, of_row)
    size, members_count = step.counts.shape[1], int(step.counts[0].sum())
    left = np.maximum(step.counts[None, :, :] - np.eye(size)[:, None, :], 0) / (members_count - 1)  # b' × h × b
    arity, places = step.new
    number = of_row[arity][places[step.new_of_old]]
    turned = step.turned
    for same in members(by_first_occurrence(number - number.min())):
        joint = np.exp(joints.tables[int(number[same[0]])])  # a × b' × h
        with np.errstate(divide="ignore"):
            pair = np.log(np.tensordot(joint, left.astype(np.longdouble), axes=((1, 2), (0, 1))))
        before[2][step.old[same]] = joints.add(pair.T if turned else pair)
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


def _kept(step: EliminateStep | CountStep | UnaryCountStep | TiedCountStep | PivotStep, of_row: OfRow) -> OfRow:
    """Rows that a step left alone keep their joint marginals; the others have none yet."""
    before = {arity: np.full(len(labels), -1, dtype=np.int64) for arity, labels in step.before.labels.items()}
    for arity, kept in step.kept.items():
        if arity and len(kept):
            before[arity][kept] = of_row[arity][: len(kept)]
    return before
