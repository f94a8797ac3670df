"""Variables and factors as people see them, made when asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, overload

from lifagu.basics.arrays import Floats
from lifagu.basics.frozen import Frozen
from lifagu.basics.html import Shown
from lifagu.basics.names import Names
from lifagu.basics.words import counted
from lifagu.errors import ModelError
from lifagu.graph.ranges import Labels

if TYPE_CHECKING:
    from lifagu.graph.table_support import TableSupport

_Item = TypeVar("_Item")
_SHOWN = 5  # items that a view names


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


class View(Shown, Sequence[_Item]):
    """A read-only sequence whose items are made when asked for, by place and, if named, by name."""

    def __init__(
        self, count: int, item: Callable[[int], _Item], names: Names | None = None
    ) -> None:
        self._numbers = range(count)
        self._item, self._names = item, names

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, place: int | str) -> _Item: ...
    @overload
    def __getitem__(self, place: slice) -> list[_Item]: ...
    def __getitem__(self, place: int | str | slice) -> _Item | list[_Item]:
        if isinstance(place, str):
            if self._names is None:
                raise ModelError(f"these are looked up by number, not by the name '{place}'")
            return self._item(self._names.number(place))
        if isinstance(place, slice):
            return [self._item(each) for each in self._numbers[place]]
        return self._item(self._numbers[place])

    def __contains__(self, item: object) -> bool:
        if isinstance(item, str):
            return self._names is not None and item in self._names
        return super().__contains__(item)

    def __repr__(self) -> str:
        first = self[:_SHOWN]
        names = [str(getattr(each, "name", getattr(each, "factor", each))) for each in first]
        sort = type(first[0]).__name__ if first else "Item"
        more = ["…"] if len(self) > _SHOWN else []
        return f"<{counted(len(self), sort)}: {', '.join([*names, *more])}>"

    # the inherited one would take an IndexError inside for the end
    def __iter__(self) -> Iterator[_Item]:
        return map(self._item, self._numbers)
