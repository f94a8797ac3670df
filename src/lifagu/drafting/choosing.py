"""Which tables belong into a model: chosen one after the other, by what each adds to the others.

For each attribute that is to be predicted a multinomial model is built up. All candidates are
weighed by the score test ½ Σ g²/(h + λ), less one nat for each effective parameter: a few matrix
products. The best of them, and all groupings, are then tried: each row is told by a Newton step to
which it has not contributed itself, so that what is gained is gained on rows that were left out.
What gains most comes next, as long as it is more than the luck of the best of many candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints, dense, normalised_rows
from lifagu.drafting.attributes import Attribute
from lifagu.drafting.candidates import ROWS_EACH, Candidate

USUAL_ROWS, MOST_ROWS = 10_000, 100_000  # on which candidates are weighed
FEW_ENTRIES = 5_000_000  # of the matrix of all labels, up to which there may be more rows
MOST_ENTRIES = 60_000_000  # of that matrix; fewer rows where there are many labels
FEW = 40  # candidates that are weighed again after the first one was taken
LEAST_GAIN = 0.0005  # nats a cell
LEAST_FURTHER = 0.003  # the same where a table that was taken may differ by group
PRICE = 0.02  # nats that each number of a table by groups that tells somebody has to gain
MULTIPLIED = 4  # tables, and groupings, that are tried together
SCALES = (4.0, 1.0)  # λ of tables over labels; the first one while many are weighed
GROUP_SCALES: tuple[float, ...] = (0.05, 0.3, 2.0, 10.0)
STEP, MOST_STEP = 0.8, 3.0
HALVED = 3  # times that a step is tried
SWEEPS = 6  # through all tables, where they are learned without some rows
TRIED = 4  # candidates that are tried on rows left out, beside groupings

Halves = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class TableChoice:
    """A table that was chosen for an attribute, and what it adds, in nats a cell."""

    target: Attribute
    candidate: Candidate
    gain: float


@dataclass(frozen=True, eq=False)
class ChosenTables:
    """What was chosen for one attribute, how many candidates there were, and on how many rows.

    is_given: whether they are one table, given all of them, so that gaps tell nothing about others.
    """

    target: Attribute
    choices: tuple[TableChoice, ...]
    candidates: int
    rows: int
    is_given: bool = False

    @property
    def known(self) -> int:
        """Sampled cells that have a value."""
        return int((self.target.codes >= 0).sum())


@dataclass(eq=False)
class Weighing:
    """Candidates of one subject on some of its rows, as a matrix of labels and as lists.

    picked[n]: the rows of the sample that are used; share: of all rows that there are. Where a row
    has several labels of a candidate, each counts in part, so that they weigh as much as one.
    """

    candidates: list[Candidate]
    picked: Ints
    size: int
    share: float = 1.0
    rows: list[Ints] = field(default_factory=list)
    codes: list[Ints] = field(default_factory=list)
    weights: list[Floats] = field(default_factory=list)
    blocks: list[slice | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        place = np.full(self.size, -1, dtype=np.int64)
        place[self.picked] = np.arange(len(self.picked))
        width = 0
        for each in self.candidates:
            rows = place[each.rows]
            known = rows >= 0
            self.rows.append(rows[known])
            self.codes.append(each.codes[known])
            many = np.bincount(rows[known], minlength=len(self.picked))
            self.weights.append(1.0 / many[rows[known]])
            self.blocks.append(None if each.is_group else slice(width, width + each.size))
            width += 0 if each.is_group else each.size
        self.products: dict[tuple[int, int], int] = {}
        self.dense: Halves = np.zeros((len(self.picked), width), dtype=np.float32)
        for number, block in enumerate(self.blocks):
            if block is not None:
                at = (self.rows[number], block.start + self.codes[number])
                np.add.at(self.dense, at, self.weights[number].astype(np.float32))

    def product(self, one: int, grouping: int) -> int:
        """The candidate that lets the table of another one differ by group; made when wanted."""
        if (one, grouping) not in self.products:
            first, second = self.candidates[one], self.candidates[grouping]
            group = np.full(len(self.picked), -1, dtype=np.int64)
            group[self.rows[grouping]] = self.codes[grouping]
            mine = group[self.rows[one]]
            known = mine >= 0
            codes = dense(mine[known] * first.size + self.codes[one][known])
            size = int(codes.max(initial=-1)) + 1
            self.products[one, grouping] = len(self.candidates)
            self.candidates.append(second.times(first, size))
            self.rows.append(self.rows[one][known])
            self.codes.append(codes)
            self.weights.append(self.weights[one][known])
            self.blocks.append(None)
        return self.products[one, grouping]

    def sums(self, number: int, shares: Floats, power: int = 1) -> Floats:
        """For each label of a candidate the sum of shares (rows × labels of the target)."""
        rows, codes = self.rows[number], self.codes[number]
        size, weights = self.candidates[number].size, self.weights[number] ** power
        return np.column_stack(
            [np.bincount(codes, weights * column[rows], minlength=size) for column in shares.T]
        )

    def spread(self, number: int, effects: Floats) -> Floats:
        """What a table with these effects (labels × labels of the target) adds to each row."""
        return self.spread_entries(number, effects[self.codes[number]])

    def spread_entries(self, number: int, effects: Floats) -> Floats:
        """The same with effects of each entry."""
        rows, weights, many = self.rows[number], self.weights[number], len(self.picked)
        return np.column_stack(
            [np.bincount(rows, weights * column, minlength=many) for column in effects.T]
        )


def picked_rows(size: int, width: int, seed: int) -> Ints:
    """Rows of a sample on which candidates of so many labels are weighed, ascending.

    With few of them a group has fewer rows than it really has, and seems to tell less.
    """
    usual = min(USUAL_ROWS, MOST_ENTRIES // max(1, width))
    most = min(MOST_ROWS, max(1_000, usual, FEW_ENTRIES // max(1, width)))
    if size <= most:
        return np.arange(size)
    return np.sort(np.random.default_rng(seed).permutation(size)[:most])


@dataclass(eq=False)
class PairsTold:
    """One attribute's model while it grows; without: rows that it is not learned from."""

    target: Attribute
    weighing: Weighing
    allowed: Sequence[int]
    without: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def __post_init__(self) -> None:
        codes = self.target.codes[self.weighing.picked].copy()
        codes[self.without] = -1
        self.known = codes >= 0
        self.many = int(self.known.sum())
        self.truth = np.zeros((len(codes), self.target.size))
        self.truth[np.flatnonzero(self.known), codes[self.known]] = 1.0
        frequency = (self.truth.sum(axis=0) + 0.5) / (self.many + 0.5 * self.target.size)
        self.logits = np.tile(np.log(frequency), (len(codes), 1))
        blocks = self.weighing.blocks
        self.plain = [number for number in self.allowed if blocks[number] is not None]
        candidates = self.weighing.candidates
        grouped = [number for number in self.allowed if blocks[number] is None]
        self.crossed = [number for number in grouped if candidates[number].is_crossed]
        self.groupings = {n: GROUP_SCALES for n in grouped if not candidates[n].is_crossed}
        self.further: set[int] = set()
        self.matrix = self.weighing.dense
        self.blocks = {n: block for n, block in enumerate(blocks) if block is not None}
        self.scales: dict[int, float] = {}
        self.grouped: dict[int, Floats] = {}

    def run(self, most: int) -> ChosenTables:
        """The tables that tell about it: the best is taken as long as one is worth it."""
        choices: list[TableChoice] = []
        lucky = np.log(max(1, len(self.allowed) - len(self.crossed)))
        alone = True
        while self.many and len(choices) < most:
            best, gain, scale = self._best()
            if gain - lucky < (LEAST_GAIN if alone else LEAST_FURTHER) * self.many:
                self.plain, self.groupings = [], self._further()
                if not self.groupings:
                    break
                lucky, alone = np.log(len(self.allowed)), False
                continue
            candidate = self.weighing.candidates[best]
            choices.append(TableChoice(self.target, candidate, gain / self.many))
            self.scales[best] = scale
            self._fit(best)
            self.plain = [number for number in self.plain if number != best]
            self.groupings.pop(best, None)
        return ChosenTables(self.target, tuple(choices), len(self.allowed), self.many)

    def left_out(self, folds: Sequence[Ints]) -> Floats:
        """The log probability of what was observed in each row, learned without its fold."""
        codes, found = self.target.codes[self.weighing.picked], np.zeros(len(self.known))
        for fold in folds:
            other = PairsTold(self.target, self.weighing, self.allowed, fold)
            other.scales = self.scales
            for _ in range(SWEEPS if self.scales else 0):
                other._fit()
            likely, _ = normalised_rows(other.logits[fold])
            found[fold] = np.log(likely[np.arange(len(fold)), codes[fold]])
        return found

    def _further(self) -> dict[int, tuple[float, ...]]:
        """What is tried at last: columns combined, and what was taken by groups that were taken.

        Two columns may go together otherwise in each group. Groups that were taken meanwhile lead
        to more.
        """
        blocks, candidates = self.weighing.blocks, self.weighing.candidates
        taken = [
            number
            for number in self.scales
            if blocks[number] is not None and candidates[number].path is None
        ][:MULTIPLIED]
        groupings = [
            number
            for number in self.scales
            if candidates[number].other is None
            and len(self.weighing.rows[number])
            >= ROWS_EACH * self.weighing.share * candidates[number].size
        ]
        products = [
            self.weighing.product(one, other) for one in taken for other in groupings[:MULTIPLIED]
        ]
        crossed = [number for number in groupings if candidates[number].is_crossed]
        products += [
            self.weighing.product(one, other)
            for one in crossed
            for other in groupings[:MULTIPLIED]
            if set(candidates[one].by).isdisjoint(candidates[other].by)
        ]
        further = [number for number in products if number not in self.further]
        if not further:
            further = [number for number in self.crossed if number not in self.further]
        self.further |= set(further)
        return dict.fromkeys(further, GROUP_SCALES)

    def _probabilities(self, logits: Floats | None = None) -> Floats:
        found, _ = normalised_rows(self.logits if logits is None else logits)
        found[~self.known] = 0.0
        return found

    def _best(self) -> tuple[int, float, float]:
        """Of groupings and the best few others the one that gains most, what, and its scale λ."""
        likely = self._probabilities()
        order = self._in_order(likely)
        before = self._told(self.logits)
        best = (-1, -np.inf, SCALES[0])
        for number in order[:TRIED]:
            for scale in SCALES:
                gain = self._told(self.logits + self._step(number, scale, likely, True)) - before
                best = max(best, (number, gain, scale), key=lambda each: each[1])
        for number, scales in list(self.groupings.items()):
            gains = [
                (self._told(self.logits + self._step(number, scale, likely, True)) - before, scale)
                for scale in scales
            ]
            gain, scale = max(gains)
            # a table with very many numbers has to be worth the time that they take to learn
            gain -= PRICE * self.weighing.share * self._numbers(number)
            best = max(best, (number, gain, scale), key=lambda each: each[1])
            self.groupings[number] = (scale,)
            if gain <= 0:
                del self.groupings[number]
        return best

    def _numbers(self, number: int) -> int:
        """How many numbers of a table by groups tell somebody: those of groups with two rows."""
        known = self.known[self.weighing.rows[number]]
        sizes = np.bincount(self.weighing.codes[number][known])
        return int(np.count_nonzero(sizes > 1)) * (self.target.size - 1)

    def _in_order(self, likely: Floats) -> list[int]:
        """Candidates over labels, those first that are expected to gain most.

        Only the first of them are looked at again, once others were taken.
        """
        residual, spread = self.truth - likely, likely * (1 - likely)
        gradient, mass, loose = (
            (self.matrix.T @ each.astype(np.float32)).astype(np.float64)
            for each in (residual, likely, spread)
        )
        gained = ((0.5 * gradient**2 - loose) / (mass + SCALES[0])).sum(axis=1)
        scores = {number: float(gained[self.blocks[number]].sum()) for number in self.plain}
        order = sorted(self.plain, key=lambda number: (-scores[number], number))
        if self.matrix is self.weighing.dense:
            self._keep(order[:FEW])
            return order[:FEW]
        return order

    def _keep(self, few: list[int]) -> None:
        """Go on with a few candidates, whose labels are copied beside one another."""
        self.plain = few
        old = [self.weighing.blocks[number] for number in few]
        places = [np.arange(each.start, each.stop) for each in old if each is not None]
        ends = np.cumsum([0, *(len(each) for each in places)])
        self.blocks = {
            number: slice(int(ends[place]), int(ends[place + 1]))
            for place, number in enumerate(few)
        }
        columns = np.concatenate([np.zeros(0, np.int64), *places])
        self.matrix = np.asfortranarray(self.weighing.dense[:, columns])

    def _told(self, logits: Floats) -> float:
        """How well the attribute is told: the log probability of all that was observed."""
        known = logits[self.known]
        _, total = normalised_rows(known)
        return float((known * self.truth[self.known]).sum() - total.sum())

    def _step(self, number: int, scale: float, likely: Floats, apart: bool) -> Floats:
        """What a Newton step of one table adds to each row; apart: without the row's own part."""
        weighing = self.weighing
        rows, codes = weighing.rows[number], weighing.codes[number]
        residual = self.truth - likely
        gradient, mass = weighing.sums(number, residual), weighing.sums(number, likely, 2)
        if not apart:
            return weighing.spread(number, STEP * _bounded(gradient / (mass + scale)))
        own = weighing.weights[number][:, None]
        up = gradient[codes] - own * residual[rows]
        down = mass[codes] - own * own * likely[rows] + scale
        return weighing.spread_entries(number, _bounded(up / down))

    def _fit(self, *new: int) -> None:
        """Damped Newton steps: for a table that was taken just now, then for all of them.

        A grouping has few rows for each group, and would tell each row by itself; so each row is
        told by the others of its group, anew every time.
        """
        told = self._told(self.logits)
        for number in (*new, *self.scales):
            scale, likely = self.scales[number], self._probabilities()
            is_grouping = self.weighing.blocks[number] is None
            if is_grouping:
                had = self.grouped.get(number, np.zeros_like(self.logits))
                without = self._probabilities(self.logits - had)
                step = self._step(number, scale, without, True) - had
            else:
                step = self._step(number, scale, likely, False)
            for _ in range(HALVED):  # too long a step makes it worse
                after = self._told(self.logits + step)
                if after > told:
                    told = after
                    self.logits += step
                    if is_grouping:
                        self.grouped[number] = had + step
                    break
                step = step / 2


def _bounded(effects: Floats) -> Floats:
    return np.clip(effects, -MOST_STEP, MOST_STEP)
