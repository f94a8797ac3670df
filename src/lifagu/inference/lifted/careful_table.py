"""One log table, made with care: a bound on its rounding errors, and a way to know it better.

A new table is computed in extended precision together with a bound on its errors. Where that bound,
multiplied by the rows that the table stands on, is more than is promised, it is computed again with
more digits: small ones to 50, large ones in two parts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial, reduce
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats
from lifagu.basics.cached import cached_property
from lifagu.inference.lifted.double_digits import Twofold, whole
from lifagu.inference.lifted.fifty_digits import (
    SMALL,
    Fine,
    fine_block,
    fine_log_sum,
    fine_logs,
    fine_sum,
    rounded,
    stripped,
    total,
    weighed,
)
from lifagu.inference.lifted.integers import sets_of_members
from lifagu.inference.lifted.logs import (
    UNIT,
    Table,
    block_product,
    log_multinomial,
    log_sum,
    log_sum_error,
    multinomial_error,
    powers,
    span,
    spread_axes,
)

PROMISE = 1e-11  # by how much all rows of a table together may be off, as logs
FINE_WORK = 2**16  # entries that may be computed to 50 digits for one table
WIDE_SPAN = 1e4  # of a table from which on differences of its entries are taken in two parts


@dataclass(frozen=True, eq=False)
class Digits:
    """A way to compute a table to 50 digits (which is kept), and how many entries that takes."""

    compute: Callable[[], Fine]
    work: int

    @cached_property
    def table(self) -> Fine:
        """The table."""
        return self.compute()


@dataclass(frozen=True, eq=False)
class Made:
    """A log table: its values, what they leave out if known, a bound on the errors of both."""

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


def summed(made: Sequence[tuple[Made, tuple[int, ...], Fraction]], many: int) -> Made:
    """The sum of tables, each with its axes in an order and to a power, for so many rows."""
    size = made[0][0].values.size
    sizes = sum(float(often) * each.span for each, _, often in made)
    rough = sum(float(often) * each.rough_error for each, _, often in made)
    error = rough + (len(made) + 2) * UNIT * sizes
    orders, powers_of = [order for _, order, _ in made], [often for _, _, often in made]
    digits = _digits(
        [each for each, _, _ in made],
        size * len(made),
        lambda fine: fine_sum(list(zip(fine, orders, powers_of, strict=True))),
    )
    if many * error > PROMISE and (digits is None or digits.work > FINE_WORK):
        exact = sum(float(often) * each.error for each, _, often in made)
        terms = (
            each.twofold.changed(partial(np.transpose, axes=order)).times(_fraction(often))
            for each, order, often in made
        )
        return _in_two_parts(terms, exact + 4 * len(made) * UNIT**2 * sizes)
    values = sum(_power(each.values.transpose(order), often) for each, order, often in made)
    return Made(np.asarray(values), error, None, digits)


def summed_out(
    made: Sequence[tuple[Made, tuple[int, ...]]],
    sizes: tuple[int, ...],
    together: int,
    maximise: bool,
) -> tuple[Made, Table]:
    """The product of tables with its first axes summed out, and what these are given the rest.

    made: tables, and which axis of the product each of their slots is; together: how many axes are
    summed out. Second, log P(those | the others): product − result.
    """
    first, spans = tuple(range(together)), sum(each.span for each, _ in made)
    product = np.zeros(sizes, dtype=np.longdouble)
    if any(each.rest is not None or each.span > WIDE_SPAN for each, _ in made):
        spread = (
            each.twofold.changed(partial(spread_axes, axes=axes, shape=sizes))
            for each, axes in made
        )
        in_two = reduce(Twofold.plus, spread, Twofold(product, product))
        result, conditional, rest = _summed_out_twofold(in_two, first, maximise)
        error = sum(each.error for each, _ in made) + 4 * len(made) * UNIT**2 * spans
        rounded_result = np.zeros_like(result)
    else:
        product = block_product([(each.values, axes) for each, axes in made], product)
        result = product.max(axis=first) if maximise else log_sum(product, axis=first)
        conditional, rest = product - np.where(np.isneginf(result), 0, result), None
        error = sum(each.rough_error for each, _ in made) + (len(made) + 1) * UNIT * spans
        rounded_result = result
    if maximise:
        return Made(result, error, rest), conditional
    error += log_sum_error(math.prod(sizes[:together]), rounded_result)
    finely = partial(_fine_summed_out, [axes for _, axes in made], sizes, together)
    work = math.prod(sizes) * (len(made) + 1)
    return Made(result, error, rest, _digits([each for each, _ in made], work, finely)), conditional


def _fine_summed_out(
    axes: Sequence[tuple[int, ...]], sizes: tuple[int, ...], together: int, fine: Sequence[Fine]
) -> Fine:
    product = fine_block(list(zip(fine, axes, strict=True)), sizes)
    return fine_log_sum(product.reshape(-1, *sizes[together:]))


def without_top(made: Made, many: int) -> tuple[Made, Decimal]:
    """The table without its largest entry, and the log weight of that on so many rows.

    Known better where promised. One of zeros stays as it is and makes the log weight -inf.
    """
    highest = made.values.max(initial=-np.inf)
    if highest == -np.inf:
        return Made(made.values), weighed(-math.inf, many)
    digits = made.digits
    if digits is not None and many * made.rough_error > PROMISE and digits.work <= FINE_WORK:
        top, left = stripped(digits.table)
        parts = rounded(left)
        error, known = UNIT**2 * span(parts.main), Digits(lambda: left, 0)
        return Made(parts.main, error, parts.rest, known), weighed(top, many)
    values = np.asarray(made.values - highest) + 0
    error = made.error + (0.0 if made.rest is not None else UNIT * span(values))
    weight, rest = weighed(highest, many), None
    if made.rest is not None:
        below = np.longdouble(made.rest.reshape(-1)[made.values.argmax()])
        parts = made.twofold.minus(
            Twofold(np.full_like(values, highest), np.full_like(values, below))
        )
        values, rest, weight = parts.main, parts.rest, total([weight, weighed(below, many)])
    return Made(values, error, rest, stripped_digits(digits)), weight


def counted(made: Made, slots: Sequence[int], tie: int, counts: NDArray[Any], many: int) -> Made:
    """The product of a symmetric table over all sets of members, as one of (histogram, others).

    Each way to give values to the slots counts as often as there are sets of members with these
    values. tie: the slot that holds the histogram itself, -1 if none does.
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
    """The sum of tables to whole powers, which have the shape of the result, for so many rows."""
    most = [abs(int(often.max(initial=0))) for often, _ in terms]
    sizes = sum(count * each.span for count, (_, each) in zip(most, terms, strict=True))
    rough = sum(count * each.rough_error for count, (_, each) in zip(most, terms, strict=True))
    error = rough + (len(terms) + 2) * UNIT * sizes
    if many * error <= PROMISE:
        values = sum(powers(often.astype(np.longdouble), each.values) for often, each in terms)
        return Made(np.asarray(values, dtype=np.longdouble), error)
    exact = sum(count * each.error for count, (_, each) in zip(most, terms, strict=True))
    parts = (each.twofold.times(whole(often)) for often, each in terms)
    return _in_two_parts(parts, exact + 4 * len(terms) * UNIT**2 * sizes)


def _in_two_parts(terms: Iterable[Twofold], error: float) -> Made:
    """The sum of tables in two parts, with a bound on its errors."""
    result = reduce(Twofold.plus, terms)
    return Made(result.main, error, result.rest)


def _digits(
    made: Sequence[Made], work: int, compute: Callable[[Sequence[Fine]], Fine]
) -> Digits | None:
    """How to make a table of others to 50 digits; None if large, or one is not known so."""
    known = [each.digits for each in made if each.digits is not None]
    if not made or work > SMALL * 4 or len(known) < len(made):
        return None
    return Digits(
        lambda: compute([each.table for each in known]), work + sum(each.work for each in known)
    )


def _summed_out_twofold(
    product: Twofold, axes: tuple[int, ...], maximise: bool
) -> tuple[Table, Table, Table]:
    """The result, its conditional and what the result leaves out, of a product in two parts."""
    highest = product.main.max(axis=axes, keepdims=True, initial=-np.inf)
    shift = np.where(np.isneginf(highest), 0, highest)
    below = product.minus(Twofold(shift, np.zeros_like(shift))).main
    summed = below.max(axis=axes) if maximise else log_sum(below, axis=axes)
    inner = np.expand_dims(summed, axes)
    conditional = below - np.where(np.isneginf(inner), 0, inner)
    result = Twofold(inner, np.zeros_like(inner)).plus(Twofold(shift, np.zeros_like(shift)))
    return np.squeeze(result.main, axis=axes), conditional, np.squeeze(result.rest, axis=axes)


def stripped_digits(digits: Digits | None) -> Digits | None:
    """How a table without its largest entry is computed to 50 digits."""
    return None if digits is None else Digits(lambda: stripped(digits.table)[1], digits.work)


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
