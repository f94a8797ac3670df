"""Tables for rows that are kept elsewhere, such as in a database, and know them by number alone.

Rows never come here and tables never go there: a label says all that rows need to know about a table, and each new
label is computed once for all rows that get it. A label without a table stands for an unknown one; whatever it is
multiplied with becomes unknown, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations

import numpy as np

from lifagu.arrays import Floats
from lifagu.infer.lifted.algebra import Table, counted_table, histograms, log_multinomial, symmetric
from lifagu.infer.lifted.fine import MANY, SMALL, fine_logs
from lifagu.infer.lifted.state import Pool
from lifagu.infer.lifted.steps import MOST_ENTRIES, add_block, add_sum, number_of_histograms

Shape = tuple[int, ...]
Parts = Sequence[tuple[int, tuple[int, ...]]]


class Labels:
    """Labels by number; None is the label of rows without arguments, which become part of log Z."""

    def __init__(self) -> None:
        self.pool = Pool()
        self._kinds: list[tuple[int | None, Shape]] = []  # the number in the pool, None if unknown, and the shape
        self._numbers: dict[tuple[int | None, Shape], int] = {}

    def shape(self, label: int) -> Shape:
        """The range size of each slot."""
        return self._kinds[label][1]

    def number(self, label: int) -> int | None:
        """Its number in the pool, None if it is unknown."""
        return self._kinds[label][0]

    def swappable(self, label: int) -> tuple[int, ...]:
        """For each slot the first one it may be swapped with without changing the table."""
        number, shape = self._kinds[label]
        if number is None:
            return tuple(range(len(shape)))
        return tuple(self.pool.slot_classes(len(shape), np.array([number]))[0].tolist())

    def given(self, potentials: Floats | None, shape: Shape, observed: Sequence[int], many: int) -> int | None:
        """The label of a table on so many rows, with observed values (-1: none) fixed; None potentials are unknown."""
        left = tuple(size for size, value in zip(shape, observed, strict=True) if value < 0)
        if potentials is None:
            return self._label(None, left)
        fixed = tuple(value if value >= 0 else slice(None) for value in observed)
        sliced = np.asarray(potentials.reshape(shape)[fixed])
        if many >= MANY and sliced.size <= SMALL:
            return self._label(self.pool.add_fine(fine_logs(sliced), many), left)
        with np.errstate(divide="ignore"):
            return self._label(self.pool.add(np.log(sliced.astype(np.longdouble)), many), left)

    def power(self, label: int, times: int, many: int) -> int:
        """The label of a table to a power, for rows that stood there so often; many: such rows."""
        number, shape = self._kinds[label]
        if number is not None:
            number = add_sum(self.pool, ((number, tuple(range(len(shape))), Fraction(times)),), many)
        return self._known(number, shape)

    def summed(self, parts: Parts, sizes: Shape, together: int, many: int) -> int | None:
        """The label of a product of tables with its first axes summed out.

        parts: labels, and the axis of the product that each slot is; sizes: of these axes; together: how many of them
        are summed out; many: the rows that the result stands on.
        """
        numbers = [(self.number(label), axes) for label, axes in parts]
        known = [(number, axes) for number, axes in numbers if number is not None]
        if len(known) < len(parts):
            return self._label(None, sizes[together:])
        return self._label(add_block(self.pool, known, sizes, together, many)[2], sizes[together:])

    def histogram(self, members: int, size: int) -> int | None:
        """The label of the weights of a histogram of so many members with a range of this size; None if too large."""
        if number_of_histograms(members, size) > MOST_ENTRIES:
            return None
        counts = histograms(members, size)
        return self._label(self.pool.add(log_multinomial(counts), 1), (len(counts),))

    def counts(self, label: int, slots: Sequence[int], members: int, ordered: bool) -> bool:
        """Whether a table may be counted over members in these slots, and is not too large then; ordered as below."""
        number, shape = self._kinds[label]
        others = math.prod(size for slot, size in enumerate(shape) if slot not in slots)
        if number_of_histograms(members, shape[slots[0]]) * others > MOST_ENTRIES:
            return False
        return ordered or number is None or symmetric(self.pool[number], slots)

    def counted(self, label: int, slots: tuple[int, ...], members: int, ordered: bool, many: int) -> int:
        """The label of a table over all members in its slots: on their histogram, then the others.

        ordered: members stand there in all orders, so that a set of them counts with all orders of its axes; else each
        set stands there once, and the table is symmetric.
        """
        number, shape = self._kinds[label]
        counts = histograms(members, shape[slots[0]])
        left = (len(counts), *(size for slot, size in enumerate(shape) if slot not in slots))
        if number is not None:
            parts = [_in_all_orders(part, slots) if ordered else part for part in self.pool.parts(number)]
            number = self.pool.add(counted_table(parts, slots, counts), many)
        return self._known(number, left)

    def free(self, size: int, many: int) -> None:
        """So many variables of this range size that stand in no row."""
        self.pool.scales.append(many * math.log(size))

    def _label(self, number: int | None, shape: Shape) -> int | None:
        return self._known(number, shape) if shape else None

    def _known(self, number: int | None, shape: Shape) -> int:
        label = self._numbers.setdefault((number, shape), len(self._kinds))
        if label == len(self._kinds):
            self._kinds.append((number, shape))
        return label


def _in_all_orders(table: Table, slots: tuple[int, ...]) -> Table:
    """The sum of a log table over all orders of some of its axes, which are of one size."""
    total = np.zeros_like(table)
    for order in permutations(slots):
        total = total + np.moveaxis(table, slots, order)
    return total
