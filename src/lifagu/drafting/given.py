"""What an attribute with many gaps is told by: a few others and a grouping, all of them together.

Its one table is conditional on what tells about it, so that interactions count: which class
somebody is in tells the teacher only together with the school. So parents are taken one by one,
each by what it adds in all combinations with those before it, on rows that were left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Floats, Ints, dense
from lifagu.drafting.attributes import Attribute
from lifagu.drafting.candidates import Candidate
from lifagu.drafting.choosing import LEAST_GAIN, ChosenTables, TableChoice, Weighing

MOST_GIVEN = 3  # attributes that tell one with many gaps, beside a grouping …
MOST_ENTRIES = 1_000  # … and entries of its table, for each group
MOST_NUMBERS = 2**20  # for all groups
MOST_TRIED, FEWEST_TRIED = 60, 20  # attributes that are tried as parents: those that tell alone …
TRIALS = 20_000  # … fewer, where there are so many attributes to be told
HELD: tuple[float, ...] = (0.5, 2.0, 8.0, 32.0)  # records that a coarser table counts as


def choose_given(
    target: Attribute, weighing: Weighing, allowed: Sequence[int], targets: int
) -> ChosenTables:
    """The parents of an attribute, and the grouping of its table, the most telling first.

    targets: how many attributes there are to be told like this one.
    """
    few = max(FEWEST_TRIED, min(MOST_TRIED, TRIALS // max(1, targets)))
    return _Parents(target, weighing, list(allowed)).run(few)


@dataclass(eq=False)
class _Parents:
    """An attribute's table while parents are added; told: each row's distribution by then.

    context[n]: which combination of the parents' labels a row has, -1 where one is unknown; rows
    with such a one are told by the parents before it.
    """

    target: Attribute
    weighing: Weighing
    allowed: list[int]

    def __post_init__(self) -> None:
        codes = self.target.codes[self.weighing.picked]
        self.known = np.flatnonzero(codes >= 0)
        self.truth = codes[self.known]
        counts = np.bincount(self.truth, minlength=self.target.size) + 0.5
        self.told: Floats = np.tile(counts / counts.sum(), (len(self.known), 1))
        self.context = np.zeros(len(self.known), dtype=np.int64)
        self.entries, self.others, self.groups = self.target.size, 0, 1

    def run(self, few: int) -> ChosenTables:
        """Add parents as long as one is worth it; few: attributes that are tried."""
        many, choices, left = len(self.known), list[TableChoice](), self._likely(few)
        lucky = np.log(max(1, len(left)))
        while many:
            left = [number for number in left if self._has_room(self._candidate(number))]
            trials = [(number, *self._added(number)) for number in left]
            if not trials:
                break
            number, gain, context, told = max(trials, key=lambda each: (each[1], -each[0]))
            if gain - lucky < LEAST_GAIN * many:
                break
            self._take(number, context, told)
            choices.append(TableChoice(self.target, self._candidate(number), gain / many))
            left.remove(number)
        return ChosenTables(self.target, tuple(choices), len(self.allowed), many, is_given=True)

    def _likely(self, few: int) -> list[int]:
        """Groupings, and those attributes that tell most by themselves, told by a score test."""
        blocks = self.weighing.blocks
        plain = {n: block for n in self.allowed if (block := blocks[n]) is not None}
        if len(plain) <= few:
            return list(self.allowed)
        residual = np.zeros((len(self.weighing.picked), self.target.size), dtype=np.float32)
        residual[self.known] = -self.told
        residual[self.known, self.truth] += 1.0
        labels = self.weighing.dense
        there = np.zeros(len(labels), dtype=np.float32)
        there[self.known] = 1.0
        scores = ((labels.T @ residual) ** 2).sum(axis=1) / (labels.T @ there + 1.0)
        order = sorted(plain, key=lambda number: (-float(scores[plain[number]].sum()), number))
        kept = set(order[:few])
        return [number for number in self.allowed if number in kept or number not in plain]

    def _candidate(self, number: int) -> Candidate:
        return self.weighing.candidates[number]

    def _has_room(self, candidate: Candidate) -> bool:
        """Whether the table stays small enough; there is one grouping at most."""
        if candidate.other is None:
            return self.groups == 1 and self.entries * candidate.size <= MOST_NUMBERS
        entries = self.entries * candidate.size
        is_small = entries <= MOST_ENTRIES and entries * self.groups <= MOST_NUMBERS
        return self.others < MOST_GIVEN and is_small

    def _take(self, number: int, context: Ints, told: Floats) -> None:
        candidate = self._candidate(number)
        self.context, self.told = context, told
        if candidate.other is None:
            self.groups = candidate.size
        else:
            self.entries *= candidate.size
            self.others += 1

    def _added(self, number: int) -> tuple[float, Ints, Floats]:
        """What a further parent adds in nats, with the combinations and distributions then."""
        labels = np.full(len(self.weighing.picked), -1, dtype=np.int64)
        labels[self.weighing.rows[number]] = self.weighing.codes[number]
        mine = labels[self.known]
        there = np.flatnonzero((mine >= 0) & (self.context >= 0))
        context = np.full(len(mine), -1, dtype=np.int64)
        if not len(there):
            return -np.inf, context, self.told
        context[there] = dense(self.context[there] * self._candidate(number).size + mine[there])
        truth, before = self.truth[there], self.told[there]
        size = self.target.size
        counts = np.bincount(context[there] * size + truth, minlength=size * (context.max() + 1))
        others = counts.reshape(-1, size)[context[there]].astype(np.float64)
        own = np.arange(len(there)), truth
        others[own] -= 1.0
        trials = []
        for held in HELD:
            after = (others + held * before) / (others.sum(axis=1, keepdims=True) + held)
            trials.append((float(np.log(after[own] / before[own]).sum()), held, after))
        gain, _, after = max(trials, key=lambda each: each[:2])
        told = self.told.copy()
        told[there] = after
        return gain, context, told
