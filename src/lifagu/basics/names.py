"""Names of nodes: given one by one, or made on demand so that millions need no objects."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import chain, repeat
from typing import overload

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.basics.cached import cached_property
from lifagu.basics.frozen import Frozen
from lifagu.basics.inputs import NO_TEXT, is_text, items
from lifagu.errors import ModelError, did_you_mean


def _head(name: str) -> str | None:
    """What stands before a parenthesis in a name, None where there is none."""
    head, parenthesis, _ = name.partition("(")
    return head.strip() if parenthesis else None


class Names(Frozen, Sequence[str]):
    """The names of nodes 0…n-1 of one sort, such as "variable", with the way back to numbers."""

    def __init__(self, sort: str, given: Iterable[str]) -> None:
        self.sort = sort
        self._given = tuple(items(f"names of {sort}s are given in a list", given))
        for position, name in enumerate(self._given):
            if not isinstance(name, str) or not name:
                raise ModelError(
                    f"{sort} {position} has the name {name!r}; names are non-empty texts"
                )
            if not is_text(name):
                raise ModelError(f"{sort} {position} has the name {name!r}; {NO_TEXT}")
        if len(set(self._given)) != len(self._given):
            twice = next(name for name, count in Counter(self._given).items() if count > 1)
            raise ModelError(
                f"{sort} '{twice}' is declared twice; give each {sort} a name of its own"
            )

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

    def find_each(self, names: Sequence[str]) -> Ints:
        """The numbers of the nodes with these names, -1 where there is none."""
        return np.fromiter(
            map(self._numbers.get, names, repeat(-1)), dtype=np.int64, count=len(names)
        )

    def read_as(self, nodes: Ints, heads: Container[str]) -> Ints:
        """Those of some nodes whose names could be read as one of these words with an argument."""
        names = enumerate(self.of_nodes(nodes))
        return nodes[[place for place, name in names if _head(name) in heads]]

    def with_parentheses(self) -> Sequence[int]:
        """The numbers of names with a parenthesis, such as a relation's ground variables have."""
        return [number for number, name in enumerate(self) if "(" in name]

    def of_nodes(self, nodes: Ints) -> list[str]:
        """The names of many nodes at once."""
        return list(map(self.__getitem__, nodes.tolist()))

    def copied(self, nodes: Ints, old: str, new: str) -> list[str]:
        """The names of copies of many nodes, with a new individual in place of an old one.

        >>> Names("factor", ["f.al", "g", "alf.al"]).copied(np.arange(3), "al", "eve")
        ['f.eve', 'g.eve', 'alf.eve']
        """
        word = re.compile(rf"(?<!\w){re.escape(old)}(?!\w)")
        return [
            word.sub(lambda _: new, name) if word.search(name) else f"{name}.{new}"
            for name in self.of_nodes(nodes)
        ]

    def origins(self, nodes: Ints) -> Ints:
        """Tell apart names made from different parfactors or relations: a number for each node."""
        return np.zeros(len(nodes), dtype=np.int64)

    def heads(self) -> Counter[str]:
        """What stands before the first parenthesis of the names that have one, and how often."""
        return Counter(name.partition("(")[0].strip() for name in self if "(" in name)

    def number(self, name: str) -> int:
        """The number of the node with this name; a missing one is an error with a close name."""
        found = self.find(name) if isinstance(name, str) else None
        if found is None:
            whole = self.heads() if self.sort == "variable" else ()  # relations
            close = did_you_mean(str(name), chain((each for each in whole if each != name), self))
            raise ModelError(f"there is no {self.sort} '{name}' in the model{close}")
        return found

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.find(name) is not None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Names):
            return NotImplemented
        return (
            self.sort == other.sort
            and len(self) == len(other)
            and all(map(str.__eq__, self, other))
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(self[:3]) + (", …" if len(self) > 3 else "")
        return f"<{len(self)} {self.sort} names: {shown}>"


def _is_number(text: str) -> bool:
    """Whether a text is a whole number below 10¹⁸ as it is printed."""
    return text.isdigit() and text.isascii() and len(text) <= 18 and (text[0] != "0" or text == "0")


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
        digits = name[len(self.prefix) :] if name.startswith(self.prefix) else ""
        return int(digits) if _is_number(digits) and int(digits) < self._count else None

    def find_each(self, names: Sequence[str]) -> Ints:
        """The numbers of the nodes with these names, -1 where there is none."""
        start = len(self.prefix)
        digits = [name[start:] if name.startswith(self.prefix) else "" for name in names]
        numbers = np.array(
            [int(each) if _is_number(each) else -1 for each in digits], dtype=np.int64
        )
        return np.where(numbers < self._count, numbers, -1)

    def read_as(self, nodes: Ints, heads: Container[str]) -> Ints:
        """Those of some nodes whose names could be read as one of these words with an argument."""
        return super().read_as(nodes, heads) if self.with_parentheses() else nodes[:0]

    def with_parentheses(self) -> Sequence[int]:
        """The numbers of the names that hold a parenthesis: all or none."""
        return range(self._count if "(" in self.prefix else 0)

    def heads(self) -> Counter[str]:
        """What stands before the first parenthesis, which is in the prefix if there is one."""
        return Counter(
            {self.prefix.partition("(")[0].strip(): self._count} if "(" in self.prefix else {}
        )

    def __eq__(self, other: object) -> bool:
        if isinstance(other, NumberedNames):
            return (self.sort, self.prefix, len(self)) == (other.sort, other.prefix, len(other))
        return super().__eq__(other)


class ChosenNames(Names):
    """Some of the names in another list: node i is names[numbers[i]], numbers being distinct.

    >>> names = ChosenNames(NumberedNames("variable", "x", 10**6), np.array([7, 3]))
    >>> list(names), names.find("x3"), names.find("x4")
    (['x7', 'x3'], 1, None)
    """

    def __init__(self, names: Names, numbers: Ints) -> None:
        self.sort = names.sort
        self.names: Names = names.names if isinstance(names, ChosenNames) else names
        self.numbers: Ints = names.numbers[numbers] if isinstance(names, ChosenNames) else numbers

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, node: int) -> str: ...
    @overload
    def __getitem__(self, node: slice) -> Sequence[str]: ...
    def __getitem__(self, node: int | slice) -> str | Sequence[str]:
        if isinstance(node, slice):
            return [self.names[each] for each in self.numbers[node].tolist()]
        return self.names[int(self.numbers[node])]

    def __iter__(self) -> Iterator[str]:
        return map(self.names.__getitem__, self.numbers.tolist())

    @cached_property
    def _places(self) -> Ints:
        places = np.full(len(self.names), -1, dtype=np.int64)
        places[self.numbers] = np.arange(len(self.numbers))
        return places

    def find(self, name: str) -> int | None:
        """Return the number of the node with this name, or None."""
        number = self.names.find(name)
        place = -1 if number is None else int(self._places[number])
        return None if place < 0 else place

    def find_each(self, names: Sequence[str]) -> Ints:
        """The numbers of the nodes with these names, -1 where there is none."""
        numbers = self.names.find_each(names)
        return np.where(numbers < 0, -1, np.append(self._places, -1)[numbers])

    def of_nodes(self, nodes: Ints) -> list[str]:
        """The names of many nodes at once."""
        return self.names.of_nodes(self.numbers[nodes])

    def origins(self, nodes: Ints) -> Ints:
        """Where the names of these nodes come from, as numbers."""
        return self.names.origins(self.numbers[nodes])

    def with_parentheses(self) -> Sequence[int]:
        """The numbers of the names that hold a parenthesis."""
        if isinstance(self.names, NumberedNames) and not self.names.with_parentheses():
            return ()
        return super().with_parentheses()


class CopiedNames(Names):
    """Names of copies: node i is a copy of nodes[i] in another list.

    renamings: whose nodes were copied, and who has the copies; node i is of renamings[whose[i]].
    """

    def __init__(
        self,
        names: Names,
        nodes: Ints,
        copies: Sequence[str],
        renamings: Sequence[tuple[str, str]],
        whose: Ints,
    ) -> None:
        super().__init__(names.sort, copies)
        self.names, self.nodes, self.renamings, self.whose = names, nodes, renamings, whose

    def copied(self, nodes: Ints, old: str, new: str) -> list[str]:
        """The names of copies of copies; where these are the old one's, of whom it was copied."""
        found = []
        for node in nodes.tolist():
            first, its_copy = self.renamings[int(self.whose[node])]
            if its_copy == old:
                found += self.names.copied(self.nodes[[node]], first, new)
            else:
                found += super().copied(np.array([node]), old, new)
        return found

    def origins(self, nodes: Ints) -> Ints:
        """Where the names that were copied come from, as numbers."""
        return self.names.origins(self.nodes[nodes])


class JoinedNames(Names):
    """The names of one list, followed by those of another; no name is in both.

    >>> names = JoinedNames(Names("variable", ["A", "B"]), NumberedNames("variable", "x", 10**6))
    >>> names[1], names[2], names.find("x7"), names.find("C"), len(names)
    ('B', 'x0', 9, None, 1000002)
    """

    def __init__(self, names: Names, more: Names) -> None:
        self.sort = names.sort
        self._first, self._more = names, more

    def __len__(self) -> int:
        return len(self._first) + len(self._more)

    @overload
    def __getitem__(self, node: int) -> str: ...
    @overload
    def __getitem__(self, node: slice) -> Sequence[str]: ...
    def __getitem__(self, node: int | slice) -> str | Sequence[str]:
        if isinstance(node, slice):
            return [self[each] for each in range(len(self))[node]]
        number = range(len(self))[node] - len(self._first)
        return self._first[node] if number < 0 else self._more[number]

    def __iter__(self) -> Iterator[str]:
        yield from self._first
        yield from self._more

    def find(self, name: str) -> int | None:
        """Return the number of the node with this name, or None."""
        number = self._first.find(name)
        if number is None and (more := self._more.find(name)) is not None:
            return len(self._first) + more
        return number

    def find_each(self, names: Sequence[str]) -> Ints:
        """The numbers of the nodes with these names, -1 where there is none."""
        found = self._first.find_each(names)
        left = np.flatnonzero(found < 0)
        if len(left):
            more = self._more.find_each([names[each] for each in left.tolist()])
            found[left] = np.where(more < 0, -1, len(self._first) + more)
        return found

    def copied(self, nodes: Ints, old: str, new: str) -> list[str]:
        """The names of copies of many nodes, with a new individual in place of an old one."""
        inside = nodes < len(self._first)
        first = iter(self._first.copied(nodes[inside], old, new))
        more = iter(self._more.copied(nodes[~inside] - len(self._first), old, new))
        return [next(first if own else more) for own in inside.tolist()]

    @property
    def parts(self) -> tuple[Names, Names]:
        """Both lists."""
        return self._first, self._more

    def origins(self, nodes: Ints) -> Ints:
        """Where the names of these nodes come from, as numbers; copies come from where theirs do.

        All others that follow are of one origin of their own.
        """
        inside, found = nodes < len(self._first), np.full(len(nodes), -1, dtype=np.int64)
        found[inside] = self._first.origins(nodes[inside])
        if isinstance(self._more, CopiedNames):
            found[~inside] = self._more.origins(nodes[~inside] - len(self._first))
        return found

    def with_parentheses(self) -> Sequence[int]:
        """The numbers of the names that hold a parenthesis."""
        more = [len(self._first) + each for each in self._more.with_parentheses()]
        return [*self._first.with_parentheses(), *more]

    def heads(self) -> Counter[str]:
        """What stands before the first parenthesis of names, and how often."""
        return self._first.heads() + self._more.heads()
