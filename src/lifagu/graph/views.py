"""Variables and factors as people see them, made when asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar, overload

from lifagu.basics.arrays import Floats
from lifagu.basics.frozen import Frozen
from lifagu.graph.ranges import Labels
from lifagu.graph.table_support import TableSupport

_Item = TypeVar("_Item")


@dataclass(frozen=True)
class Variable:
    """One variable as people see it: labels in its own declared order."""

    name: str
    range: Labels
    kind: str | None = None
    individuals: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Factor(Frozen):
    """One factor: one axis per argument, labels in declared order; a table of None is unknown.

    A table with a support was estimated from so many records; without one it is exact.
    """

    name: str
    arguments: tuple[str, ...]
    table: Floats | None
    support: TableSupport | None = None

    @property
    def known(self) -> bool:
        """Whether the factor has a table."""
        return self.table is not None


class View(Sequence[_Item]):
    """A read-only sequence whose items are made when asked for."""

    def __init__(self, count: int, item: Callable[[int], _Item]) -> None:
        self._numbers = range(count)
        self._item = item

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, place: int) -> _Item: ...
    @overload
    def __getitem__(self, place: slice) -> list[_Item]: ...
    def __getitem__(self, place: int | slice) -> _Item | list[_Item]:
        if isinstance(place, slice):
            return [self._item(each) for each in self._numbers[place]]
        return self._item(self._numbers[place])

    # the inherited one would take an IndexError inside for the end
    def __iter__(self) -> Iterator[_Item]:
        return map(self._item, self._numbers)
