"""Places: which factors of individuals can be compared, and what each individual shows there.

A place is a sort of factor, known by its arguments' ranges and kinds (degrees, where no kind is
declared). Factors without an owner are individuals of their own. Where no individuals are declared,
an individual is what hangs together once the variables that everybody shares are cut.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Floats, Ints, by_first_occurrence, first_places, members
from lifagu.basics.frozen import Frozen
from lifagu.filling.alignment import aligned_tables, alignments
from lifagu.filling.cohorts.fitting import clusters
from lifagu.filling.cohorts.place_evidence import Counts, Owners, PlaceEvidence, Tokens
from lifagu.filling.individuals import factor_owners
from lifagu.filling.neighbourhood import hubs
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.parts import parts_of_factors, parts_without
from lifagu.likeness.merging import scaled_tables
from lifagu.likeness.roles import factor_signatures, roles

AS_MANY_AS_EXACT = 1000.0  # records that an exact table counts for among estimated ones
FEW = 8  # tables below which nothing is said about how they scatter
TIGHT = 100.0  # spread from which on scattered tables are taken for noisy copies of a few


@dataclass(frozen=True, eq=False)
class CohortPlace(Frozen):
    """One place: the factors in it, and their tables in the argument order of the first of them.

    known, holes: factors, by owner; owner_of_hole: individuals. evidence: a row for each known
    factor. turned: axes of a table in the order (given, others), shape: their sizes in that order.
    tables (T, size): the table of each token, the last being the mean of those that occur once;
    donors (T,): the first factor that has it, -1 for that mean; none where tables are estimated.
    alone: how many tables occur once.
    """

    first: int
    known: Ints
    holes: Ints
    owner_of_hole: Ints
    evidence: PlaceEvidence
    turned: tuple[int, ...]
    shape: tuple[int, ...]
    tables: Floats
    donors: Ints
    alone: int
    estimated: bool

    def in_order(self, rows: Floats) -> Floats:
        """Tables (k, G, C) as potentials in the argument order of the first factor, (k, size)."""
        turned = rows.reshape(len(rows), *self.shape)
        back = np.argsort(self.turned)
        return turned.transpose(0, *(1 + back)).reshape(len(rows), int(np.prod(self.shape)))


@dataclass(frozen=True, eq=False)
class PlacesOfIndividuals(Frozen):
    """All places of a graph; keys[e]: what each argument looks like, to align factors in a place.

    owners[m]: the individual of each factor, of `count`; declared: whether the model says so.
    left: unknown factors in places where nothing is known.
    """

    keys: Ints
    owners: Ints
    count: int
    declared: bool
    places: tuple[CohortPlace, ...]
    left: Ints


def places_of_individuals(graph: FactorGraph) -> PlacesOfIndividuals:
    """Everything that can be compared; near-linear."""
    kinds = graph.variable_kind
    degrees = np.where(kinds >= 0, 0, graph.degrees)
    keys = roles(graph.variable_range, degrees, kinds, None)[graph.arguments]
    owners, declared = _owners(graph)
    aligned = aligned_tables(graph, scaled_tables(graph.tables), keys)
    places, left = [], [np.zeros(0, dtype=np.int64)]
    for factors in members(factor_signatures(graph.offsets, keys)):
        factors = factors[np.argsort(owners[factors], kind="stable")]
        known = factors[graph.factor_table[factors] >= 0]
        holes = factors[graph.factor_table[factors] < 0]
        if len(known):
            places.append(_place(graph, keys, aligned, owners, known, holes))
        else:
            left.append(holes)
    count = int(owners.max(initial=-1)) + 1
    return PlacesOfIndividuals(
        keys, owners, count, declared, tuple(places), np.sort(np.concatenate(left))
    )


def _owners(graph: FactorGraph) -> tuple[Ints, bool]:
    """The individual of each factor, numbered by first occurrence, and whether it was declared."""
    declared = bool(len(graph.individuals))
    every = np.arange(len(graph.factor_names))
    if declared:
        owners = factor_owners(graph)
    else:
        apart = parts_without(graph, hubs(graph, kinds=True))
        owners = parts_of_factors(graph, apart, every)
    alone = int(owners.max(initial=-1)) + 1 + every
    return by_first_occurrence(np.where(owners >= 0, owners, alone)), declared


def _place(
    graph: FactorGraph, keys: Ints, aligned: Ints, owners: Ints, known: Ints, holes: Ints
) -> CohortPlace:
    first = int(known.min())
    rows = Owners(owners[known], int(owners.max()) + 1)
    shape = tuple(graph.sizes[graph.scope(first)].tolist())
    own = dict(first=first, known=known, holes=holes, owner_of_hole=owners[holes])
    supports = graph.support
    if supports is not None and supports.estimated[known].any():
        counts = _counts(graph, keys, known, first)
        given = int(supports.given[known[supports.estimated[known]][0]])
        turned = tuple(sorted(range(len(shape)), key=lambda axis: (not given >> axis & 1, axis)))
        sizes = tuple(shape[axis] for axis in turned)
        combinations = int(np.prod([shape[axis] for axis in turned if given >> axis & 1]))
        raw = counts.reshape(-1, *shape).transpose(0, *(1 + axis for axis in turned))
        evidence = Counts(np.ascontiguousarray(raw.reshape(len(known), combinations, -1)), rows)
        nothing, none = np.zeros((0, counts.shape[1])), np.zeros(0, dtype=np.int64)
        return CohortPlace(
            **own,
            evidence=evidence,
            turned=turned,
            shape=sizes,
            tables=nothing,
            donors=none,
            alone=0,
            estimated=True,
        )
    plain = tuple(range(len(shape)))
    return CohortPlace(
        **own, turned=plain, shape=shape, **_exact(graph, keys, aligned, known, first, rows)
    )


def _aligned_rows(
    graph: FactorGraph, keys: Ints, factors: Ints, first: int, rows: Floats
) -> Floats:
    """Potentials of factors, (k, size) in their own order, in the argument order of the first."""
    ((_, alignment),) = alignments(graph, keys, factors, np.full(len(factors), first))
    result = np.empty_like(rows)
    for alike in members(_numbered(alignment)):
        order = alignment[alike[0]]
        shape = graph.sizes[graph.scope(int(factors[alike[0]]))]
        turned = rows[alike].reshape(len(alike), *shape).transpose(0, *(1 + order))
        result[alike] = turned.reshape(len(alike), -1)
    return result


def _numbered(rows: Ints) -> Ints:
    from lifagu.basics.arrays import group_rows

    return group_rows(rows)


def _normalised(graph: FactorGraph, keys: Ints, factors: Ints, first: int) -> Floats:
    """The tables of factors in the order of the first one's arguments, each summing to 1."""
    numbers = graph.factor_table[factors]
    size = int(np.diff(graph.tables.offsets)[numbers[0]])
    rows = graph.tables.values[graph.tables.offsets[numbers, None] + np.arange(size)]
    rows = rows / rows.max(axis=1, keepdims=True)
    return _aligned_rows(graph, keys, factors, first, rows / rows.sum(axis=1, keepdims=True))


def _counts(graph: FactorGraph, keys: Ints, known: Ints, first: int) -> Floats:
    """Records behind the tables of a place; an exact one counts for very many."""
    supports = graph.support
    if supports is None:
        return np.zeros((0, 0))
    counts = supports.counts(graph, known)
    exact = np.flatnonzero(~supports.estimated[known])
    result = _aligned_rows(graph, keys, known, first, counts)
    if len(exact):
        result[exact] = AS_MANY_AS_EXACT * _normalised(graph, keys, known[exact], first)
    return result


def _exact(
    graph: FactorGraph, keys: Ints, aligned: Ints, known: Ints, first: int, rows: Owners
) -> dict[str, object]:
    """Tokens of a place, or counts where all its tables differ and scatter."""
    codes = by_first_occurrence(aligned[known])
    often = np.bincount(codes)
    repeated = often > 1
    alone = int((~repeated).sum())
    if alone > len(known) / 2 and alone >= FEW:
        return _scattered(graph, keys, known, first, rows, alone)
    number = np.where(repeated, np.cumsum(repeated) - 1, int(repeated.sum()))
    codes = number[codes]
    return _tokens(graph, keys, known, first, rows, codes, int(repeated.sum()), alone)


def _tokens(graph, keys, known, first, rows, codes, many, alone):  # type: ignore
    donors = np.full(many + 1, -1, dtype=np.int64)
    order = np.argsort(-known)
    donors[codes[order]] = known[order]
    tables = np.zeros((many + 1, 1))
    if many:
        found = _normalised(graph, keys, donors[:many], first)
        tables = np.zeros((many + 1, found.shape[1]))
        tables[:many] = found
    others = known[codes == many]
    donors[many] = -1
    if len(others):
        mean = _normalised(graph, keys, others, first).mean(axis=0)
        tables = np.vstack((tables[:many].reshape(many, len(mean)), mean))
    else:
        tables[many] = 1 / tables.shape[1]
    return dict(
        evidence=Tokens(codes, many + 1, rows),
        tables=tables,
        donors=donors,
        alone=alone,
        estimated=False,
    )


def _scattered(graph, keys, known, first, rows, alone):  # type: ignore
    """Tables of which no two are equal: noisy copies of a few, or one's own each."""
    raw = AS_MANY_AS_EXACT * _normalised(graph, keys, known, first)
    counts = Counts(raw[:, None], Owners(np.arange(len(known)), len(known)))
    found = clusters(counts, np.random.default_rng(0))
    if found.spread >= TIGHT and found.belonging.shape[1] < len(known) / 3:
        codes = found.belonging.argmax(axis=1)
        codes = by_first_occurrence(codes)
        many = int(codes.max()) + 1
        tokens = _tokens(graph, keys, known, first, rows, codes, many, 0)
        means = np.stack([raw[codes == each].mean(axis=0) for each in range(many)])
        tokens["tables"][:many] = means / means.sum(axis=1, keepdims=True)
        return tokens
    pooled = Counts(raw[:, None] / 20, rows)
    mean = raw.mean(axis=0)
    pooled = pooled.spread_around((mean / mean.sum())[None, None], np.ones((len(known), 1)))
    nothing, none = np.zeros((0, raw.shape[1])), np.zeros(0, dtype=np.int64)
    return dict(evidence=pooled, tables=nothing, donors=none, alone=alone, estimated=False)
