"""Ranges of constants, such as ``2..3`` in ``Smokes(2..3)``, and boxes of several of them."""

from __future__ import annotations

from collections.abc import Iterable

# the first and the last of consecutive constants of a numbered domain, from 1
Span = tuple[int, int]


def is_wide(spans: Iterable[Span]) -> bool:
    """Whether spans cover several ground variables."""
    return any(low != high for low, high in spans)


def beyond(box: tuple[Span, ...], cut: tuple[Span, ...]) -> list[tuple[Span, ...]]:
    """A box of constants without another one, as boxes.

    >>> beyond(((0, 8),), ((2, 2),))
    [((0, 1),), ((3, 8),)]
    """
    if any(low > last or high < first for (first, last), (low, high) in zip(box, cut, strict=True)):
        return [box]
    found = []
    for axis, ((first, last), (low, high)) in enumerate(zip(box, cut, strict=True)):
        inside = tuple(
            (max(a, b), min(c, d)) for (a, c), (b, d) in zip(box[:axis], cut[:axis], strict=True)
        )
        parts = [(first, low - 1)] * (first < low) + [(high + 1, last)] * (high < last)
        found += [(*inside, part, *box[axis + 1 :]) for part in parts]
    return found
