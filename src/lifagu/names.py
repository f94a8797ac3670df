"""Names of nodes: given one by one, or generated on demand so that millions of nodes need no Python objects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import overload

from lifagu.errors import ModelError, did_you_mean


class Names(Sequence[str]):
    """The names of nodes 0…n-1 of one sort ("variable" or "factor"), with the way back from name to number."""

    def __init__(self, sort: str, given: Iterable[str]) -> None:
        self.sort = sort
        self._given = tuple(given)
        for position, name in enumerate(self._given):
            if not isinstance(name, str) or not name:
                raise ModelError(f"{sort} {position} has the name {name!r}; names are non-empty texts")
        if len(set(self._given)) != len(self._given):
            twice = next(name for name, count in Counter(self._given).items() if count > 1)
            raise ModelError(f"{sort} '{twice}' is declared twice; give each {sort} a name of its own")

    def __len__(self) -> int:
        return len(self._given)

    @overload
    def __getitem__(self, node: int) -> str: ...
    @overload
    def __getitem__(self, node: slice) -> Sequence[str]: ...
    def __getitem__(self, node: int | slice) -> str | Sequence[str]:
        return self._given[node]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self._given)}

    def find(self, name: str) -> int | None:
        """Return the number of the node with this name, or None."""
        return self._numbers.get(name)

    def number(self, name: str) -> int:
        """Return the number of the node with this name; a missing one is an error that suggests a close name."""
        found = self.find(name) if isinstance(name, str) else None
        if found is None:
            raise ModelError(f"there is no {self.sort} '{name}' in the model{did_you_mean(str(name), self)}")
        return found

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.find(name) is not None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Names):
            return NotImplemented
        return self.sort == other.sort and len(self) == len(other) and all(map(str.__eq__, self, other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(self[:3]) + (", …" if len(self) > 3 else "")
        return f"<{len(self)} {self.sort} names: {shown}>"


class NumberedNames(Names):
    """Names made from a prefix and the node's number: ``x0, x1, …``.

    >>> names = NumberedNames("variable", "x", 10**9)
    >>> names[123456789], names.number("x7"), "x007" in names
    ('x123456789', 7, False)
    """

    def __init__(self, sort: str, prefix: str, count: int) -> None:
        self.sort = sort
        self.prefix = prefix
        self._count = count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, node: int) -> str: ...
    @overload
    def __getitem__(self, node: slice) -> Sequence[str]: ...
    def __getitem__(self, node: int | slice) -> str | Sequence[str]:
        number = range(self._count)[node]
        if isinstance(number, range):
            return [f"{self.prefix}{each}" for each in number]
        return f"{self.prefix}{number}"

    def find(self, name: str) -> int | None:
        """Return the number of the node with this name, or None."""
        digits = name.removeprefix(self.prefix) if name.startswith(self.prefix) else ""
        if not (digits.isascii() and digits.isdigit() and len(digits) <= len(str(self._count))):
            return None
        return int(digits) if str(int(digits)) == digits and int(digits) < self._count else None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, NumberedNames):
            return (self.sort, self.prefix, len(self)) == (other.sort, other.prefix, len(other))
        return super().__eq__(other)

    __hash__ = None
