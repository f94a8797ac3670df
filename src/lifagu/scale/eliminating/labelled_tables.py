"""What rows ask of the tables they know by label; the tables themselves are elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

Shape = tuple[int, ...]
# labels, and the axis of a product that each of its slots is
Parts = Sequence[tuple[int, tuple[int, ...]]]


class LabelledTables(Protocol):
    """Tables by label, new ones computed once for all rows that get them.

    None stands for a label where nothing is left but a number; many: the rows that a new table
    stands on.
    """

    def shape(self, label: int) -> Shape:
        """The range size of each slot."""

    def swappable(self, label: int) -> tuple[int, ...]:
        """For each slot the first one it may be swapped with."""

    def given(
        self, potentials: Any, shape: Shape, observed: Sequence[int], many: int
    ) -> int | None:
        """A table (None if unknown) with observed values (-1: none) fixed."""

    def power(self, label: int, times: int, many: int) -> int:
        """A table that stood on the same arguments so many times."""

    def summed(self, parts: Parts, sizes: Shape, together: int, many: int) -> int | None:
        """A product of tables with axes of these sizes, so many of the first ones summed out."""

    def histogram(self, members: int, size: int) -> int | None:
        """The weights of a histogram of so many members; None if it has too many values."""

    def counts(self, label: int, slots: Sequence[int], members: int, ordered: bool) -> bool:
        """Whether a table can be counted over members in these slots; ordered: in all orders."""

    def counted(
        self, label: int, slots: tuple[int, ...], members: int, ordered: bool, many: int
    ) -> int:
        """A table over all members in its slots: on their histogram, then the other arguments."""

    def free(self, size: int, many: int) -> None:
        """So many variables stand in no row."""
