"""Original names of ground variables: from the numbers of their constants, and back, by arrays."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from operator import lt, mul
from typing import Any

import numpy as np

from lifagu.basics.arrays import Ints, distinct
from lifagu.basics.cached import cached_property
from lifagu.basics.names import ChosenNames, Names
from lifagu.relational.spans import Span

# a ground variable: the number of its relation, and of each constant
GroundAtom = tuple[int, tuple[int, ...]]
# a relation and spans of constants, and -1, or -1 and a plain variable
Meant = tuple[int, int, tuple[Span, ...]]
Key = tuple[int, ...]


class Originals(Mapping[Key, str]):
    """The original names of some ground variables of one relation, by the numbers of constants.

    rows[n×k]: the constants, rows distinct; row i has the name names[which[i]]. Looking up costs
    O(log n).

    >>> names = Names("variable", ["a", "b"])
    >>> originals = Originals(np.array([[1, 0], [0, 2]]), names, np.array([1, 0]))
    >>> originals[1, 0], originals.get((1, 1)), originals.which_of(np.array([[0, 2]])).tolist()
    ('b', None, [0])
    """

    def __init__(self, rows: Ints, names: Names, which: Ints) -> None:
        self.rows, self.names, self.which = rows, names, which
        self._sizes: list[int] = (rows.max(axis=0, initial=-1) + 1).tolist()
        self._strides = [math.prod(self._sizes[place + 1 :]) for place in range(len(self._sizes))]

    @cached_property
    def _row_of(self) -> dict[Key, int] | None:
        """The rows by their constants, where a row does not fit into one number."""
        if math.prod(self._sizes) < 2**62:
            return None
        return {key: row for row, key in enumerate(self)}

    @cached_property
    def _ordered(self) -> tuple[Ints, Ints]:
        """The rows as numbers, ascending, and the row of each."""
        codes = self.rows @ np.array(self._strides, dtype=np.int64)
        if (codes[1:] > codes[:-1]).all():
            return codes, np.arange(len(codes))
        order = np.argsort(codes, kind="stable")
        return codes[order], order

    @property
    def is_distinct(self) -> bool:
        """Whether no row is there twice."""
        if self._row_of is not None:
            return len(self._row_of) == len(self)
        codes = self._ordered[0]
        return bool((codes[1:] > codes[:-1]).all())

    def __getitem__(self, key: Key) -> str:
        if (row := self._find(key)) is None:
            raise KeyError(key)
        return self.names[int(self.which[row])]

    def get(self, key: Key, default: Any = None) -> Any:
        """The name at a key, or the default."""
        row = self._find(key)
        return default if row is None else self.names[int(self.which[row])]

    def _find(self, key: Key) -> int | None:
        if self._row_of is not None:
            return self._row_of.get(key)
        if not all(map(lt, key, self._sizes)):
            return None
        code = sum(map(mul, key, self._strides))
        codes, order = self._ordered
        place = code if len(codes) == math.prod(self._sizes) else int(np.searchsorted(codes, code))
        return int(order[place]) if place < len(codes) and codes[place] == code else None

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Key]:
        return map(tuple, self.rows.tolist())

    def which_of(self, rows: Ints) -> Ints:
        """For each of m rows of constants the number of its name in `names`, -1 without one."""
        result = np.full(len(rows), -1, dtype=np.int64)
        if self._row_of is not None or not len(self):
            found = [self._find(tuple(row)) for row in rows.tolist()] if len(self) else []
            there = [(place, row) for place, row in enumerate(found) if row is not None]
            result[[place for place, _ in there]] = self.which[[row for _, row in there]]
            return result
        codes, order = self._ordered
        wanted = rows @ np.array(self._strides, dtype=np.int64)
        places = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
        fits = (rows < np.array(self._sizes)).all(axis=1) & (codes[places] == wanted)
        result[fits] = self.which[order[places[fits]]]
        return result


class OriginalIndex:
    """From original names back to ground variables, for all relations together.

    Relations that take their names from one list are looked up together, so that a name costs one
    lookup per list.
    """

    def __init__(self, originals: Sequence[Originals]) -> None:
        self._originals = originals
        by_list: dict[int, list[int]] = {}
        for relation, each in enumerate(originals):
            if len(each):
                by_list.setdefault(id(each.names), []).append(relation)
        self.lists = [
            (originals[group[0]].names, *self._owners(group)) for group in by_list.values()
        ]

    def _owners(self, relations: list[int]) -> tuple[Ints, Ints]:
        """For each name of a list the relation that uses it (-1 for none), and the row of that."""
        owner = np.full(len(self._originals[relations[0]].names), -1, dtype=np.int64)
        row = owner.copy()
        for relation in relations:
            owner[self._originals[relation].which] = relation
            row[self._originals[relation].which] = np.arange(len(self._originals[relation]))
        return owner, row

    def name_used_twice(self) -> str | None:
        """A name that two ground variables have, None if there is none."""
        for names, _, _ in self.lists:
            used = [each.which for each in self._originals if len(each) and each.names is names]
            twice = np.bincount(np.concatenate(used)) > 1
            if twice.any():
                return names[int(np.argmax(twice))]
        for place, (names, owner, _) in enumerate(self.lists[1:], 1):
            for name in map(names.__getitem__, np.flatnonzero(owner >= 0).tolist()):
                for known, other, _ in self.lists[:place]:
                    number = known.find(name)
                    if number is not None and other[number] >= 0:
                        return name
        return None

    def find(self, name: str) -> GroundAtom | None:
        """The ground variable with this original name, None if there is none."""
        for names, owner, row in self.lists:
            number = names.find(name)
            if number is not None and owner[number] >= 0:
                return self._atom(int(owner[number]), int(row[number]))
        return None

    def _atom(self, relation: int, row: int) -> GroundAtom:
        return relation, tuple(self._originals[relation].rows[row].tolist())

    def meant_by(self, names: Sequence[str]) -> list[Meant | None]:
        """The ground variables of these original names, constants as spans of one, or None."""
        result: list[Meant | None] = [None] * len(names)
        for known, owner, row in self.lists:
            numbers = known.find_each(names)
            relations = np.where(numbers < 0, -1, owner[numbers])
            for relation in distinct(relations[relations >= 0]).tolist():
                mine = np.flatnonzero(relations == relation)
                rows = self._originals[relation].rows[row[numbers[mine]]].tolist()
                for place, constants in zip(mine.tolist(), rows, strict=True):
                    result[place] = (relation, -1, tuple(zip(constants, constants, strict=True)))
        return result

    def find_in(self, names: Names) -> Iterator[tuple[int, GroundAtom]]:
        """The nodes in a list that go by original names: numbers and ground variables."""
        for known, owner, row in self.lists:
            if isinstance(names, ChosenNames) and names.names is known:
                numbers = names.numbers
            else:
                numbers = known.find_each(names)
            for place in np.flatnonzero((numbers >= 0) & (owner[numbers] >= 0)).tolist():
                number = numbers[place]
                yield place, self._atom(int(owner[number]), int(row[number]))
