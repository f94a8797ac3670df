"""Small log tables to 50 digits: 10¹⁵ rows multiply a table's rounding errors by that."""

from __future__ import annotations

import decimal
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats
from lifagu.inference.lifted.double_digits import Twofold
from lifagu.inference.lifted.logs import block_product

SMALL = 2**12  # entries up to which it costs little
Fine = NDArray[np.object_]
_CONTEXT = decimal.Context(prec=50, Emin=-(10**15), Emax=10**15)
_EXACT = decimal.Context(prec=100, Emin=-(10**15), Emax=10**15)
_ZERO = Decimal("-Infinity")
_DIGITS = Decimal("1e-45")  # up to which two tables count as the same


def fine_logs(potentials: Floats) -> Fine:
    """The logs of potentials, which are exact."""
    return _each(lambda value: _CONTEXT.ln(Decimal(float(value))) if value else _ZERO, potentials)


def fine_block(parts: Sequence[tuple[Fine, tuple[int, ...]]], shape: tuple[int, ...]) -> Fine:
    """The product of tables, each with the axis of the whole that each of its slots is."""
    with decimal.localcontext(_CONTEXT):
        return block_product(parts, np.full(shape, Decimal(0), dtype=object))


def fine_log_sum(product: Fine) -> Fine:
    """log Σ exp along the first axis."""
    with decimal.localcontext(_CONTEXT):
        highest = np.asarray(product.max(axis=0), dtype=object)
        shift = _each(lambda value: Decimal(0) if value == _ZERO else value, highest)
        total = np.asarray(_each(_CONTEXT.exp, product - shift).sum(axis=0), dtype=object)
        logs = _each(lambda value: _CONTEXT.ln(value) if value else _ZERO, total)
        return np.asarray(logs + shift, dtype=object)


def fine_sum(terms: Sequence[tuple[Fine, tuple[int, ...], Fraction]]) -> Fine:
    """The sum of log tables, each with its axes in an order and to a power."""
    with decimal.localcontext(_CONTEXT):
        parts = [
            _each(_power(often), table.transpose(order))
            if often
            else np.full_like(table.transpose(order), Decimal(0))
            for table, order, often in terms
        ]
        return np.asarray(sum(parts), dtype=object)


def _power(often: Fraction) -> Callable[[Decimal], Decimal]:
    return lambda value: value if value == _ZERO else value * often.numerator / often.denominator


def stripped(table: Fine) -> tuple[Decimal, Fine]:
    """The largest entry, and the table without it; a table of zeros stays as it is."""
    with decimal.localcontext(_CONTEXT):
        highest = Decimal(table.max())
        shift = Decimal(0) if highest == _ZERO else highest
        return highest, np.asarray(table - shift, dtype=object)


def rounded(table: Fine) -> Twofold:
    """A table in two parts of extended precision."""
    main = np.empty(table.shape, dtype=np.longdouble)
    rest = np.zeros_like(main)
    with decimal.localcontext(_CONTEXT):
        for place in np.ndindex(table.shape):
            main[place] = np.longdouble(str(table[place]))
            if table[place] != _ZERO:
                left = table[place] - _decimal(np.longdouble(main[place]))
                rest[place] = np.longdouble(str(left))
    return Twofold(main, rest)


def same(one: Fine, other: Fine) -> bool:
    """Whether two tables are equal but for their last digits."""
    with decimal.localcontext(_CONTEXT):
        for left, right in zip(one.reshape(-1), other.reshape(-1), strict=True):
            if left != right and (
                _ZERO in (left, right) or abs(left - right) > _DIGITS * max(1, abs(left))
            ):
                return False
    return True


def weighed(log: Decimal | np.longdouble | float, many: int) -> Decimal:
    """A log so many times, with all digits: log weights of 10³² rows may cancel."""
    with decimal.localcontext(_EXACT):
        if isinstance(log, Decimal):
            return log * many if many else Decimal(0)
        value = np.longdouble(log)
        return _decimal(value) * many if np.isfinite(value) else _ZERO


def total(weights: Iterable[Decimal]) -> Decimal:
    """The sum of log weights."""
    with decimal.localcontext(_EXACT):
        return sum(weights, Decimal(0))


def _decimal(value: np.longdouble) -> Decimal:
    numerator, denominator = value.as_integer_ratio()
    return Decimal(numerator) / Decimal(denominator)


def _each(change: Callable[..., Decimal], table: NDArray[np.generic] | Fine) -> Fine:
    """A table with every entry changed."""
    found = np.empty(table.shape, dtype=object)
    for place in np.ndindex(table.shape):
        found[place] = change(table[place])
    return found
