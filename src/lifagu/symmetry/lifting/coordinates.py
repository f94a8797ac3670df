"""Coordinates: what stands in the parentheses of each relation, from the maps between sorts.

A treatment that belongs to one patient is called by the patient and by a number among the patient's
treatments; a friendship that belongs to two persons is called by both. Declared individuals become
the constants where they fit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from lifagu.basics.arrays import Ints, connected_parts, distinct, group_rows, members
from lifagu.symmetry.lifting.dependent_columns import Column, Structure


@dataclass(frozen=True, eq=False)
class Coordinate:
    """values[n]: for each thing of a part a constant of a domain."""

    domain: int
    values: Ints


@dataclass(frozen=True, eq=False)
class Sketch:
    """A domain to be: so many numbered constants, or these individuals, ascending."""

    size: int
    individuals: Ints | None = None


@dataclass(frozen=True, eq=False)
class Coordinates:
    """For each part its coordinates, and the domains these are in."""

    of: dict[int, list[Coordinate]]
    domains: list[Sketch]


def coordinates_of(
    structure: Structure, entities: set[int], owners: dict[int, Ints]
) -> Coordinates:
    """Coordinates for all parts, smaller ones first, by which those that belong to them are called.

    entities: parts that are called by themselves although they belong to others; owners: for some
    sorts the individuals that each of its things lists, as a matrix. Near-linear in the things of
    all parts.
    """
    alignment, found = structure.alignment, Coordinates({}, [])
    for part in sorted(alignment.sorts, key=lambda part: alignment.sizes[part]):
        size = alignment.sizes[part]
        given: list[Coordinate] = []
        for each in [] if part in entities else structure.maps[part]:
            given += [
                Coordinate(one.domain, one.values[each.image]) for one in found.of[each.target]
            ]
        known = _refining(given, size)
        if _count(known, size) < size:
            known += _own(known, size, _candidates(structure, part, owners), found.domains)
        found.of[part] = _minimal(known, size)
    return _settled(found, structure, owners)


def _refining(coordinates: Sequence[Coordinate], size: int) -> list[Coordinate]:
    """Those coordinates, in order, that tell apart what the ones before them do not."""
    kept: list[Coordinate] = []
    joint, count = np.zeros(size, dtype=np.int64), min(size, 1)
    for each in coordinates:
        finer = group_rows(np.column_stack((joint, each.values)))
        if int(finer.max(initial=-1)) + 1 > count:
            kept.append(each)
            joint, count = finer, int(finer.max()) + 1
        if count == size:
            break
    return kept


def _joint(coordinates: Sequence[Coordinate], size: int) -> Ints:
    """Number things alike that the coordinates do not tell apart."""
    return group_rows(
        np.column_stack([np.zeros(size, dtype=np.int64), *(each.values for each in coordinates)])
    )


def _count(coordinates: Sequence[Coordinate], size: int) -> int:
    return int(_joint(coordinates, size).max(initial=-1)) + 1


def _minimal(coordinates: list[Coordinate], size: int) -> list[Coordinate]:
    """The coordinates without those that the others make superfluous, small ones first."""
    if len(coordinates) < 2:
        return coordinates
    counts = {id(each): len(distinct(each.values)) for each in coordinates}
    kept = coordinates
    for each in sorted(coordinates, key=lambda each: counts[id(each)]):
        others = [other for other in kept if other is not each]
        enough = math.prod(counts[id(other)] for other in others) >= size
        if others and enough and _count(others, size) == size:
            kept = others
    return kept


def _own(
    known: list[Coordinate], size: int, candidates: Sequence[Ints], domains: list[Sketch]
) -> list[Coordinate]:
    """Coordinates for what the known ones leave open: individuals that fit, else a number."""
    joint = _joint(known, size)
    most = int(np.bincount(joint).max())
    for column in candidates:
        finer = group_rows(np.column_stack((joint, column)))
        if int(finer.max()) + 1 == size and len(distinct(column)) == most:
            return [_named(column, domains)]
    if not known:
        several = _refining([Coordinate(-1, column) for column in candidates], size)
        if _count(several, size) == size:
            return [_named(each.values, domains) for each in several]
    domains.append(Sketch(most))
    order = np.argsort(joint, kind="stable")
    counts = np.bincount(joint)
    number = np.empty(size, dtype=np.int64)
    number[order] = np.arange(size) - np.repeat(np.cumsum(counts) - counts, counts)
    return [Coordinate(len(domains) - 1, number)]


def _named(column: Ints, domains: list[Sketch]) -> Coordinate:
    """A coordinate in individuals, whose numbers stay as they are until the domains are settled."""
    ids = distinct(column)
    domains.append(Sketch(len(ids), ids))
    return Coordinate(len(domains) - 1, column)


def _candidates(structure: Structure, part: int, owners: dict[int, Ints]) -> list[Ints]:
    """Columns of individuals that could name a part's things: of one sort, listed by the others."""
    index = structure.alignment.index
    matrices = []
    for sort in structure.alignment.sorts[part]:
        if sort in owners:
            matrix = np.empty_like(owners[sort])
            matrix[index[sort]] = owners[sort]
            matrices.append(matrix)
    columns = list(matrices[0].T) if matrices else []
    return [
        each
        for each in columns
        if all((other == each[:, None]).any(axis=1).all() for other in matrices[1:])
    ]


def _settled(found: Coordinates, structure: Structure, owners: dict[int, Ints]) -> Coordinates:
    """Individuals as constants, one domain for all that overlap; numbers where some list others."""
    wrong = _contradicted(found, structure, owners)
    named = {
        number: each.individuals
        for number, each in enumerate(found.domains)
        if each.individuals is not None and number not in wrong
    }
    of_domain = np.full(len(found.domains), -1, dtype=np.int64)
    new: list[Sketch] = []
    numbers = list(named)
    for places in members(_overlapping(list(named.values()))):
        mine = [numbers[place] for place in places.tolist()]
        ids = distinct(np.concatenate([named[number] for number in mine]))
        of_domain[mine] = len(new)
        new.append(Sketch(len(ids), ids))
    for number in np.flatnonzero(of_domain < 0).tolist():
        of_domain[number] = len(new)
        new.append(Sketch(found.domains[number].size))
    of = {
        part: [_moved(each, found, of_domain, new) for each in own]
        for part, own in found.of.items()
    }
    return Coordinates(of, new)


def _moved(
    coordinate: Coordinate, old: Coordinates, of_domain: Ints, new: Sequence[Sketch]
) -> Coordinate:
    domain = int(of_domain[coordinate.domain])
    ids = old.domains[coordinate.domain].individuals
    if ids is None:
        return Coordinate(domain, coordinate.values)
    settled = new[domain].individuals
    values = np.searchsorted(ids if settled is None else settled, coordinate.values)
    return Coordinate(domain, values)


def _contradicted(found: Coordinates, structure: Structure, owners: dict[int, Ints]) -> set[int]:
    """Domains of individuals where some variable lists others: one would be two constants."""
    wrong = set()
    for sort, lists in owners.items():
        part, index = structure.alignment.part[sort], structure.alignment.index[sort]
        for each in found.of[part]:
            named = found.domains[each.domain].individuals is not None
            if named and not (lists == each.values[index][:, None]).any(axis=1).all():
                wrong.add(each.domain)
    return wrong


def _overlapping(sets: Sequence[Ints]) -> Ints:
    """Number sets of individuals alike that are connected by common members."""
    values = np.concatenate([np.zeros(0, dtype=np.int64), *sets])
    owner = np.repeat(np.arange(len(sets)), list(map(len, sets)))
    individuals = group_rows(values[:, None])
    return connected_parts(len(sets) + len(values), owner, len(sets) + individuals)[: len(sets)]


def entities_of(structure: Structure, columns: Sequence[Sequence[Column]]) -> set[int]:
    """Parts that belong to others, but which some factors take in all pairs X ≠ Y.

    That can be said if each thing is one constant, and has to be listed if it is several.
    """
    alignment, found = structure.alignment, set()
    for row in columns:
        sorts = [
            (alignment.part[each.sort], each)
            for each in row
            if structure.maps[alignment.part[each.sort]]
        ]
        for (other, two), (part, one) in combinations(sorts, 2):
            size = alignment.sizes[part]
            if other == part and len(one.rows) >= size * (size - 1):
                left, right = (alignment.index[each.sort][each.rows] for each in (one, two))
                pairs = distinct(left * size + right)
                if len(pairs) == size * (size - 1) and not (left == right).any():
                    found.add(part)
    return found
