"""Eliminating: what it costs, which variables can go at the same time, and which go alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lifagu.arrays import Ints, connected_parts, distinct, first_places, group_lists, group_rows, members
from lifagu.infer.lifted.rows import MOST_AXES, Blocks, Booleans, Costs

MANY_AT_ONCE = 8  # a share of variables that is worth a look at all of them
Pairs = Sequence[tuple[Ints, Ints]]  # a matrix of rows and their labels, by arity


def costs(rows: Pairs, wanted: Booleans, log_sizes: NDArray[np.float64]) -> Costs:
    """Cost of each wanted variable with not too many neighbours. Cost: sorting the pairs of neighbours considered."""
    near = np.zeros(len(wanted), dtype=np.int64)
    largest = np.zeros(len(wanted))
    for matrix, _ in rows:
        near += (matrix.shape[1] - 1) * np.bincount(matrix.reshape(-1), minlength=len(wanted))
        size = log_sizes[matrix].sum(axis=1)
        for slot in range(matrix.shape[1]):
            np.maximum.at(largest, matrix[:, slot], size)
    wanted = wanted & (near < MOST_AXES)
    variables = np.flatnonzero(wanted)
    new = np.zeros(len(wanted))
    pairs = [np.zeros(0, dtype=np.int64)]
    for matrix, _ in rows:
        for slot in range(matrix.shape[1]):
            inside = wanted[matrix[:, slot]]
            others = np.delete(matrix[inside], slot, axis=1)
            pairs.append((matrix[inside, slot, None] * len(wanted) + others).reshape(-1))
    pair = distinct(np.concatenate(pairs))
    new += np.bincount(pair // len(wanted), weights=log_sizes[pair % len(wanted)], minlength=len(wanted))
    return Costs(variables, new[variables], largest[variables])


def independent(rows: Pairs, chosen: Ints, cost: NDArray[np.float64], count: int, lowest: bool = False) -> Ints:
    """Those of the chosen variables, cheapest first and then in id order, that share no row with one taken before.

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
    """For each of `count` variables whether it is chosen and hangs together with at most so many of the chosen."""
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
    starts = np.concatenate(([0], np.cumsum(np.bincount(first, minlength=count)))).tolist()
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
    inside = np.zeros(len(sizes), dtype=np.bool_)
    inside[chosen] = True
    owner, label, slot, arity, row = (np.concatenate(parts) for parts in zip(*_edges(rows, inside), strict=True))
    variables = np.sort(chosen)
    owner = np.searchsorted(variables, owner)
    look = _looks(rows, slot, arity, row, sizes)
    order = np.lexsort((row, label, look, owner))
    owner, label, slot, arity, row, look = (each[order] for each in (owner, label, slot, arity, row, look))
    starts = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=len(chosen)))))
    near_starts, near = _neighbours(rows, owner, slot, arity, row, len(chosen))
    local, different_starts, different = _local(near_starts, near)
    shape = group_rows(np.column_stack((sizes[variables], group_lists(starts, look), group_lists(near_starts, local))))
    found = []
    for same in members(shape):
        example = same[0]
        entries = starts[same, None] + np.arange(starts[example + 1] - starts[example])
        width = different_starts[example + 1] - different_starts[example]
        neighbours = different[different_starts[same, None] + np.arange(width)]
        axes, at = [], int(near_starts[example])
        for entry in entries[0].tolist():
            size = int(arity[entry]) - 1
            beside = (1 + local[at : at + size]).tolist()
            axes.append((*beside[: slot[entry]], 0, *beside[slot[entry] :]))
            at += size
        sources = [(int(arity[column[0]]), row[column]) for column in entries.T]
        kind = group_rows(label[entries]) if entries.shape[1] else np.zeros(len(same), dtype=np.int64)
        labels = label[entries[first_places(kind)]]
        found.append(Blocks(variables[same], neighbours, tuple(neighbours[0].tolist()), axes, sources, kind, labels))
    return found


def _looks(rows: Pairs, slot: Ints, arity: Ints, row: Ints, sizes: Ints) -> Ints:
    """Which places of variables in rows are alike: the same slot, and tables of one shape."""
    found = np.empty(len(row), dtype=np.int64)
    met = 0
    for matrix, _ in rows:
        entries = np.flatnonzero(arity == matrix.shape[1])
        shape = group_rows(sizes[matrix])
        found[entries] = met + shape[row[entries]] * matrix.shape[1] + slot[entries]
        met += (int(shape.max(initial=-1)) + 1) * matrix.shape[1]
    return found


def _edges(rows: Pairs, inside: Booleans) -> list[tuple[Ints, Ints, Ints, Ints, Ints]]:
    """(owner, label, slot, arity, row) of every place of a chosen variable in a row."""
    found = [(np.zeros(0, dtype=np.int64),) * 5]
    for matrix, labels in rows:
        arity = matrix.shape[1]
        for slot in range(arity):
            row = np.flatnonzero(inside[matrix[:, slot]])
            found.append((matrix[row, slot], labels[row], np.full(len(row), slot), np.full(len(row), arity), row))
    return found


def _neighbours(rows: Pairs, owner: Ints, slot: Ints, arity: Ints, row: Ints, count: int) -> tuple[Ints, Ints]:
    """The other variables of each entry's row in slot order, listed per owner: starts of the lists, and the lists."""
    ends = np.cumsum(arity - 1)
    near = np.empty(int(ends[-1]) if len(ends) else 0, dtype=np.int64)
    for every, _ in rows:
        size = every.shape[1]
        entries = np.flatnonzero(arity == size)
        matrix = every[row[entries]]
        keep = np.arange(size) != slot[entries, None]
        if size > 1:
            near[(ends[entries] - size + 1)[:, None] + np.arange(size - 1)] = matrix[keep].reshape(-1, size - 1)
    per_owner = np.bincount(owner, weights=arity - 1, minlength=count).astype(np.int64)
    return np.concatenate(([0], np.cumsum(per_owner))), near


def _local(starts: Ints, values: Ints) -> tuple[Ints, Ints, Ints]:
    """Number the values of each list by first occurrence in it; also the distinct values per list, in that order."""
    owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    number = group_rows(np.column_stack((owner, values)))
    first = first_places(number)
    per_owner = np.bincount(owner[first], minlength=len(starts) - 1)
    distinct_starts = np.concatenate(([0], np.cumsum(per_owner)))
    return number - distinct_starts[owner], distinct_starts, values[first]
