"""The known tables of one place, compared: equal ones, noisy copies of a few, or estimates.

All in the argument order of the place's first factor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Floats, Ints, by_first_occurrence
from lifagu.basics.frozen import Frozen
from lifagu.filling.alignment import aligned_rows, alignments
from lifagu.filling.cohorts.fitting import clusters
from lifagu.filling.cohorts.place_evidence import Counts, Owners, PlaceEvidence, TableTokens
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.supports import Supports

AS_MANY_AS_EXACT = 1000.0  # records that an exact table counts for among estimated ones
UNSURE = 50.0  # records behind tables that all differ, although nobody says they are estimates
FEW = 8  # tables below which nothing is said about how they scatter
MORE_THAN_CHANCE = 5.0  # how much oftener than by chance tables are equal that share records
TIGHT = 100.0  # spread from which on scattered tables are taken for noisy copies of a few


@dataclass(frozen=True, eq=False)
class ShownTables(Frozen):
    """What the known factors of a place show, a row of the evidence for each.

    turned: the axes of a table, given ones first; shape: their sizes in that order.
    tables (T, size): the table of each token, the last being the mean of those that occur once, or
    of all if none does;
    donors (T,): the first factor that has it, -1 for that mean; both empty unless tables are equal
    or copies. alone: how many tables occur once. estimated: whether records are behind them.
    """

    evidence: PlaceEvidence
    turned: tuple[int, ...]
    shape: tuple[int, ...]
    tables: Floats
    donors: Ints
    alone: int
    estimated: bool

    @property
    def size(self) -> int:
        """Potentials of a table."""
        return int(np.prod(self.shape))

    def in_order(self, rows: Floats) -> Floats:
        """Tables (k, G, C) as potentials in the argument order of the first factor, (k, size)."""
        turned = rows.reshape(len(rows), *self.shape)
        back = np.argsort(self.turned)
        return turned.transpose(0, *(1 + back)).reshape(len(rows), self.size)


@dataclass(frozen=True, eq=False)
class PlaceReader(Frozen):
    """Reads the tables of known factors in one place; keys, aligned: as for the whole graph."""

    graph: FactorGraph
    keys: Ints
    aligned: Ints
    known: Ints
    owners: Owners

    @property
    def first(self) -> int:
        """The factor in whose argument order tables are read."""
        return int(self.known.min())

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of its arguments' ranges."""
        return tuple(self.graph.sizes[self.graph.scope(self.first)].tolist())

    def read(self) -> ShownTables:
        """What the place shows."""
        supports = self.graph.support
        codes = by_first_occurrence(self.aligned[self.known])
        if supports is not None and supports.estimated[self.known].any():
            counted = self._estimated(supports)
            if not _counted_together(counted.evidence, codes):
                return counted
        repeated = np.bincount(codes) > 1
        repeated |= (~repeated).sum() == 1  # a single one needs no common name
        alone = int((~repeated).sum())
        if alone > len(self.known) / 2 and alone >= FEW:
            return self._scattered(alone)
        shared = int(repeated.sum())
        number = np.where(repeated, np.cumsum(repeated) - 1, shared)
        return self._tokens(number[codes], shared, alone)

    # ---- potentials

    def in_order(self, factors: Ints, rows: Floats) -> Floats:
        """Potentials of factors, (k, size), in the argument order of the first."""
        return aligned_rows(self.graph, self.keys, factors, self.first, rows)

    def normalised(self, factors: Ints) -> Floats:
        """The tables of factors, each summing to 1, (k, size)."""
        numbers, offsets = self.graph.factor_table[factors], self.graph.tables.offsets
        size = int(np.prod(self.shape))
        rows = self.graph.tables.values[offsets[numbers, None] + np.arange(size)]
        rows = rows / rows.max(axis=1, keepdims=True)  # the sum of large numbers may be too large
        return self.in_order(factors, rows / rows.sum(axis=1, keepdims=True))

    # ---- what they show

    def _estimated(self, supports: Supports) -> ShownTables:
        """Counts; an exact table among them counts for very many records."""
        shape, estimated = self.shape, supports.estimated[self.known]
        counts = self.in_order(self.known, supports.counts(self.graph, self.known))
        if not estimated.all():
            exact = self.known[~estimated]
            counts[~estimated] = AS_MANY_AS_EXACT * self.normalised(exact)
        given = self._given(supports, int(self.known[estimated][0]))
        turned = (*given, *(axis for axis in range(len(shape)) if axis not in given))
        combinations = int(np.prod([shape[axis] for axis in given]))
        raw = counts.reshape(-1, *shape).transpose(0, *(1 + axis for axis in turned))
        evidence = Counts(
            np.ascontiguousarray(raw.reshape(len(raw), combinations, -1)), self.owners
        )
        sizes = tuple(shape[axis] for axis in turned)
        return self._without_tokens(evidence, turned, sizes, 0, estimated=True)

    def _given(self, supports: Supports, factor: int) -> tuple[int, ...]:
        """The given arguments of a factor, by their places in the first one."""
        ((_, alignment),) = alignments(
            self.graph, self.keys, np.array([factor]), np.array([self.first])
        )
        mask = int(supports.given[factor])
        return tuple(at for at, own in enumerate(alignment[0].tolist()) if mask >> own & 1)

    def _tokens(self, codes: Ints, shared: int, alone: int) -> ShownTables:
        """Numbers of the tables that occur twice at least; the last stands for all others."""
        donors = np.full(shared + 1, -1, dtype=np.int64)
        latest = np.argsort(-self.known)
        donors[codes[latest]] = self.known[latest]
        donors[shared] = -1
        tables = np.zeros((shared + 1, int(np.prod(self.shape))))
        if shared:
            tables[:shared] = self.normalised(donors[:shared])
        if (others := self.known[codes == shared]).size:
            tables[shared] = self.normalised(others).mean(axis=0)
        else:  # whom nobody is like has the mean of all, and no entry that nobody has
            tables[shared] = np.bincount(codes) @ tables[:shared] / len(codes)
        evidence, plain = TableTokens(codes, shared + 1, self.owners), tuple(range(len(self.shape)))
        return ShownTables(evidence, plain, self.shape, tables, donors, alone, estimated=False)

    def _scattered(self, alone: int) -> ShownTables:
        """Tables of which hardly two are equal: noisy copies of a few, or one's own each."""
        rows = self.normalised(self.known)
        apart = Owners(np.arange(len(rows)), len(rows))
        found = clusters(Counts(AS_MANY_AS_EXACT * rows[:, None], apart), np.random.default_rng(0))
        codes = by_first_occurrence(found.belonging.argmax(axis=1))
        many = int(codes.max()) + 1
        if found.spread >= TIGHT and many < len(rows) / 3:
            tokens = self._tokens(codes, many, 0)
            means = [rows[codes == each].mean(axis=0) for each in range(many)]
            tables = np.vstack((*means, tokens.tables[-1]))
            plain = tokens.evidence, tokens.turned, tokens.shape
            return ShownTables(*plain, tables, tokens.donors, 0, estimated=False)
        counts = Counts(UNSURE * rows[:, None], self.owners)
        counts = counts.spread_around(rows.mean(axis=0)[None, None], np.ones((len(rows), 1)))
        plain_order = tuple(range(len(self.shape)))
        return self._without_tokens(counts, plain_order, self.shape, alone, estimated=False)

    def _without_tokens(
        self,
        evidence: Counts,
        turned: tuple[int, ...],
        shape: tuple[int, ...],
        alone: int,
        *,
        estimated: bool,
    ) -> ShownTables:
        none, nobody = np.zeros((0, int(np.prod(shape)))), np.zeros(0, dtype=np.int64)
        return ShownTables(evidence, turned, shape, none, nobody, alone, estimated)


def _counted_together(evidence: PlaceEvidence, codes: Ints) -> bool:
    """Whether equal estimates come from the same records, as of a ward, rather than by chance.

    codes: equal for equal tables. Two samples of N records agree in an entry of probability p by
    chance about once in 2 √(π N p (1 - p)), where p is as each sample says: if most have nearly all
    of their records in one entry, many are equal by chance.
    """
    if not isinstance(evidence, Counts) or len(codes) < 2:
        return False
    usual = evidence.raw.sum(axis=0) + 0.5
    share = evidence.raw + usual / usual.sum(axis=-1, keepdims=True)
    records = share.sum(axis=-1, keepdims=True)
    share = (share / records)[..., :-1]
    variance = np.maximum(records * share * (1 - share), 0.1)
    chance = np.minimum(1 / (2 * np.sqrt(np.pi * variance)), 1).prod(axis=(1, 2))
    equal = (np.bincount(codes)[codes] - 1) / (len(codes) - 1)
    return float(np.median(equal / chance)) > MORE_THAN_CHANCE
