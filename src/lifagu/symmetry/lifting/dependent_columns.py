"""Which columns of arguments determine which: maps between sorts, and sorts that are one to one.

A sort is a set of things that logical variables may range over: the variables of a class, the
blocks that a counting formula takes, the places within a block. Where each treatment stands with
one patient only, there is a map from treatments to patients; where each patient stands with one
journey and each journey with one patient, the two sorts are aligned, and from then on a patient and
a journey are two sides of one individual.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np

from lifagu.basics.arrays import Ints

MOST_COMPARED = 16  # maps from one sort that are compared with one another


@dataclass(frozen=True, eq=False)
class Column:
    """One column of arguments: rows[m] are places within a sort."""

    sort: int
    rows: Ints


@dataclass(frozen=True, eq=False)
class Map:
    """image[i] is the thing of the target that belongs to thing i of the source; onto.

    weak: it is the only one that thing i does *not* stand with, as in X ≠ Y.
    """

    source: int
    target: int
    image: Ints
    weak: bool = False


def maps_between(columns: Sequence[Column], sizes: Sequence[int]) -> list[Map]:
    """The maps between the columns of a class of factors. O(k² m) for m factors on k arguments."""
    pairs = [
        (one, two)
        for one, two in permutations(columns, 2)
        if one.sort != two.sort and sizes[one.sort] >= sizes[two.sort]
    ]
    found: list[Map] = []
    inverse: set[tuple[int, int]] = set()
    for one, two in pairs:
        if (one.sort, two.sort) not in inverse and (new := _map(one, two, sizes)) is not None:
            found.append(new)
            if sizes[one.sort] == sizes[two.sort]:
                inverse.add((two.sort, one.sort))
    return found


def _map(one: Column, two: Column, sizes: Sequence[int]) -> Map | None:
    """The map from one column onto another, if there is one."""
    image = _determined(one, two, sizes)
    weak = image is None
    image = _avoided(one, two, sizes) if image is None else image
    if image is None or not np.bincount(image, minlength=sizes[two.sort]).all():
        return None
    return Map(one.sort, two.sort, image, weak)


def _determined(one: Column, two: Column, sizes: Sequence[int]) -> Ints | None:
    """The only thing that each thing of the first column stands with, None if there are several."""
    image = np.full(sizes[one.sort], -1, dtype=np.int64)
    image[one.rows] = two.rows
    return image if (image >= 0).all() and np.array_equal(image[one.rows], two.rows) else None


def _avoided(one: Column, two: Column, sizes: Sequence[int]) -> Ints | None:
    """The only thing that each thing of the first column does not stand with, None if not so."""
    count, others = sizes[one.sort], sizes[two.sort]
    if others < 3 or len(one.rows) < count * (others - 1):
        return None
    met = np.zeros((count, others), dtype=np.bool_)
    met[one.rows, two.rows] = True
    image: Ints = np.argmin(met, axis=1)
    return image if (met.sum(axis=1) == others - 1).all() else None


class Alignment:
    """Sorts that stand one to one, joined into parts; thing i is number index[sort][i] of its part.

    Joining a part of s sorts and n things into another costs O(s n).
    """

    def __init__(self, sizes: Sequence[int], sorts: Iterable[int]) -> None:
        self.sizes = sizes
        self.part = {sort: sort for sort in sorts}
        self.index = {sort: np.arange(sizes[sort]) for sort in self.part}
        self.sorts = {sort: [sort] for sort in self.part}

    def join(self, by: Map) -> None:
        """Join the parts of two sorts of equal size by a map between them, if they are two."""
        one, two = self.part[by.source], self.part[by.target]
        if one == two:
            return
        # what the things of part two are called in part one
        number = np.empty(self.sizes[one], dtype=np.int64)
        number[self.index[by.target][by.image]] = self.index[by.source]
        if (len(self.sorts[one]), -one) < (len(self.sorts[two]), -two):
            one, two, number = two, one, np.argsort(number)
        for sort in self.sorts.pop(two):
            self.part[sort], self.index[sort] = one, number[self.index[sort]]
            self.sorts[one].append(sort)

    def seen(self, given: Map) -> Map:
        """A map between sorts as a map between their parts."""
        image = np.empty_like(given.image)
        image[self.index[given.source]] = self.index[given.target][given.image]
        return Map(self.part[given.source], self.part[given.target], image, given.weak)


@dataclass(frozen=True, eq=False)
class Structure:
    """Parts of aligned sorts, and of each the maps to smaller parts, those that determine first."""

    alignment: Alignment
    maps: dict[int, list[Map]]


def structure_of(
    sizes: Sequence[int], sorts: Sequence[int], maps: Sequence[Map], agrees: Callable[[Map], bool]
) -> Structure:
    """Align sorts that stand one to one, and find what follows from the maps between them.

    Two maps from one part with the same fibres show that their targets stand one to one, and one
    with coarser fibres shows a map between the targets. agrees: whether a map fits what is declared
    about individuals; such maps come first. Near-linear in the things of all sorts, for few maps
    from each.
    """
    alignment = Alignment(sizes, sorts)
    strict: dict[int, list[Map]] = {sort: [] for sort in sorts}
    for each in sorted(maps, key=lambda each: (each.weak, not agrees(each))):
        if sizes[each.source] == sizes[each.target]:
            alignment.join(each)
        else:
            strict[each.source].append(each)
    # what is found concerns smaller parts only
    for part in sorted(alignment.sorts, key=lambda part: -sizes[part]):
        while part in alignment.sorts:
            new = _between_targets(_maps_from(alignment, strict, part), sizes)
            joints = [each for each in new if sizes[each.source] == sizes[each.target]]
            if not joints:
                for each in new:
                    strict[each.source].append(each)
                break
            alignment.join(joints[0])
    return Structure(
        alignment, {part: _maps_from(alignment, strict, part) for part in alignment.sorts}
    )


def _maps_from(alignment: Alignment, maps: Mapping[int, Sequence[Map]], part: int) -> list[Map]:
    """The distinct maps from a part to others, those to larger ones first, weak ones last."""
    seen: dict[tuple[int, bytes], Map] = {}
    for sort in alignment.sorts[part]:
        for each in map(alignment.seen, maps[sort]):
            seen.setdefault((each.target, each.image.tobytes()), each)
    return sorted(seen.values(), key=lambda each: (each.weak, -alignment.sizes[each.target]))


def _between_targets(maps: Sequence[Map], sizes: Sequence[int]) -> list[Map]:
    """The maps that follow between the targets of maps from one part, none to a larger one."""
    found = []
    for one, two in combinations(maps[:MOST_COMPARED], 2):
        if one.target != two.target:
            one, two = (one, two) if sizes[one.target] >= sizes[two.target] else (two, one)
            image = _determined(Column(one.target, one.image), Column(two.target, two.image), sizes)
            if image is not None:
                found.append(Map(one.target, two.target, image, one.weak or two.weak))
    return found
