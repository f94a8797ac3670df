"""The hidden table of each hole of a place: which it may be, and how likely in which cohort.

Tables of a place have numbers: exact ones those of their tokens, atoms of all sorts of cohorts come
in a row. Where there are many, a hole chooses among its likeliest few and the mean of all others.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lifagu.basics.arrays import Floats, Ints, group_rows, offsets_of, places_within
from lifagu.basics.cached import cached_property
from lifagu.filling.cohorts.hidden_cohorts import HiddenChoices
from lifagu.filling.cohorts.place_evidence import TableTokens
from lifagu.filling.cohorts.posterior import CohortPosterior, chunks
from lifagu.filling.cohorts.varied_tables import VariedTables, varied_tables

FEW = 16  # tables of a place up to which all are told apart
MOST = 64  # tables of a hole that are told apart where there are more
NEVER = 1e-6  # how likely the tables are, all together, that a hole need not tell apart


class HiddenTables:
    """The tables of some holes of a place, by their numbers in the place."""

    def __init__(self, posterior: CohortPosterior, number: int, filled: Ints) -> None:
        self._posterior, self._number, self.filled = posterior, number, filled
        self._holes = posterior.holes[number]
        self._found = [found.places[number] for found in posterior.cohorts.found]
        self._exact = isinstance(self._holes.place.shown.evidence, TableTokens)

    @cached_property
    def _varied(self) -> list[VariedTables]:
        """The tables of each sort of cohorts; they vary where it matters."""
        place, posterior = self._holes.place, self._posterior
        evidence = place.shown.evidence
        if isinstance(evidence, TableTokens):
            return [VariedTables.exactly(place.shown.tables) for _ in self._found]
        if not place.steady:
            return [VariedTables.exactly(here.atoms) for here in self._found]
        return [
            varied_tables(
                found.places[self._number], evidence, belonging[posterior.kind_of], weight
            )
            for weight, found, belonging in posterior.models
        ]

    @cached_property
    def tables(self) -> Floats:
        """All tables of the place, (T, size)."""
        shown = self._holes.place.shown
        if self._exact:
            return shown.tables
        return np.vstack([shown.in_order(each.tables) for each in self._varied])

    @cached_property
    def firsts(self) -> Ints:
        """Where the tables of each sort of cohorts begin."""
        if self._exact:
            return np.zeros(len(self._found) + 1, dtype=np.int64)
        return offsets_of(np.array([len(each.origin) for each in self._varied]))

    # ---- how likely

    def chances(self, kinds: Ints) -> Floats:
        """How likely each table is for holes whose owners are of these kinds, (·, T)."""
        total = np.zeros((len(kinds), len(self.tables)))
        for sort, weight in enumerate(self._posterior.cohorts.weights.tolist()):
            which = self._posterior.which(self._number, kinds, sort)
            total[:, self._of_sort(sort)] += weight * self._varied[sort].told_apart(which)
        return total

    def chances_in(self, holes: Ints, cohort: Ints) -> Floats:
        """The same for holes whose owners are in cohorts."""
        total = np.zeros((len(holes), len(self.tables)))
        for sort, rows, own in self._posterior.by_sort(cohort):
            which = self._posterior.which_in(self._number, sort, holes[rows], own)
            total[rows, self._of_sort(sort)] = self._varied[sort].told_apart(which)
        return total

    def _of_sort(self, sort: int) -> slice:
        first = int(self.firsts[sort])
        return slice(first, first + len(self._varied[sort].origin))

    # ---- among which

    @property
    def _all_told_apart(self) -> bool:
        return (self._holes.place.steady and not self._exact) or len(self.tables) <= FEW

    @cached_property
    def _kept(self) -> HiddenChoices:
        """The tables that each class of holes tells apart, T for the mean of all others."""
        kinds, count = self._holes.kinds, len(self.tables)
        if self._all_told_apart:
            every = np.tile(np.arange(count), len(kinds))
            shares = self.chances(kinds).reshape(-1)
            offsets = np.arange(len(kinds) + 1) * count
            return HiddenChoices(np.arange(len(kinds)), offsets, every, shares)
        parts = [self._likeliest(kinds[some]) for some in chunks(len(kinds), count)]
        return HiddenChoices.joined(parts)

    def _likeliest(self, kinds: Ints) -> HiddenChoices:
        chances = self.chances(kinds)
        order = np.argsort(-chances, axis=1, kind="stable")[:, :MOST]
        most = np.take_along_axis(chances, order, axis=1)
        wanted = np.cumsum(most, axis=1) - most < 1 - NEVER
        kept = np.zeros((len(kinds), len(self.tables) + 1), dtype=np.bool_)
        np.put_along_axis(kept, order, wanted, axis=1)
        kept[:, -1] = True
        chances = np.where(kept[:, :-1], chances, 0.0)
        rest = np.maximum(1 - chances.sum(axis=1, keepdims=True), 0.0)
        row, table = np.nonzero(kept)
        offsets = offsets_of(kept.sum(axis=1))
        return HiddenChoices(kinds, offsets, table, np.hstack((chances, rest))[row, table])

    @cached_property
    def choices(self) -> HiddenChoices:
        """The same for each hole."""
        classes = self._holes.class_of[self.filled]
        pair, choices = self._kept.pairs(classes)
        lengths = self._kept.sizes[classes]
        shares = self._kept.shares[self._kept.offsets[classes][pair] + places_within(lengths)]
        factors = self._holes.place.holes[self.filled]
        return HiddenChoices(factors, offsets_of(lengths), choices, shares)

    @property
    def by_origin(self) -> HiddenChoices:
        """The same, tables that vary around one atom having its number."""
        if self._exact or not self._holes.place.steady:
            return self.choices
        firsts = offsets_of(np.array([len(here.atoms) for here in self._found]))
        origin = [
            first + each.origin for first, each in zip(firsts[:-1], self._varied, strict=True)
        ]
        numbers = np.concatenate((*origin, firsts[-1:]))
        return replace(self.choices, choices=numbers[self.choices.choices])

    def stacked(self, some: Ints) -> Floats:
        """The tables among which some holes (places in `choices`) choose, in a row, (·, size)."""
        _, choices = self.choices.pairs(some)
        mean = self._usual @ self.tables
        if self._all_told_apart:
            return self.tables[choices]
        # the last choice of each is the mean of all tables that are not among the others
        tables = np.vstack((self.tables, np.zeros_like(mean)))[choices]
        usual = np.append(self._usual, 0.0)[choices]
        lengths = self.choices.sizes[some]
        last = np.cumsum(lengths) - 1
        told = np.add.reduceat(
            np.column_stack((usual, usual[:, None] * tables)), last - lengths + 1
        )
        left = 1 - told[:, :1]
        others = np.maximum(mean - told[:, 1:], 0.0) / np.maximum(left, NEVER)
        tables[last] = np.where(left > NEVER, others, mean)
        return tables

    @cached_property
    def _usual(self) -> Floats:
        """How likely each table is for a hole that nothing is known about, (T,)."""
        posterior = self._posterior
        usual = np.zeros(len(self.tables))
        for sort, found in enumerate(posterior.cohorts.found):
            weight = float(posterior.cohorts.weights[sort])
            which = found.prior[None] @ self._found[sort].choices
            usual[self._of_sort(sort)] += weight * self._varied[sort].told_apart(which)[0]
        return np.asarray(usual / usual.sum())

    def by_cohort(self, some: Ints, cohorts: HiddenChoices, at: Ints) -> Floats:
        """How likely its choices are for some holes in each cohort of their owners, flat.

        some: places in `choices`; at: their owners, as places in `cohorts`. For each hole a row for
        each cohort, with an entry for each choice.
        """
        pair, cohort = cohorts.pairs(at)
        parts = [np.zeros(0)]
        for part in chunks(len(pair), len(self.tables)):
            holes = some[pair[part]]
            chances = self.chances_in(self.filled[holes], cohort[part])
            row, choice = self.choices.pairs(holes)
            flat = np.hstack((chances, np.zeros((len(chances), 1))))[row, choice]
            others = choice == len(self.tables)
            told = np.bincount(row, flat, minlength=len(chances))
            flat[others] = np.maximum(1 - told[row[others]], 0.0)
            parts.append(flat)
        return np.concatenate(parts)

    def alike(self, some: Ints, sets: Ints) -> Ints:
        """Number some holes alike that have the same tables in the same cohorts; sets: these."""
        kinds = [self.choices.sets[some], sets]
        if self._posterior.asks_more(self._number):
            kinds.append(self._holes.class_of[self.filled[some]])
        return group_rows(np.column_stack(kinds))
