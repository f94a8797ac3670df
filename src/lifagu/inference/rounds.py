"""Elimination in rounds: of all connected parts at once, many variables at a time.

In a round every variable is summed out that joins less than each of its neighbours would, so that
no two of them are neighbours; buckets of one form are one batch of arrays. Rounds are few even
where thousands hang on one variable, or on a long chain. The plan knows nothing but scopes: it is
made once, and runs with ever new numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import (
    Floats,
    Ints,
    distinct,
    first_places,
    group_lists,
    group_rows,
    members,
    offsets_of,
    places_within,
)

AT_A_TIME = 2**18  # numbers that are multiplied at a time, so that they stay near the processor


class TooWideError(Exception):
    """A bucket is too large: its variables, and how many entries it would have."""

    def __init__(self, variables: Ints, entries: float) -> None:
        super().__init__(f"{len(variables)} variables, {entries:g} entries")
        self.variables, self.entries = variables, entries


@dataclass(frozen=True, eq=False)
class BucketBatch:
    """Buckets of one form. All tables are in one flat array, each from its offset on.

    sizes: of a bucket's variables, ascending by number; summed: the place of the one that goes;
    axes: for each table which of the variables it has; tables: their offsets, buckets × tables;
    target: offsets of what is left, over the other variables.
    """

    sizes: tuple[int, ...]
    summed: int
    axes: tuple[tuple[int, ...], ...]
    tables: Ints
    target: Ints

    @property
    def entries(self) -> int:
        """How many there are in one bucket."""
        return int(np.prod(self.sizes))

    def chunks(self) -> Iterator[slice]:
        """Some buckets at a time."""
        step = max(AT_A_TIME // self.entries, 1)
        for start in range(0, len(self.target), step):
            yield slice(start, start + step)

    def product(self, flat: Floats, some: slice) -> Floats:
        """The sum of log tables: buckets × states of the variables."""
        whole = np.zeros((1,) * (1 + len(self.sizes)))
        for table, axes in enumerate(self.axes):
            shape = self._shape(axes)
            found = flat[self.tables[some, table, None] + np.arange(int(np.prod(shape)))]
            whole = whole + found.reshape(-1, *shape)
        return whole

    def left(self, some: slice) -> Ints:
        """Where the entries of what is left are: buckets × states of the other variables."""
        return self.target[some, None] + np.arange(self.entries // self.sizes[self.summed])

    def give(self, joint: Floats, flat: Floats, some: slice) -> None:
        """Put the joint marginals of each table into the flat array."""
        for table, axes in enumerate(self.axes):
            others = tuple(1 + axis for axis in range(len(self.sizes)) if axis not in axes)
            found = joint.sum(axis=others).reshape(len(joint), -1)
            flat[self.tables[some, table, None] + np.arange(found.shape[1])] = found

    def _shape(self, axes: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(size if axis in axes else 1 for axis, size in enumerate(self.sizes))


@dataclass(frozen=True, eq=False)
class Rounds:
    """A plan: offsets of the scopes that were given, batches in order, length of the flat array.

    The first entries are the total weights of parts, a number for each. A given scope of n entries
    begins at a multiple of n.
    """

    parts: int
    offsets: Ints
    batches: tuple[BucketBatch, ...]
    length: int

    @property
    def work(self) -> int:
        """Entries of all buckets."""
        return sum(batch.entries * len(batch.target) for batch in self.batches)

    def forward(self, flat: Floats) -> None:
        """Sum out everything, in place; then each table is what stood in its bucket, in logs."""
        for batch in self.batches:
            for some in batch.chunks():
                found = _log_sum(batch.product(flat, some), 1 + batch.summed)
                np.add.at(flat, batch.left(some), found.reshape(len(found), -1))

    def backward(self, flat: Floats, times: Floats) -> Floats:
        """The joint marginals of all tables, from what `forward` left, times a number by part."""
        joints = np.zeros_like(flat)
        joints[: self.parts] = times
        for batch in reversed(self.batches):
            axis = 1 + batch.summed
            for some in batch.chunks():
                product = batch.product(flat, some)
                total = _log_sum(product, axis)
                left = joints[batch.left(some)].reshape(total.shape)
                finite = np.where(np.isneginf(total), 0.0, total)
                joint = np.exp(product - np.expand_dims(finite, axis)) * np.expand_dims(left, axis)
                batch.give(joint, joints, some)
        return joints


def plan_rounds(part: Ints, sizes: Ints, ties: Ints, scopes: Ints, most: float) -> Rounds:
    """In which order to sum out variables, by part, size, and who comes first where that is open.

    scopes: distinct ones, scopes × width, variables ascending, then -1; every variable is in one.
    A bucket of more than `most` entries is a `TooWideError`. Cost: near-linear in what is left,
    times rounds.
    """
    parts = int(part.max(initial=-1)) + 1
    sized = np.append(sizes, 1)  # what is missing, -1, has one state
    given, length = _aligned(sized[scopes].prod(axis=1), parts)
    live, place, batches = scopes, given, list[BucketBatch]()
    while len(live):
        chosen = _Chosen(live, sizes, ties)
        chosen.check(most)
        live, left = chosen.left()
        stay = place[~chosen.taken]
        ends = length + offsets_of(sized[live[len(stay) :]].prod(axis=1))
        after, length = np.concatenate((stay, ends[:-1])), int(ends[-1])
        ended = left < 0
        target = np.where(ended, part[chosen.chosen], np.append(after, 0)[left])
        batches += chosen.batches(place, target)
        place = after
    return Rounds(parts, given, tuple(batches), length)


def _aligned(entries: Ints, start: int) -> tuple[Ints, int]:
    """Offsets of tables from a start on, at multiples of their lengths, and where they end."""
    found = np.empty_like(entries)
    for length in distinct(entries).tolist():
        start += -start % length
        there = np.flatnonzero(entries == length)
        found[there] = start + length * np.arange(len(there))
        start += length * len(there)
    return found, start


class _Chosen:
    """The variables that are summed out in a round, and their buckets.

    number: of each variable among those chosen; keys: bucket · variables + variable, ascending, for
    the variables of each bucket; taken: scopes that are in a bucket.
    """

    def __init__(self, live: Ints, sizes: Ints, ties: Ints) -> None:
        self.live, self.sizes, self.count = live, sizes, len(sizes)
        first, second = _neighbours(live, self.count)
        self.chosen = _lightest(live, first, second, sizes, ties)
        self.number = np.full(self.count + 1, -1)
        self.number[self.chosen] = np.arange(len(self.chosen))
        inside = self.number[first] >= 0
        around = self.number[first[inside]] * self.count + second[inside]
        own = np.arange(len(self.chosen)) * self.count + self.chosen
        self.keys = np.sort(np.concatenate((around, own)))
        self.bucket, self.member = np.divmod(self.keys, self.count)
        self.starts = offsets_of(np.bincount(self.bucket))
        owners = self.number[live].max(axis=1)
        self.taken = owners >= 0
        self.owner = owners[self.taken]

    def check(self, most: float) -> None:
        """No bucket is larger than that."""
        entries = np.multiply.reduceat(self.sizes[self.member].astype(np.float64), self.starts[:-1])
        if entries.max() > most:
            worst = int(entries.argmax())
            found = self.member[self.starts[worst] : self.starts[worst + 1]]
            raise TooWideError(found, float(entries[worst]))

    def left(self) -> tuple[Ints, Ints]:
        """The scopes after the round, those that stay first, and which of them each bucket leaves.

        That is -1 where nothing but the weight of a part is left.
        """
        other = self.member != self.chosen[self.bucket]
        lengths = np.diff(self.starts) - 1
        stay = self.live[~self.taken]
        width = max(int(lengths.max()), int((stay >= 0).sum(axis=1).max(initial=0)))
        rows = np.full((len(stay) + len(lengths), width), -1)
        shared = min(width, stay.shape[1])
        rows[: len(stay), :shared] = stay[:, :shared]
        rows[len(stay) + self.bucket[other], places_within(lengths)] = self.member[other]
        some = np.concatenate((np.ones(len(stay), dtype=bool), lengths > 0))
        left = np.full(len(rows), -1)
        left[some] = group_rows(rows[some] + 1)
        return rows[first_places(left)], left[len(stay) :]

    def batches(self, place: Ints, target: Ints) -> list[BucketBatch]:
        """The buckets, those of one form together; place: offsets of live scopes."""
        masks = self._masks()
        order = np.lexsort((masks, self.owner))
        masks, tables = masks[order], place[self.taken][order]
        begins = offsets_of(np.bincount(self.owner, minlength=len(self.chosen)))
        summed = np.flatnonzero(self.member == self.chosen[self.bucket]) - self.starts[:-1]
        forms = np.column_stack(
            (summed, group_lists(self.starts, self.sizes[self.member]), group_lists(begins, masks))
        )
        batches = []
        for buckets in members(group_rows(forms)):
            one = int(buckets[0])
            sizes = self.sizes[self.member[self.starts[one] : self.starts[one + 1]]].tolist()
            mine = masks[begins[one] : begins[one + 1]].tolist()
            axes = [tuple(a for a in range(len(sizes)) if mask >> a & 1) for mask in mine]
            found = tables[begins[buckets, None] + np.arange(len(mine))]
            batches.append(
                BucketBatch(tuple(sizes), int(summed[one]), tuple(axes), found, target[buckets])
            )
        return batches

    def _masks(self) -> Ints:
        """For each scope in a bucket which of the bucket's variables it has, as bits."""
        mask = np.zeros(len(self.owner), dtype=np.int64)
        for column in self.live[self.taken].T:
            at = np.searchsorted(self.keys, self.owner * self.count + column)
            mask += np.where(column < 0, 0, 1 << (at - self.starts[self.owner]))
        return mask


def _neighbours(live: Ints, count: int) -> tuple[Ints, Ints]:
    """All pairs of variables that are in a scope together, both ways, ascending."""
    width = live.shape[1]
    places = [(i, j) for i in range(width) for j in range(width) if i != j]
    keys = [np.zeros(0, dtype=np.int64)]
    for i, j in places:
        there = (live[:, i] >= 0) & (live[:, j] >= 0)
        keys.append(live[there, i] * count + live[there, j])
    first, second = np.divmod(distinct(np.concatenate(keys)), count)
    return first, second


def _lightest(live: Ints, first: Ints, second: Ints, sizes: Ints, ties: Ints) -> Ints:
    """The variables that come before all of their neighbours, ascending."""
    present = distinct(live[live >= 0])
    logs = np.round(np.log2(sizes) * 2**20)  # whole numbers, so that sums are exact
    weight = np.bincount(first, weights=logs[second], minlength=len(sizes))
    order = np.lexsort((present, ties[present], weight[present]))
    rank = np.full(len(sizes), -1)
    rank[present[order]] = np.arange(len(present))
    lowest = np.full(len(sizes), len(present))
    if len(first):
        starts = np.flatnonzero(np.concatenate(([True], first[1:] != first[:-1])))
        lowest[first[starts]] = np.minimum.reduceat(rank[second], starts)
    return present[rank[present] < lowest[present]]


def _log_sum(logs: Floats, axis: int) -> Floats:
    """The log of the sum of exponentials along an axis; of zeros, -inf."""
    top = logs.max(axis=axis, keepdims=True)
    top = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        found: Floats = np.log(np.exp(logs - top).sum(axis=axis)) + top.squeeze(axis)
    return found
