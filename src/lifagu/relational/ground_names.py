"""Names of ground variables and ground factors, made on demand from their constants' numbers."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import overload

import numpy as np

from lifagu.basics.arrays import Ints, group_rows
from lifagu.basics.frozen import Frozen
from lifagu.basics.names import Names
from lifagu.errors import ModelError
from lifagu.relational.domains import Domain
from lifagu.relational.parsing import parse_ground
from lifagu.relational.relations import Vocabulary
from lifagu.relational.terms import constant_text


@dataclass(frozen=True, eq=False)
class RowNames(Frozen):
    """Names ``Treat(eve,m1)`` of n nodes with k constants each.

    rows[n×k]: numbers of the constants, rows distinct and in lexicographic order. names, which[n]:
    row i has the name names[which[i]] instead where which[i] is not negative.

    >>> domains = Domain.of("Person", ["al", "eve"]), Domain("Drug", 9)
    >>> names = RowNames("Treat", domains, np.array([[0, 3], [1, 8]]))
    >>> names[1], names.find("Treat(al,4)"), names.find("Treat(al,5)")
    ('Treat(eve,9)', 0, None)
    """

    prefix: str
    domains: tuple[Domain, ...]
    rows: Ints
    names: Names | None = None
    which: Ints | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, node: int) -> str:
        if self.names is not None and self.which is not None and self.which[node] >= 0:
            return self.names[int(self.which[node])]
        texts = map(_constant_text, self.domains, self.rows[node].tolist())
        return f"{self.prefix}({','.join(texts)})" if self.domains else self.prefix

    def of_nodes(self, nodes: Ints) -> list[str]:
        """The names of many nodes at once; the text of a constant is made once.

        >>> names = RowNames("Sick", (Domain.of("Person", ["al", "eve"]),), np.array([[0], [1]]))
        >>> names.of_nodes(np.array([1, 0]))
        ['Sick(eve)', 'Sick(al)']
        """
        if not self.domains or (self.which is not None and (self.which[nodes] >= 0).any()):
            return list(map(self.__getitem__, nodes.tolist()))
        columns = []
        for domain, column in zip(self.domains, self.rows[nodes].T, strict=True):
            met, places = np.unique(column, return_inverse=True)
            texts = [_constant_text(domain, each) for each in met.tolist()]
            columns.append([texts[place] for place in places.tolist()])
        return [f"{self.prefix}({','.join(row)})" for row in zip(*columns, strict=True)]

    def copied(self, node: int, old: str, new: str) -> str:
        """The name of a copy, with a new individual in place of an old one; see `Names.copied`.

        >>> domain = Domain.of("Person", ["7", "7.0"])
        >>> RowNames("Knows", (domain, domain), np.array([[0, 1]])).copied(0, "7", "a b")
        'Knows("a b",7.0)'
        """
        texts, is_own = [], False
        for domain, number in zip(self.domains, self.rows[node].tolist(), strict=True):
            same = domain.find(old.removeprefix(f"{domain.name}:")) == number
            texts.append(constant_text(new) if same else _constant_text(domain, number))
            is_own |= same
        if not is_own or (self.which is not None and self.which[node] >= 0):
            return Names("node", [self[node]]).copied(np.arange(1), old, new)[0]
        return f"{self.prefix}({','.join(texts)})"

    def heads(self) -> Counter[str]:
        """What stands before the first parenthesis of names, and how often; few names are made."""
        named = np.zeros(len(self), dtype=np.bool_) if self.which is None else self.which >= 0
        own = map(self.__getitem__, np.flatnonzero(named).tolist())
        heads = Counter(name.partition("(")[0].strip() for name in own if "(" in name)
        heads[self.prefix] += int((~named).sum()) if self.domains else 0
        return +heads

    def find(self, name: str) -> int | None:
        """Number of the node with this name, spelt with its constants; None if there is none."""
        if not name.startswith(self.prefix):
            return None
        if not self.domains:
            return self.place(()) if name == self.prefix else None
        parsed = parse_ground("x" + name[len(self.prefix) :])
        if parsed is None or parsed[0] != "x" or len(parsed[1]) != len(self.domains):
            return None
        numbers = []
        for domain, each in zip(self.domains, parsed[1], strict=True):
            number = domain.find(each) if isinstance(each, str) else None
            if number is None:
                return None
            numbers.append(number)
        return self.place(numbers)

    def place(self, numbers: Sequence[int]) -> int | None:
        """Number of the node with these constants, or None; O(k log n)."""
        low, high = 0, len(self.rows)
        for column, number in enumerate(numbers):
            within = self.rows[low:high, column]
            high = low + int(np.searchsorted(within, number, "right"))
            low += int(np.searchsorted(within, number))
        return low if low < high else None

    def places(self, rows: Ints) -> Ints:
        """Numbers of the nodes with these constants (m×k), -1 where there is none; near-linear."""
        # own rows are distinct: 0, 1, …
        ids = group_rows(np.vstack((self.rows, rows)))[len(self.rows) :]
        return np.where(ids < len(self.rows), ids, -1)


def _constant_text(domain: Domain, number: int) -> str:
    """A constant as it stands in ground names; numbers need no quotes."""
    return str(number + 1) if domain.constants is None else constant_text(domain.constants[number])


class GroundNames(Names):
    """Names that were given and, after them, those of ground nodes, list by list.

    words: of names of variables, the relations behind the rows; they tell at once which list has a
    name.
    """

    def __init__(
        self, sort: str, given: Names, rows: Sequence[RowNames], words: Vocabulary | None = None
    ) -> None:
        self.sort = sort
        self.rows = tuple(rows)
        self.lists: tuple[Names | RowNames, ...] = (given, *rows)
        self._words = words
        self._starts: list[int] = np.cumsum([0, *map(len, self.lists)]).tolist()
        self._asked = self.lists if words is None else (given,)

    def __len__(self) -> int:
        return self._starts[-1]

    def start(self, which: int) -> int:
        """The number of the first node of one of the lists."""
        return self._starts[which]

    @overload
    def __getitem__(self, node: int) -> str: ...
    @overload
    def __getitem__(self, node: slice) -> Sequence[str]: ...
    def __getitem__(self, node: int | slice) -> str | Sequence[str]:
        number = range(len(self))[node]
        if isinstance(number, range):
            return [self[each] for each in number]
        which = bisect_right(self._starts, number) - 1
        return self.lists[which][number - self._starts[which]]

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(map(each.__getitem__, range(len(each))) for each in self.lists)

    def find(self, name: str) -> int | None:
        """Return the number of the node with this name, or None."""
        located = None if self._words is None else self._words.find(name)
        if located is not None:
            relation, constants = located
            place = self.rows[relation].place(constants)
            return None if place is None else self._starts[1 + relation] + place
        for start, each in zip(self._starts, self._asked, strict=False):
            place = each.find(name)
            if place is not None:
                return start + place
        return None

    def find_each(self, names: Sequence[str]) -> Ints:
        """The numbers of the nodes with these names, -1 where there is none."""
        found = map(self.find, names)
        return np.array([-1 if each is None else each for each in found], dtype=np.int64)

    def of_nodes(self, nodes: Ints) -> list[str]:
        """The names of many nodes at once."""
        which = self.origins(nodes)
        found = np.empty(len(nodes), dtype=object)
        for number in np.unique(which).tolist():
            places = np.flatnonzero(which == number)
            found[places] = self.lists[number].of_nodes(nodes[places] - self._starts[number])
        return list(found)

    def copied(self, nodes: Ints, old: str, new: str) -> list[str]:
        """The names of copies of many nodes, with a new individual in place of an old one."""
        found = []
        for number, which in zip(nodes.tolist(), self.origins(nodes).tolist(), strict=True):
            place, own = number - self._starts[which], self.lists[which]
            if isinstance(own, RowNames):
                found.append(own.copied(place, old, new))
            else:
                found += own.copied(np.array([place]), old, new)
        return found

    def read_as(self, nodes: Ints, heads: Container[str]) -> Ints:
        """Those of some nodes whose names could be read as one of these words with an argument.

        Of names made from relations that are called otherwise, none is made for this.
        """
        which, found = self.origins(nodes), [nodes[:0]]
        for number in np.unique(which).tolist():
            some, own = nodes[which == number], self.lists[number]
            made = isinstance(own, RowNames) and (own.which is None or (own.which < 0).all())
            if not made or own.prefix in heads:
                found.append(super().read_as(some, heads))
        return np.concatenate(found)

    def origins(self, nodes: Ints) -> Ints:
        """The list that has the name of each node."""
        return np.searchsorted(np.array(self._starts), nodes, side="right") - 1

    def heads(self) -> Counter[str]:
        """What stands before the first parenthesis of the names that have one, and how often."""
        return sum((each.heads() for each in self.lists), Counter[str]())

    def number(self, name: str) -> int:
        """Return the number of the node with this name; a missing one is an error that says why."""
        found = self.find(name) if isinstance(name, str) else None
        if found is None and self._words is not None and isinstance(name, str):
            if self._words.find(name) is not None:
                raise ModelError(
                    f"'{name}' does not exist in the model: no ground factor has it as an argument"
                )
            if remark := self._words.why_not(name):
                raise ModelError(remark)
        return super().number(name) if found is None else found
