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
BEYOND = 2  # standard errors that a gain must be, so that it is more than chance
HELD: tuple[float, ...] = (0.5, 2.0, 8.0, 32.0)  # records that a coarser table counts as


@dataclass(eq=False)
class GivenTold:
    """An attribute's table while parents are added; told: each row's distribution by then.

    context[n]: which combination of the parents' labels a row has, -1 where one is unknown; rows
    with such a one are told by the parents before it.
    """

    target: Attribute
    weighing: Weighing
    allowed: Sequence[int]

    def __post_init__(self) -> None:
        codes = self.target.codes[self.weighing.picked]
        self.known = np.flatnonzero(codes >= 0)
        self.truth = codes[self.known]
        counts = np.bincount(self.truth, minlength=self.target.size) + 0.5
        self.told: Floats = np.tile(counts / counts.sum(), (len(self.known), 1))
        self.context = np.zeros(len(self.known), dtype=np.int64)
        self.entries, self.others, self.groups = self.target.size, 0, 1
        self.parents: list[int] = []

    def run(self, targets: int) -> ChosenTables:
        """The parents of its table, and the grouping, as long as one is worth it.

        targets: how many attributes there are to be told like this one.
        """
        few = max(FEWEST_TRIED, min(MOST_TRIED, TRIALS // max(1, targets)))
        many, choices, left = len(self.known), list[TableChoice](), self._likely(few)
        lucky = np.log(max(1, len(left)))
        while many:
            left = [number for number in left if self._has_room(self._candidate(number))]
            trials = [(number, *self._added(number)) for number in left]
            if not trials:
                break
            number, gain, context, told = max(trials, key=lambda each: (each[1], -each[0]))
            own = np.arange(many), self.truth
            spread = float(np.log(told[own] / self.told[own]).std()) * np.sqrt(many)
            if gain - lucky < LEAST_GAIN * many or gain < BEYOND * spread:
                break
            self._take(number, context, told)
            choices.append(TableChoice(self.target, self._candidate(number), gain / many))
            left.remove(number)
        return ChosenTables(self.target, tuple(choices), len(self.allowed), many, is_given=True)

    def left_out(self, folds: Sequence[Ints]) -> Floats:
        """The log probability of what was observed in each row, learned without its fold.

        As such tables are learned: the common one behind those of groups, frequencies behind it.
        """
        codes, found = self.target.codes[self.weighing.picked], np.zeros(len(self.weighing.picked))
        is_group = [self._candidate(number).other is None for number in self.parents]
        beside = [n for n, grouped in zip(self.parents, is_group, strict=True) if not grouped]
        contexts = [self._contexts(each) for each in (beside, self.parents) if each]
        for fold in folds:
            seen = np.setdiff1d(self.known, fold)
            frequency = np.bincount(codes[seen], minlength=self.target.size) + 0.5
            likely = np.tile(frequency / frequency.sum(), (len(codes), 1))
            for context in contexts if any(is_group) else contexts[:1]:
                likely = _drawn(context, codes, seen, likely)
            found[fold] = np.log(likely[fold, codes[fold]])
        return found

    def _contexts(self, parents: Sequence[int]) -> Ints:
        """Which combination of labels each row has, -1 where one is unknown."""
        found = np.zeros(len(self.weighing.picked), dtype=np.int64)
        for number in parents:
            labels = np.full(len(found), -1, dtype=np.int64)
            labels[self.weighing.rows[number]] = self.weighing.codes[number]
            known = (found >= 0) & (labels >= 0)
            found[~known] = -1
            found[known] = dense(found[known] * self._candidate(number).size + labels[known])
        return found

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
        self.parents.append(number)
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


def _drawn(context: Ints, codes: Ints, seen: Ints, before: Floats) -> Floats:
    """Each row's distribution by what was seen in its context, drawn to what it was before."""
    there, size = np.flatnonzero(context >= 0), before.shape[1]
    told = seen[context[seen] >= 0]
    if not len(told):
        return before
    state = context[told] * size + codes[told]
    many = np.bincount(state, minlength=size * (int(context.max()) + 1))
    counts: Floats = many.reshape(-1, size).astype(np.float64)
    others, own = counts[context[told]], (np.arange(len(told)), codes[told])
    others[own] -= 1.0
    total = others.sum(axis=1)
    gains = [
        float(np.log((others[own] + held * before[told][own]) / (total + held)).sum())
        for held in HELD
    ]
    held = HELD[int(np.argmax(gains))]
    found, mine = before.copy(), counts[context[there]]
    found[there] = (mine + held * before[there]) / (mine.sum(axis=1, keepdims=True) + held)
    return found
