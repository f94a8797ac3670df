"""Eliminating: what it costs, which variables can go at the same time, and which go alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import (
    Ints,
    connected_parts,
    distinct,
    first_places,
    group_lists,
    group_rows,
    members,
    offsets_of,
)
from lifagu.inference.lifted.rows import MOST_AXES, Blocks, Booleans, Costs

SMALL = 3.0  # log2 of the entries of a table that is small enough in any case
COMPARED = 2**22  # pairs of numbers that are compared at a time
MANY_AT_ONCE = 8  # a share of variables that is worth a look at all of them
Pairs = Sequence[tuple[Ints, Ints]]  # a matrix of rows and their labels, by arity


def costs(rows: Pairs, wanted: Booleans, log_sizes: NDArray[np.float64]) -> Costs:
    """Cost of each wanted variable with not too many neighbours.

    A neighbour in several rows counts once, unless the cost is small even so. Cost: sorting the
    pairs considered.
    """
    count = len(wanted)
    near, new, largest = np.zeros(count, dtype=np.int64), np.zeros(count), np.zeros(count)
    for matrix, _ in rows:
        size = log_sizes[matrix].sum(axis=1)
        for column in matrix.T:
            near += (matrix.shape[1] - 1) * np.bincount(column, minlength=count)
            new += np.bincount(column, weights=size - log_sizes[column], minlength=count)
            np.maximum.at(largest, column, size)
    wanted = wanted & (near < MOST_AXES)
    dear = wanted & (new > SMALL)
    pairs = [np.zeros(0, dtype=np.int64)]
    for matrix, _ in rows:
        for slot, column in enumerate(matrix.T):
            inside = np.flatnonzero(dear[column])
            others = (matrix[inside, each] for each in range(matrix.shape[1]) if each != slot)
            pairs += [column[inside] * count + other for other in others]
    pair = distinct(np.concatenate(pairs))
    new[dear] = np.bincount(pair // count, weights=log_sizes[pair % count], minlength=count)[dear]
    variables = np.flatnonzero(wanted)
    return Costs(variables, new[variables], largest[variables])


def independent(
    rows: Pairs, chosen: Ints, cost: NDArray[np.float64], count: int, lowest: bool = False
) -> Ints:
    """Those of the chosen, cheapest first, then by id, that share no row with one taken before.

    lowest: only those near which nothing is cheaper.
    """
    undecided = np.zeros(count, dtype=np.bool_)
    undecided[chosen] = True
    first, second = _conflicts(rows, undecided)
    if lowest:
        price, cheapest = np.full(count, np.inf), np.full(count, np.inf)
        price[chosen] = cost
        np.minimum.at(cheapest, first, price[second])
        undecided &= price <= cheapest
    order = chosen[np.lexsort((chosen, cost))]
    rank = np.full(count, count)
    rank[order] = np.arange(len(order))
    taken = np.zeros(count, dtype=np.bool_)
    going = True
    while going:  # take everybody who comes before all near ones, as long as these are many
        inner = undecided[first] & undecided[second]
        first, second = first[inner], second[inner]
        next_near = np.full(count, count)
        np.minimum.at(next_near, first, rank[second])
        now = undecided & (rank < next_near)
        taken |= now
        undecided &= ~now
        undecided[second[now[first]]] = False
        going = int(now.sum()) * MANY_AT_ONCE > int(undecided.sum()) > 0
    inner = undecided[first] & undecided[second]
    left = _greedy(order[undecided[order]], first[inner], second[inner], count)
    return np.sort(np.concatenate((np.flatnonzero(taken), left)))


def in_small_groups(rows: Pairs, chosen: Ints, count: int, most: int) -> Booleans:
    """Which of `count` variables are chosen and hang together with at most so many of these."""
    inside = np.zeros(count, dtype=np.bool_)
    inside[chosen] = True
    group = connected_parts(count, *_conflicts(rows, inside))
    return inside & (np.bincount(group, weights=inside)[group] <= most)


def states_around(rows: Pairs, log_sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each variable log2 of the number of states of the connected part that it is in."""
    everybody = np.ones(len(log_sizes), dtype=np.bool_)
    part = connected_parts(len(log_sizes), *_conflicts(rows, everybody))
    return np.asarray(np.bincount(part, weights=log_sizes)[part], dtype=np.float64)


def _conflicts(rows: Pairs, inside: Booleans) -> tuple[Ints, Ints]:
    """Pairs of these variables that share a row, both ways round."""
    first, second = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for every, _ in rows:
        matrix = every[inside[every].sum(axis=1) > 1]
        for left in range(matrix.shape[1]):
            for right in range(left):
                both = inside[matrix[:, left]] & inside[matrix[:, right]]
                first += [matrix[both, left], matrix[both, right]]
                second += [matrix[both, right], matrix[both, left]]
    return np.concatenate(first), np.concatenate(second)


def _greedy(order: Ints, first: Ints, second: Ints, count: int) -> Ints:
    """Take variables in order, each unless one near it was taken before."""
    starts = offsets_of(np.bincount(first, minlength=count)).tolist()
    neighbours = second[np.argsort(first, kind="stable")].tolist()
    blocked = bytearray(count)
    taken = []
    for variable in order.tolist():
        if not blocked[variable]:
            taken.append(variable)
            for other in neighbours[starts[variable] : starts[variable + 1]]:
                blocked[other] = 1
    return np.array(taken, dtype=np.int64)


def blocks(rows: Pairs, chosen: Ints, sizes: Ints) -> list[Blocks[Ints]]:
    """The rows around each of the chosen (independent) variables, grouped by shape."""
    variables = np.sort(chosen)
    kinds, edges = _edges(rows, variables, sizes)
    starts = offsets_of(np.bincount(edges.owner, minlength=len(variables)))
    found = []
    shape = group_rows(np.column_stack((sizes[variables], group_lists(starts, edges.look))))
    for owners in members(shape):
        entries = starts[owners, None] + np.arange(starts[owners[0] + 1] - starts[owners[0]])
        looks = [kinds[look] for look in edges.look[entries[0]].tolist()]
        near = [
            np.delete(rows[place][0][edges.row[column]], slot, 1)
            for (place, slot), column in zip(looks, entries.T, strict=True)
        ]
        beside = np.concatenate([np.zeros((len(owners), 0), dtype=np.int64), *near], axis=1)
        for same, local in _coinciding(beside):
            own = variables[owners[same]]
            found.append(_alike(own, beside[same], local, looks, entries[same], edges, rows))
    return found


@dataclass(frozen=True, eq=False)
class _Edges:
    """Places of chosen variables in rows, by owner: looks, label, and the row in its matrix."""

    owner: Ints
    look: Ints
    label: Ints
    row: Ints


def _edges(rows: Pairs, variables: Ints, sizes: Ints) -> tuple[list[tuple[int, int]], _Edges]:
    """All places of variables in rows, sorted; of each look the place of the matrix, and the slot.

    Places look alike if they are in the same slot of tables of one shape.
    """
    number = np.full(len(sizes), -1)
    number[variables] = np.arange(len(variables))
    kinds: list[tuple[int, int]] = []
    found = [(np.zeros(0, dtype=np.int64),) * 4]
    for place, (matrix, labels) in enumerate(rows):
        shape = group_rows(sizes[matrix])
        shapes = int(shape.max(initial=-1)) + 1
        for slot in range(matrix.shape[1]):
            row = np.flatnonzero(number[matrix[:, slot]] >= 0)
            found.append((number[matrix[row, slot]], len(kinds) + shape[row], labels[row], row))
            kinds += [(place, slot)] * shapes
    owner, look, label, row = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = _sorted(owner * max(len(kinds), 1) + look, label, row)
    return kinds, _Edges(owner[order], look[order], label[order], row[order])


def _sorted(key: Ints, label: Ints, row: Ints) -> Ints:
    """The order by key, those with equal keys by label and row."""
    order = np.argsort(key, kind="stable")
    equal = key[order[1:]] == key[order[:-1]]
    tied = np.flatnonzero(np.append(equal, False) | np.append(False, equal))
    some = order[tied]
    order[tied] = some[np.lexsort((row[some], label[some], key[some]))]
    return order


def _coinciding(near: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Rows whose values coincide alike, and the number of each column's value in them."""
    width = near.shape[1]
    first = np.empty_like(near)
    step = max(1, COMPARED // max(width * width, 1))
    for start in range(0, len(near), step):
        some = near[start : start + step]
        if width:
            first[start : start + step] = (some[:, :, None] == some[:, None, :]).argmax(axis=2)
    alike = (first == first[:1]).all()
    for same in [np.arange(len(near))] if alike else members(group_rows(first)):
        columns = first[same[0]]
        yield same, (np.cumsum(columns == np.arange(width)) - 1)[columns]


def _alike(
    variables: Ints,
    near: Ints,
    local: Ints,
    looks: Sequence[tuple[int, int]],
    entries: Ints,
    edges: _Edges,
    rows: Pairs,
) -> Blocks[Ints]:
    """Blocks of one shape. near: the neighbours, row by row; local: the number of each."""
    neighbours = near[:, first_places(local)] if len(local) else near
    axes, sources, at = [], [], 0
    for (place, slot), column in zip(looks, entries.T, strict=True):
        arity = rows[place][0].shape[1]
        beside = (1 + local[at : at + arity - 1]).tolist()
        axes.append((*beside[:slot], 0, *beside[slot:]))
        sources.append((arity, edges.row[column]))
        at += arity - 1
    labels = edges.label[entries]
    kind = _kinds(labels)
    own = labels[first_places(kind)]
    return Blocks(variables, neighbours, tuple(neighbours[0].tolist()), axes, sources, kind, own)


def _kinds(labels: Ints) -> Ints:
    """Number equal rows of labels alike: clear at once where a column has no label twice."""
    if not labels.shape[1]:
        return np.zeros(len(labels), dtype=np.int64)
    some = np.sort(labels[:, 0])
    return group_rows(labels) if (some[1:] == some[:-1]).any() else np.arange(len(labels))
