"""The support of one table: how many records stand behind it, and the prior it was made with."""

from __future__ import annotations

from dataclasses import dataclass

TO_BE_FOUND = -1  # which arguments are given shall be found from the table itself


@dataclass(frozen=True)
class TableSupport:
    """The support of one table.

    Parameters
    ----------
    records : tuple of float
        How many records stand behind the table: one number, or one for each combination of values
        of the given arguments, row-major.
    given : tuple of int, optional
        The positions of these arguments, ascending; None where the table itself shall tell.
    prior : tuple of float
        What was added to every count: nothing, one number for all states, or one for each.
    """

    records: tuple[float, ...]
    given: tuple[int, ...] | None = ()
    prior: tuple[float, ...] = ()

    @property
    def mask(self) -> int:
        """The given arguments as bits."""
        return TO_BE_FOUND if self.given is None else sum(1 << place for place in self.given)


def given_places(mask: int) -> tuple[int, ...]:
    """The positions of the bits that are set, ascending.

    >>> given_places(0b101)
    (0, 2)
    """
    return tuple(place for place in range(mask.bit_length()) if mask >> place & 1)
