"""Numbers as text: the shortest that reads back as the same number, whole numbers without a point."""

from __future__ import annotations


def number_text(value: float) -> str:
    """The text of a number.

    >>> number_text(3.0), number_text(0.1), number_text(1e300)
    ('3', '0.1', '1e+300')
    """
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
