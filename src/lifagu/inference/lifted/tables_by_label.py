"""Tables for rows that are kept elsewhere, such as in a database, and know them by number alone.

Rows never come here and tables never go there: a label says all that rows need to know about a
table, and each new label is computed once for all rows that get it. A label without a table stands
for an unknown one; whatever it is multiplied with becomes unknown, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import permutations

import numpy as np

from lifagu.basics.arrays import Floats
from lifagu.inference.lifted.careful_table import Made, counted, given, histogram_weights
from lifagu.inference.lifted.counting import MOST_ENTRIES
from lifagu.inference.lifted.fifty_digits import total, weighed_log
from lifagu.inference.lifted.integers import histograms, number_of_histograms
from lifagu.inference.lifted.tables import TablePool

Shape = tuple[int, ...]
Parts = Sequence[tuple[int, tuple[int, ...]]]


class Labels:
    """Labels by number; None is the label of rows without arguments, which become part of log Z."""

    def __init__(self) -> None:
        self.tables = TablePool()
        self.collected = Decimal(0)  # log Z so far
        # the number of the table, None if unknown, and the shape
        self._kinds: list[tuple[int | None, Shape]] = []
        self._numbers: dict[tuple[int | None, Shape], int] = {}

    def shape(self, label: int) -> Shape:
        """The range size of each slot."""
        return self._kinds[label][1]

    def number(self, label: int) -> int | None:
        """The number of its table, None if it is unknown."""
        return self._kinds[label][0]

    def swappable(self, label: int) -> tuple[int, ...]:
        """For each slot the first one it may be swapped with without changing the table."""
        number, shape = self._kinds[label]
        if number is None:
            return tuple(range(len(shape)))
        return self.tables.swappable(number)

    def given(
        self, potentials: Floats | None, shape: Shape, observed: Sequence[int], many: int
    ) -> int | None:
        """The label of a table on so many rows, observed values (-1: none) fixed; None: unknown."""
        left = tuple(size for size, value in zip(shape, observed, strict=True) if value < 0)
        if potentials is None:
            return self._label(None, left)
        fixed = tuple(value if value >= 0 else slice(None) for value in observed)
        sliced = np.asarray(potentials.reshape(shape)[fixed])
        return self._label(self._add(given(sliced), many), left)

    def power(self, label: int, times: int, many: int) -> int:
        """The label of a table to a power, for rows that stood there so often; many: such rows."""
        number, shape = self._kinds[label]
        if number is not None:
            terms = ((number, tuple(range(len(shape))), Fraction(times)),)
            number = self._add(self.tables.summed(terms, many), many)
        return self._known(number, shape)

    def summed(self, parts: Parts, sizes: Shape, together: int, many: int) -> int | None:
        """The label of a product of tables with its first axes summed out.

        parts: labels, and the axis of the product that each slot is; sizes: of these axes;
        together: how many of them are summed out; many: the rows that the result stands on.
        """
        numbers = [(self.number(label), axes) for label, axes in parts]
        known = [(number, axes) for number, axes in numbers if number is not None]
        if len(known) < len(parts):
            return self._label(None, sizes[together:])
        made, _ = self.tables.block(known, sizes, together, maximise=False)
        return self._label(self._add(made, many), sizes[together:])

    def histogram(self, members: int, size: int) -> int | None:
        """The label of the weights of histograms of so many members; None if too large."""
        if number_of_histograms(members, size) > MOST_ENTRIES:
            return None
        counts = histograms(members, size)
        return self._label(self._add(histogram_weights(counts, maximise=False), 1), (len(counts),))

    def counts(self, label: int, slots: Sequence[int], members: int, ordered: bool) -> bool:
        """Whether a table may be counted over members in slots; `ordered` as below."""
        number, shape = self._kinds[label]
        others = math.prod(size for slot, size in enumerate(shape) if slot not in slots)
        if number_of_histograms(members, shape[slots[0]]) * others > MOST_ENTRIES:
            return False
        return ordered or number is None or self.tables.symmetric(number, slots)

    def counted(
        self, label: int, slots: tuple[int, ...], members: int, ordered: bool, many: int
    ) -> int:
        """The label of a table over all members in its slots: on their histogram, then the others.

        ordered: members stand there in all orders, so that a set of them counts with all orders of
        its axes; else each set stands there once, and the table is symmetric.
        """
        number, shape = self._kinds[label]
        counts = histograms(members, shape[slots[0]])
        left = (len(counts), *(size for slot, size in enumerate(shape) if slot not in slots))
        if number is not None:
            sets = many * math.comb(members, len(slots))
            made = self._in_all_orders(number, slots, sets) if ordered else self.tables.made(number)
            number = self._add(counted(made, slots, -1, counts, many), many)
        return self._known(number, left)

    def free(self, size: int, many: int) -> None:
        """So many variables of this range size that stand in no row."""
        self.collected = total([self.collected, weighed_log(size, many)])

    def _add(self, made: Made, many: int) -> int:
        number, weight = self.tables.add(made, many)
        self.collected = total([self.collected, weight])
        return number

    def _in_all_orders(self, number: int, slots: tuple[int, ...], many: int) -> Made:
        """The sum of a table over all orders of some axes, for so many sets of members."""
        terms = []
        for order in permutations(slots):
            axes = list(range(self.tables[number].ndim))
            for slot, own in zip(slots, order, strict=True):
                axes[slot] = own
            terms.append((number, tuple(axes), Fraction(1)))
        return self.tables.summed(tuple(terms), many)

    def _label(self, number: int | None, shape: Shape) -> int | None:
        return self._known(number, shape) if shape else None

    def _known(self, number: int | None, shape: Shape) -> int:
        label = self._numbers.setdefault((number, shape), len(self._kinds))
        if label == len(self._kinds):
            self._kinds.append((number, shape))
        return label
