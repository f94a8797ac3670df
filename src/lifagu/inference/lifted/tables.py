"""Tables by number, without their largest entry: kept one by one with care, or many at once.

Tables that differ by no more than their errors share a number, unless that breaks what is promised
about errors. Where hardly any row shares a table, tables are numbers of a stack, and nobody
compares them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints, first_places, group_rows, group_rows_bitwise, members
from lifagu.inference.lifted import careful_table as carefully
from lifagu.inference.lifted import table_stack as at_once
from lifagu.inference.lifted.batches_by_number import NumberedBatches
from lifagu.inference.lifted.careful_table import (
    FINE_WORK,
    PROMISE,
    WIDE_SPAN,
    Digits,
    Made,
    given,
    stripped_digits,
    without_top,
)
from lifagu.inference.lifted.fifty_digits import fine_logs, same, total, weighed
from lifagu.inference.lifted.logs import Table, near, swappable_slots, symmetric
from lifagu.inference.lifted.table_stack import Axes, Precision, Stack, Sum, Sums, stack_of

FEW = 2  # tables that are made one by one: at once costs as much
FEW_POTENTIALS = 2**16  # of which extended precision costs nothing
FEW_TERMS = 64  # of a sum that is computed with care
FEW_WIDE = 2**10  # products of tables with entries far apart that are computed with care
SHARED = 2  # rows for each table from which on tables are compared …
FEW_COMPARED = 64  # … or tables that are compared in any case, and at most so many in a square
_GRID = 2.0**-36  # tables in the same squares of this grid are compared
_OFFSET = 0.3719  # of the grid, so that round numbers are not at its lines


@dataclass(eq=False)
class TablePool:
    """All tables of a problem, by number; it only grows, so that problems can share it."""

    widest: float = 0.0  # the largest span of all tables
    _numbered: NumberedBatches[Made | Stack] = field(default_factory=NumberedBatches)
    _numbers: dict[tuple[tuple[int, ...], bytes], list[int]] = field(default_factory=dict)
    _swappable: dict[int, Ints] = field(default_factory=dict)  # of the tables of an entry

    def __getitem__(self, number: int) -> Table:
        return self.made(number).values

    def __len__(self) -> int:
        return len(self._numbered)

    def copy(self) -> TablePool:
        """Tables that go on from here on their own."""
        numbers = {key: list(each) for key, each in self._numbers.items()}
        return TablePool(self.widest, self._numbered.copy(), numbers, dict(self._swappable))

    # ---- looking at tables

    def made(self, number: int) -> Made:
        """One table."""
        entry, place = self._numbered.at(number)
        return entry if isinstance(entry, Made) else entry.made(place)

    def stack(self, numbers: Ints) -> Stack:
        """Tables of one shape, along the last axis."""
        found = list(self._found(numbers))
        if len(found) == 1:
            entry, _, inside = found[0]
            return (
                stack_of(entry)
                if isinstance(entry, Made) and len(inside) == 1
                else stack_of(entry).some(inside)
            )
        parts = [(places, stack_of(entry).some(inside)) for entry, places, inside in found]
        back = np.argsort(np.concatenate([places for places, _ in parts]))
        return Stack(
            np.concatenate([part.values for _, part in parts], axis=-1)[..., back],
            np.concatenate([part.error for _, part in parts])[back],
            np.concatenate([part.span for _, part in parts])[back],
        )

    def _found(self, numbers: Ints) -> Iterator[tuple[Made | Stack, Ints, Ints]]:
        """The entries that hold these tables: which of these, and where in the entry they are."""
        for own, places, inside in self._numbered.found(numbers):
            yield self._numbered.entries[own], places, inside

    def spans(self, numbers: Ints) -> Floats:
        """The largest finite entry of tables by absolute value."""
        found = np.zeros(len(numbers))
        for entry, places, inside in self._found(numbers):
            found[places] = stack_of(entry).span[inside]
        return found

    def shapes(self, arity: int, numbers: Ints) -> Ints:
        """The shapes of tables with so many axes: a matrix."""
        found = np.zeros((len(numbers), arity), dtype=np.int64)
        for entry, places, _ in self._found(numbers):
            found[places] = entry.values.shape[:arity]
        return found

    def alike_in_shape(self, numbers: Ints) -> list[Ints]:
        """The places of tables of the same shape."""
        return self._numbered.alike(numbers, lambda entry: stack_of(entry).values.shape[:-1])

    def slot_classes(self, arity: int, labels: Ints) -> Ints:
        """For each label which slots of its table may be swapped: rows of class numbers."""
        found = np.empty((len(labels), arity), dtype=np.int64)
        for own, places, inside in self._numbered.found(labels):
            found[places] = self._swappable_in(own)[inside]
        return found

    def swappable(self, number: int) -> tuple[int, ...]:
        """For each slot of a table the first one it may be swapped with, up to its errors."""
        own, _, inside = next(self._numbered.found(np.array([number])))
        return tuple(self._swappable_in(own)[inside[0]].tolist())

    def _swappable_in(self, place: int) -> Ints:
        """For each table of an entry and each of its slots the first one it may be swapped with."""
        if place not in self._swappable:
            entry = self._numbered.entries[place]
            if isinstance(entry, Made):
                self._swappable[place] = np.array(
                    [swappable_slots(entry.values, 2 * entry.rough_error)], dtype=np.int64
                )
            else:
                self._swappable[place] = at_once.swappable_slots(entry)
        return self._swappable[place]

    def symmetric(self, number: int, slots: Sequence[int]) -> bool:
        """Whether swapping any two of the slots leaves a table as it is, up to its errors."""
        made = self.made(number)
        return symmetric(made.values, slots, 2 * made.rough_error)

    # ---- adding tables

    def add(self, made: Made, many: int) -> tuple[int, Decimal]:
        """The number of a table on so many rows, and the log weight of its maximum on all."""
        left, weight = without_top(made, many)
        return self._known(left, many), weight

    def add_given(self, potentials: Floats, many: Ints) -> tuple[Ints, Decimal]:
        """The numbers of given tables (along the last axis) on so many rows; their log weight."""

        def digits(place: int) -> Digits | None:
            own = potentials[..., place]
            return stripped_digits(Digits(partial(fine_logs, own), own.size))

        def logs(start: int, stop: int) -> tuple[Table, Floats]:
            with np.errstate(divide="ignore"):
                found: Table = np.log(potentials[..., start:stop], dtype=precision)
            return found, 2 * at_once.unit(found) * at_once.spans(found)

        shape = potentials.shape[:-1]
        # nobody compares them
        own = potentials.size > FEW_POTENTIALS and int(many.sum()) < SHARED * len(many)
        precision = at_once.precision(many) if own else np.longdouble
        stack, top = at_once.stacked(shape, len(many), precision, logs, math.prod(shape), digits)
        return self._add(stack, top, many, lambda place: given(potentials[..., place]))

    def add_sums(self, sums: Sums, many: NDArray[Any]) -> tuple[Ints, Decimal]:
        """The numbers of sums of tables that stand on so many rows, and their log weight."""

        def made(place: int) -> Made:
            return self.summed(sums.terms(place), int(many[place]))

        if sums.often.dtype == object or (len(sums) <= FEW and len(sums.labels) <= FEW_TERMS):
            return self._add_each(map(made, range(len(sums))), many)
        first, lengths = sums.starts[:-1], np.diff(sums.starts)
        shapes = np.take_along_axis(
            self.shapes(sums.orders.shape[1], sums.labels[first]), sums.orders[first], axis=1
        )
        numbers, weights = np.empty(len(sums), dtype=np.int64), []
        for alike in members(group_rows(np.column_stack((shapes, lengths > at_once.LONG_SUM)))):
            precision = at_once.precision(many[alike])
            shape = tuple(shapes[alike[0]].tolist())
            values, error = self._added_up(sums.some(alike), shape, precision)
            short, again = lengths[alike] <= FEW_TERMS, partial(_one_of, made, alike)
            stack, top = at_once.without_tops(values, error)
            numbers[alike], weight = self._add(stack, top, many[alike], again, careful=short)
            weights.append(weight)
        return numbers, total(weights)

    def _added_up(
        self, sums: Sums, shape: tuple[int, ...], precision: Precision
    ) -> tuple[Table, Floats]:
        """Sums of one shape, and bounds on their errors."""
        many, often = len(sums.labels), sums.often.astype(np.float64)
        values: Table = np.empty((*shape, many), dtype=precision)
        error, span = np.empty(many), np.empty(many)
        same_order = members(group_rows(sums.orders)) if len(shape) else [np.arange(many)]
        for alike in same_order:
            terms = self.stack(sums.labels[alike])
            values[..., alike] = terms.values.transpose(*sums.orders[alike[0]], len(shape))
            error[alike], span[alike] = terms.error, terms.span
        result = at_once.added_up(values, often, sums.starts)
        sizes = np.add.reduceat(often * span, sums.starts[:-1])
        rounding = (np.diff(sums.starts) + 2) * at_once.unit(result) * sizes
        return result, np.add.reduceat(often * error, sums.starts[:-1]) + rounding

    def add_blocks(
        self,
        axes: Sequence[Axes],
        labels: Ints,
        sizes: Axes,
        together: int,
        many: NDArray[Any],
        maximise: bool,
    ) -> tuple[Ints, Decimal, Table | None]:
        """The numbers of products, first axes summed out, on so many rows, and their log weight.

        axes: for each table of a product which axis each of its slots is; labels: a row for each
        product; sizes: of the axes; together: how many are summed out. Last, where there are few
        products, log P(those | the others).
        """

        def block(place: int) -> tuple[Made, Table]:
            parts = list(zip(labels[place].tolist(), axes, strict=True))
            return self.block(parts, sizes, together, maximise)

        if len(labels) <= FEW or (len(labels) <= FEW_WIDE and self._wide(labels)):
            found = [block(place) for place in range(len(labels))]
            numbers, weight = self._add_each((made for made, _ in found), many)
            return numbers, weight, np.stack([conditional for _, conditional in found], axis=-1)
        precision = at_once.precision(many)

        def summed_out(start: int, stop: int) -> tuple[Table, Floats]:
            parts = self.parts(axes, labels[start:stop])
            return at_once.summed_out(parts, sizes, together, maximise, precision)

        entries = int(np.prod(sizes, dtype=np.int64))
        stack, top = at_once.stacked(sizes[together:], len(labels), precision, summed_out, entries)
        numbers, weight = self._add(stack, top, many, lambda place: block(place)[0])
        return numbers, weight, None

    def _wide(self, labels: Ints) -> bool:
        """Whether entries are so far apart that their differences are taken with care."""
        wide = self.widest > WIDE_SPAN
        return wide and float(self.spans(labels.reshape(-1)).max(initial=0)) > WIDE_SPAN

    def parts(self, axes: Sequence[Axes], labels: Ints) -> list[tuple[Stack, Axes]]:
        """The tables of products as stacks; axes: for each table the axis that each slot is."""
        return [(self.stack(column), own) for column, own in zip(labels.T, axes, strict=True)]

    def _add_each(self, made: Iterator[Made], many: NDArray[Any]) -> tuple[Ints, Decimal]:
        added = [self.add(each, int(often)) for each, often in zip(made, many, strict=True)]
        numbers = np.array([number for number, _ in added], dtype=np.int64)
        return numbers, total(weight for _, weight in added)

    def _add(
        self,
        stack: Stack,
        top: Table,
        many: NDArray[Any],
        made: Callable[[int], Made],
        careful: NDArray[np.bool_] | bool = True,
    ) -> tuple[Ints, Decimal]:
        """Add tables without their largest entries; what might break a promise is made again alone.

        top: these largest entries; made: the way to make a table again; careful: for which that may
        be done at all.
        """
        risky = (many * stack.error > PROMISE) | (stack.span > WIDE_SPAN)
        again = risky & careful
        plain = np.flatnonzero(~again)
        numbers = np.empty(len(stack), dtype=np.int64)
        left = stack if len(plain) == len(stack) else stack.some(plain)
        if 0 < len(plain) <= FEW_COMPARED or int(many[plain].sum()) >= SHARED * len(plain) > 0:
            numbers[plain] = self._compared(left, many[plain])
        elif len(plain):
            numbers[plain] = self._append(left)
        weights = [weighed((top[plain] * many[plain]).sum(), 1)]
        for place in np.flatnonzero(again).tolist():
            numbers[place], weight = self.add(made(place), int(many[place]))
            weights.append(weight)
        return numbers, total(weights)

    def _append(self, entry: Made | Stack) -> Ints:
        """The numbers of new tables."""
        self.widest = max(self.widest, float(np.max(entry.span, initial=0.0)))
        return self._numbered.append(entry, 1 if isinstance(entry, Made) else len(entry))

    # ---- tables that are the same

    def _known(self, made: Made, many: int) -> int:
        """The number of a table that is the same, or a new one."""
        alike = self._numbers.setdefault((made.values.shape, _squares(made.values).tobytes()), [])
        for number in alike:
            if _same(self.made(number), made, many):
                return number
        number = int(self._append(made)[0])
        if len(alike) < FEW_COMPARED:
            alike.append(number)
        return number

    def _compared(self, stack: Stack, many: NDArray[Any]) -> Ints:
        """The numbers of tables, of which those that are the same or known share one."""
        shape = stack.values.shape[:-1]
        squares = np.ascontiguousarray(_squares(stack.values).reshape(-1, len(stack)).T)
        group = np.zeros(len(stack), dtype=np.int64)
        if squares.shape[1]:
            group = group_rows_bitwise(squares)
        examples, uses = first_places(group), np.bincount(group, weights=many)
        numbers = np.empty(len(examples), dtype=np.int64)
        new: list[int] = []
        for place, example in enumerate(examples.tolist()):
            alike = self._numbers.setdefault((shape, squares[example].tobytes()), [])
            made = stack.made(example) if alike else None
            often = int(uses[place])
            known = (each for each in alike if made and _same(self.made(each), made, often))
            if (number := next(known, None)) is None:
                number = len(self) + len(new)
                new.append(example)
                if len(alike) < FEW_COMPARED:
                    alike.append(number)
            numbers[place] = number
        if new:
            self._append(stack.some(np.array(new)))
        found, first = numbers[group], examples[group]
        tolerance = stack.error + stack.error[first]
        near_first = at_once.near(stack.values, stack.values[..., first], tolerance)
        apart = np.flatnonzero(~near_first)
        if len(apart):
            found[apart] = self._beside_others(stack.some(apart), many[apart])
        return found

    def _beside_others(self, stack: Stack, many: NDArray[Any]) -> Ints:
        """The numbers of tables that share a square with others and yet differ from them.

        Few are compared with all others. Many differ by rounding alone, as sums do that should be
        one; then those are the same that are so bit by bit.
        """
        if len(stack) <= FEW_COMPARED:
            tables = zip(map(stack.made, range(len(stack))), many.tolist(), strict=True)
            return np.array([self._known(made, int(often)) for made, often in tables])
        return self._append(stack.some(first_places(stack.equal)))[stack.equal]

    # ---- one table made of others

    def summed(self, terms: Sum, many: int) -> Made:
        """The sum of tables, each with its axes in an order and to a power, for so many rows."""
        once = self._together(terms)
        made = [(self.made(label), order, often) for label, order, often in once]
        return carefully.summed(made, many)

    def _together(self, terms: Sum) -> Sum:
        """The terms, those that are the same up to slots that may be swapped once."""
        often_of: dict[tuple[int, Axes], tuple[Axes, Fraction]] = {}
        for label, order, often in terms:
            swappable = self.swappable(label) if len(terms) > 1 else order
            look = tuple(swappable[slot] for slot in order)
            first, before = often_of.get((label, look), (order, Fraction(0)))
            often_of[label, look] = first, before + often
        return tuple((label, order, often) for (label, _), (order, often) in often_of.items())

    def block(
        self, parts: Sequence[tuple[int, Axes]], sizes: Axes, together: int, maximise: bool
    ) -> tuple[Made, Table]:
        """The product of tables (label, and the axis each slot is) with its first axes summed out.

        together: how many axes are summed out. Second, log P(those | the others): product − result.
        """
        made = [(self.made(label), axes) for label, axes in parts]
        return carefully.summed_out(made, sizes, together, maximise)


def _one_of(made: Callable[[int], Made], places: Ints, place: int) -> Made:
    return made(int(places[place]))


def _squares(values: Table) -> Floats:
    """Each entry's square on a grid; only tables in the same squares are compared."""
    return np.floor(
        np.where(np.isneginf(values), -1e18, values).astype(np.float64) / _GRID + _OFFSET
    )


def _same(known: Made, made: Made, many: int) -> bool:
    """Whether a table that stands on so many rows may be taken for one that is known."""
    tolerance = known.rough_error + made.rough_error
    if many * (known.rough_error + tolerance) <= PROMISE:
        return near(known.values, made.values, tolerance)
    if not near(known.values, made.values, tolerance):
        return False
    if known.digits is None or made.digits is None:
        return near(known.values, made.values, 0) and near(known.twofold.rest, made.twofold.rest, 0)
    return max(known.digits.work, made.digits.work) <= FINE_WORK and same(
        known.digits.table, made.digits.table
    )
