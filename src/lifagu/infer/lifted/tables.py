"""Tables by number: each log table once, with a bound on its rounding errors and a way to know it better.

A new table is computed in extended precision together with a bound on its errors. Where that bound, multiplied by the
rows that the table stands on, is more than is promised, it is computed again with more digits: small ones to 50, large
ones in two parts. Tables that differ by no more than their errors share a number, unless that breaks the promise, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifagu.arrays import Floats, Ints
from lifagu.infer.lifted.fine import (
    SMALL,
    Fine,
    fine_block,
    fine_log_sum,
    fine_logs,
    fine_sum,
    rounded,
    same,
    stripped,
    total,
    weighed,
)
from lifagu.infer.lifted.integers import sets_of_members
from lifagu.infer.lifted.logs import (
    UNIT,
    Table,
    block_product,
    log_multinomial,
    log_sum,
    log_sum_error,
    multinomial_error,
    near,
    powers,
    span,
    spread_axes,
    swappable_slots,
    symmetric,
)
from lifagu.infer.lifted.twofold import Twofold, whole

PROMISE = 1e-11  # by how much all rows of a table together may be off, as logs
FINE_WORK = 2**16  # entries that may be computed to 50 digits for one table
WIDE_SPAN = 1e4  # of a table from which on differences of its entries are taken in two parts
_GRID = 2.0**-36  # tables in the same squares of this grid are compared
_OFFSET = 0.3719  # of the grid, so that round numbers are not at its lines

Sum = tuple[tuple[int, tuple[int, ...], Fraction], ...]  # tables: label, order in which to take its axes, how often
Parts = Sequence[tuple[int, tuple[int, ...]]]  # tables: label, and which axis of the whole each of its slots is


@dataclass(frozen=True, eq=False)
class Digits:
    """A way to compute a table to 50 digits, and how many entries that takes; what was computed is kept."""

    compute: Callable[[], Fine]
    work: int

    @cached_property
    def table(self) -> Fine:
        """The table."""
        return self.compute()


@dataclass(frozen=True, eq=False)
class Made:
    """A log table: its values, what they leave out where that is known, and a bound on the errors of both together."""

    values: Table
    error: float = 0.0
    rest: Table | None = None
    digits: Digits | None = None

    @cached_property
    def span(self) -> float:
        """The largest finite entry by absolute value."""
        return span(self.values)

    @property
    def rough_error(self) -> float:
        """A bound on the errors of the values alone."""
        return self.error + (0.0 if self.rest is None else UNIT * self.span)

    @property
    def twofold(self) -> Twofold:
        """The table in two parts."""
        return Twofold(self.values, np.zeros_like(self.values) if self.rest is None else self.rest)

    def changed(self, change: Callable[[Any], Any]) -> Made:
        """The table with its entries moved or repeated, none of them computed anew."""
        digits, rest = self.digits, self.rest
        return Made(
            change(self.values),
            self.error,
            None if rest is None else change(rest),
            None if digits is None else Digits(lambda: change(digits.table), digits.work),
        )


def given(potentials: Floats, logs: Table | None = None, error: float = 0.0) -> Made:
    """A table that was given; logs: where they are known already, with a bound on their errors."""
    if logs is None:
        with np.errstate(divide="ignore"):
            logs = np.log(potentials.astype(np.longdouble))
        error = 2 * UNIT * span(logs)
    return Made(logs, error, None, Digits(lambda: fine_logs(potentials), potentials.size))


def histogram_weights(counts: NDArray[Any], maximise: bool) -> Made:
    """For each histogram how many assignments it stands for; where only the best counts, one."""
    if maximise:
        return Made(np.zeros(len(counts), dtype=np.longdouble))
    return Made(log_multinomial(counts), multinomial_error(counts))


@dataclass(eq=False)
class TablePool:
    """All tables of a problem, by number; it only ever grows, so that problems made from one another can share it."""

    made: list[Made] = field(default_factory=list)
    _numbers: dict[tuple[tuple[int, ...], bytes], list[int]] = field(default_factory=dict)
    _swappable: dict[int, tuple[int, ...]] = field(default_factory=dict)
    widest: float = 0.0  # the largest span of all tables

    def __getitem__(self, number: int) -> Table:
        return self.made[number].values

    def __len__(self) -> int:
        return len(self.made)

    def copy(self) -> TablePool:
        """Tables that go on from here on their own."""
        numbers = {key: list(each) for key, each in self._numbers.items()}
        return TablePool(list(self.made), numbers, dict(self._swappable), self.widest)

    # ---- adding

    def add(self, made: Made, many: int) -> tuple[int, Decimal]:
        """The number of a table that stands on so many rows, and the log weight of its maximum on all of them.

        The table is kept without its maximum. One that is zero everywhere makes the log weight -inf.
        """
        highest = made.values.max(initial=-np.inf)
        if highest == -np.inf:
            return self._known(Made(made.values), many), weighed(-math.inf, many)
        digits = made.digits
        if digits is not None and many * made.rough_error > PROMISE and digits.work <= FINE_WORK:
            top, left = stripped(digits.table)
            parts = rounded(left)
            fine = Made(parts.main, UNIT**2 * span(parts.main), parts.rest, Digits(lambda: left, 0))
            return self._known(fine, many), weighed(top, many)
        values = np.asarray(made.values - highest) + 0
        error = made.error + (0.0 if made.rest is not None else UNIT * span(values))
        weight, rest = weighed(highest, many), None
        if made.rest is not None:
            below = _rest_of_highest(made)
            parts = made.twofold.minus(Twofold(np.full_like(values, highest), np.full_like(values, below)))
            values, rest, weight = parts.main, parts.rest, total([weight, weighed(below, many)])
        return self._known(Made(values, error, rest, _without_top(digits)), many), weight

    def add_given(self, potentials: Floats, logs: Table, unit: float, many: Ints, shared: bool) -> tuple[Ints, Decimal]:
        """The numbers of given tables (one each along the first axis) that stand on so many rows, and their log weight.

        unit: a bound on the relative errors of their logs. shared: whether to look for tables that are the same;
        where hardly any table has two rows, that is not worth it.
        """
        flat = logs.reshape(len(logs), -1)
        highest = flat.max(axis=1, initial=-np.inf)
        top = np.where(np.isneginf(highest), 0, highest)
        below = flat - top[:, None]
        spans = -below.min(axis=1, where=below > -np.inf, initial=0).astype(np.float64)
        error = unit * (spans + np.abs(top).astype(np.float64)) + UNIT * spans
        plain = (many * error <= PROMISE) & ~np.isneginf(highest) & (not shared)
        self.widest = max(self.widest, float(spans.max(initial=0)))
        shape, numbers, weights = logs.shape[1:], np.empty(len(logs), dtype=np.int64), []
        for place, alone in enumerate(plain.tolist()):
            if alone:
                numbers[place] = len(self.made)
                digits = _without_top(Digits(partial(fine_logs, potentials[place]), flat.shape[1]))
                self.made.append(Made(below[place].reshape(shape), float(error[place]), None, digits))
            else:
                made = given(potentials[place], logs[place], unit * span(logs[place]))
                numbers[place], weight = self.add(made, int(many[place]))
                weights.append(weight)
        return numbers, total([*weights, weighed((highest * many)[plain].sum(), 1)])

    def _known(self, made: Made, many: int) -> int:
        """The number of a table that is the same, or a new one."""
        alike = self._numbers.setdefault((made.values.shape, _squares(made.values).tobytes()), [])
        for number in alike:
            if _same(self.made[number], made, many):
                return number
        alike.append(len(self.made))
        self.made.append(made)
        self.widest = max(self.widest, made.span)
        return alike[-1]

    # ---- tables made of others

    def summed(self, terms: Sum, many: int) -> Made:
        """The sum of tables, each with its axes in an order and to a power, for so many rows."""
        made = [(self.made[label], order, often) for label, order, often in self._together(terms)]
        size = made[0][0].values.size
        sizes = sum(float(often) * each.span for each, _, often in made)
        error = sum(float(often) * each.rough_error for each, _, often in made) + (len(made) + 2) * UNIT * sizes
        digits = _digits([each for each, _, _ in made], size * len(made))
        if digits is not None:
            tables = [(digits_of(each), order, often) for each, order, often in made]
            digits = Digits(
                lambda: fine_sum([(each.table, order, often) for each, order, often in tables]), digits.work
            )
        if many * error > PROMISE and (digits is None or digits.work > FINE_WORK):
            so_far: Twofold | None = None
            for each, order, often in made:
                parts = each.twofold
                term = Twofold(parts.main.transpose(order), parts.rest.transpose(order)).times(_fraction(often))
                so_far = term if so_far is None else so_far.plus(term)
            assert so_far is not None, "a sum has terms"
            exact = sum(float(often) * each.error for each, _, often in made) + 4 * len(made) * UNIT**2 * sizes
            return Made(so_far.main, exact, so_far.rest)
        values = sum(_power(each.values.transpose(order), often) for each, order, often in made)
        return Made(np.asarray(values), error, None, digits)

    def _together(self, terms: Sum) -> Sum:
        """The terms, those that are the same up to slots that may be swapped once."""
        often_of: dict[tuple[int, tuple[int, ...]], tuple[tuple[int, ...], Fraction]] = {}
        for label, order, often in terms:
            swappable = self.swappable(label) if len(terms) > 1 else order
            look = tuple(swappable[slot] for slot in order)
            first, before = often_of.get((label, look), (order, Fraction(0)))
            often_of[label, look] = first, before + often
        return tuple((label, order, often) for (label, _), (order, often) in often_of.items())

    def block(
        self, parts: Parts, sizes: tuple[int, ...], together: int, many: int, maximise: bool
    ) -> tuple[Made, Table]:
        """The product of tables with its first axes summed out, for so many rows, and what was given the rest.

        together: how many axes are summed out. Second, log P(those | the others): product − result.
        """
        made = [(self.made[label], axes) for label, axes in parts]
        summed = tuple(range(together))
        error = sum(each.rough_error for each, _ in made) + (len(made) + 1) * UNIT * sum(each.span for each, _ in made)
        if any(each.rest is not None or each.span > WIDE_SPAN for each, _ in made):
            product = Twofold(np.zeros(sizes, dtype=np.longdouble), np.zeros(sizes, dtype=np.longdouble))
            for each, axes in made:
                two = each.twofold
                product = product.plus(Twofold(spread_axes(two.main, axes, sizes), spread_axes(two.rest, axes, sizes)))
            result, conditional, rest = _summed_out_twofold(product, summed, maximise)
            error = sum(each.error for each, _ in made) + 4 * len(made) * UNIT**2 * sum(each.span for each, _ in made)
        else:
            whole_product = block_product(
                [(each.values, axes) for each, axes in made], np.zeros(sizes, dtype=np.longdouble)
            )
            result = whole_product.max(axis=summed) if maximise else log_sum(whole_product, axis=summed)
            conditional, rest = whole_product - np.where(np.isneginf(result), 0, result), None
        if not maximise:
            error += log_sum_error(math.prod(sizes[:together]), result if rest is None else np.zeros_like(result))
        digits = None if maximise else _digits([each for each, _ in made], math.prod(sizes) * (len(made) + 1))
        if digits is not None:
            tables = [(digits_of(each), axes) for each, axes in made]
            digits = Digits(lambda: _fine_summed_out(tables, sizes, together), digits.work)
        return Made(result, error, rest, digits), conditional

    # ---- looking at tables

    def slot_classes(self, arity: int, labels: Ints) -> Ints:
        """For each label which slots of its table may be swapped: rows of class numbers."""
        distinct, number = np.unique(labels, return_inverse=True)
        classes = [self.swappable(label) for label in distinct.tolist()]
        return np.array(classes, dtype=np.int64).reshape(len(distinct), arity)[number.reshape(-1)]

    def swappable(self, number: int) -> tuple[int, ...]:
        """For each slot of a table the first one it may be swapped with, up to its errors."""
        if number not in self._swappable:
            made = self.made[number]
            self._swappable[number] = swappable_slots(made.values, 2 * made.rough_error)
        return self._swappable[number]

    def symmetric(self, number: int, slots: Sequence[int]) -> bool:
        """Whether swapping any two of the slots leaves a table as it is, up to its errors."""
        made = self.made[number]
        return symmetric(made.values, slots, 2 * made.rough_error)


def counted(made: Made, slots: Sequence[int], tie: int, counts: NDArray[Any], many: int) -> Made:
    """The product of a symmetric table over all sets of members in its slots, as a table of (histogram, others).

    Each way to give values to the slots counts as often as there are sets of members with these values. tie: the slot
    that holds the histogram itself, -1 if none does.
    """
    front = (*slots, *(() if tie < 0 else (tie,)))
    moved = made.changed(lambda table: np.moveaxis(table, front, range(len(front))))
    terms = []
    for values in combinations_with_replacement(range(counts.shape[1]), len(slots)):
        place = values if tie >= 0 else (*values, None)
        piece = moved.changed(lambda table, place=place: table[place])  # type: ignore[misc]
        often = sets_of_members(counts, values)
        terms.append((often.reshape(-1, *(1,) * (piece.values.ndim - 1)), piece))
    return weighted(terms, many)


def weighted(terms: Sequence[tuple[NDArray[Any], Made]], many: int) -> Made:
    """The sum of tables to the power of whole numbers, which have the shape of the result, for so many rows."""
    most = [abs(int(often.max(initial=0))) for often, _ in terms]
    sizes = sum(count * each.span for count, (_, each) in zip(most, terms, strict=True))
    rough = sum(count * each.rough_error for count, (_, each) in zip(most, terms, strict=True))
    error = rough + (len(terms) + 2) * UNIT * sizes
    if many * error <= PROMISE:
        values = sum(powers(often.astype(np.longdouble), each.values) for often, each in terms)
        return Made(np.asarray(values, dtype=np.longdouble), error)
    so_far: Twofold | None = None
    for often, each in terms:
        term = each.twofold.times(whole(often))
        so_far = term if so_far is None else so_far.plus(term)
    assert so_far is not None, "a range has values"
    exact = sum(count * each.error for count, (_, each) in zip(most, terms, strict=True))
    return Made(so_far.main, exact + 4 * len(terms) * UNIT**2 * sizes, so_far.rest)


def digits_of(made: Made) -> Digits:
    """How a table is computed to 50 digits, where that is known."""
    assert made.digits is not None, "looked at before"
    return made.digits


def _digits(made: Sequence[Made], work: int) -> Digits | None:
    """The work that 50 digits take for a table made of others; None if it is large or one of them is not known so."""
    if not made or work > SMALL * 4 or any(each.digits is None for each in made):
        return None
    return Digits(lambda: np.empty(0, dtype=object), work + sum(digits_of(each).work for each in made))


def _fine_summed_out(parts: Sequence[tuple[Digits, tuple[int, ...]]], sizes: tuple[int, ...], together: int) -> Fine:
    product = fine_block([(digits.table, axes) for digits, axes in parts], sizes)
    return fine_log_sum(product.reshape(-1, *sizes[together:]))


def _summed_out_twofold(product: Twofold, axes: tuple[int, ...], maximise: bool) -> tuple[Table, Table, Table]:
    """The result, its conditional and what the result leaves out, of a product in two parts."""
    highest = product.main.max(axis=axes, keepdims=True, initial=-np.inf)
    shift = np.where(np.isneginf(highest), 0, highest)
    below = product.minus(Twofold(shift, np.zeros_like(shift))).main
    inner = below.max(axis=axes, keepdims=True) if maximise else np.expand_dims(log_sum(below, axis=axes), axes)
    conditional = below - np.where(np.isneginf(inner), 0, inner)
    result = Twofold(inner, np.zeros_like(inner)).plus(Twofold(shift, np.zeros_like(shift)))
    return np.squeeze(result.main, axis=axes), conditional, np.squeeze(result.rest, axis=axes)


def _squares(values: Table) -> Floats:
    """For each entry its square on a grid; tables are compared only with those in the same squares."""
    return np.floor(np.where(np.isneginf(values), -1e18, values).astype(np.float64) / _GRID + _OFFSET)


def _same(known: Made, made: Made, many: int) -> bool:
    """Whether a table that stands on so many rows may be taken for one that is known."""
    tolerance = known.rough_error + made.rough_error
    if many * (known.rough_error + tolerance) <= PROMISE:
        return near(known.values, made.values, tolerance)
    if not near(known.values, made.values, tolerance):
        return False
    if known.digits is None or made.digits is None:
        return near(known.values, made.values, 0) and near(known.twofold.rest, made.twofold.rest, 0)
    return max(known.digits.work, made.digits.work) <= FINE_WORK and same(known.digits.table, made.digits.table)


def _without_top(digits: Digits | None) -> Digits | None:
    return None if digits is None else Digits(lambda: stripped(digits.table)[1], digits.work)


def _rest_of_highest(made: Made) -> np.longdouble:
    """What the largest entry leaves out."""
    assert made.rest is not None, "asked only where there is a rest"
    return np.longdouble(made.rest.reshape(-1)[made.values.argmax()])


def _power(table: Table, often: Fraction) -> Table:
    """The table to the power of a count."""
    if not often:
        return np.zeros_like(table)
    return table * (np.longdouble(often.numerator) / np.longdouble(often.denominator))


def _fraction(often: Fraction) -> Twofold:
    """A number in two parts."""
    main = np.longdouble(often.numerator) / np.longdouble(often.denominator)
    left = often - Fraction(*main.as_integer_ratio())
    rest = np.longdouble(left.numerator) / np.longdouble(left.denominator)
    return Twofold(np.asarray(main), np.asarray(rest))
