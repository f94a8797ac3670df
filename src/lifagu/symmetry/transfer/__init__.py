"""Transfer, the heart of LIFAGU: unknown factors take the tables of known factors in symmetric places.

Luttermann, Möller and Gehrke (2023), Algorithm 1, computed by grouping instead of comparing pairs. The differences to
the paper, each of which can be switched off, are documented in docs/transfer.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from lifagu.arrays import Ints
from lifagu.drift import Drift, rounded_up
from lifagu.errors import ModelError
from lifagu.evidence import EvidenceLike
from lifagu.given import flag, number, whole
from lifagu.model import FactorGraph
from lifagu.roles import factor_signatures, variable_roles
from lifagu.rounding import compared, merge_tables, scaled_tables
from lifagu.symmetry.exchange import canonical_orders
from lifagu.symmetry.transfer.columns import record_columns
from lifagu.symmetry.transfer.individuals import factor_owners, offers_by_individual, variable_owners
from lifagu.symmetry.transfer.lending import aligned_tables
from lifagu.symmetry.transfer.neighbourhood import hubs, neighbourhood_keys
from lifagu.symmetry.transfer.offers import Offers, offers_by_signature
from lifagu.symmetry.transfer.profiles import offers_by_profile
from lifagu.symmetry.transfer.result import OpenClass, Transfer
from lifagu.tables import Tables
from lifagu.views import counted

__all__ = [
    "OpenClass",
    "Transfer",
    "factor_owners",
    "record_columns",
    "transfer",
    "transfer_types",
    "variable_owners",
]


MOST_STEPS = 10_000


def transfer(
    graph: FactorGraph,
    theta: float = 0.0,
    evidence: EvidenceLike = None,
    *,
    structure_only: bool = False,
    published: bool = False,
    evidence_in_roles: bool = False,
    steps: int | None = None,
    profiles: bool = False,
    digits: int | None = None,
    tolerance: float | None = None,
    up_to_scale: bool = False,
    commutative: bool = False,
) -> Transfer:
    """Fill unknown factors from known ones in symmetric places; near-linear in the graph.

    theta: the share of candidates that must agree. By default arguments are aligned by role, kinds are part of the
    role where declared, and the unknown factors of an individual come from one donor individual where one matches.
    structure_only: neither kinds nor individuals. evidence_in_roles: arguments with different evidence differ, as in
    the paper. published: the paper to the letter (structure only, evidence in roles, tables copied by position).
    steps: compare neighbourhoods of 2, 4, 6, … steps instead, backing off to fewer where there is no candidate.
    profiles: candidates are factors of individuals that agree with the owner on its other, informative tables.
    digits: tables that are equal to so many significant digits become the one declared first, in the whole graph.
    tolerance: tables within so much of each other, as a share, become their mean, in the whole graph.
    up_to_scale: tables that differ by a factor agree (the donor's is taken as it is).
    commutative: digits and tolerance also bring tables together whose arguments are listed in another order.

    >>> graph = (
    ...     FactorGraph.build().variables(["A", "B", "C"])
    ...     .factor("f1", ["A", "B"], [1, 2, 3, 4]).factor("f2", ["C", "B"], None).graph()
    ... )
    >>> moved = transfer(graph)
    >>> moved.record[0].donor, moved.graph.factor("f2").table.tolist()
    ('f1', [[1.0, 2.0], [3.0, 4.0]])
    """
    if not isinstance(graph, FactorGraph):
        raise ModelError(f"transfer takes a FactorGraph, not {type(graph).__name__}; ground a relational model first")
    if not 0 <= number("theta", theta) <= 1:
        raise ModelError(f"theta must lie between 0 and 1, not {theta}")
    for name, given in (
        ("structure_only", structure_only), ("published", published), ("evidence_in_roles", evidence_in_roles),
        ("profiles", profiles), ("up_to_scale", up_to_scale), ("commutative", commutative),
    ):  # fmt: skip
        flag(name, given)
    if steps is not None and (not 2 <= whole("steps", steps, 0) <= MOST_STEPS or steps % 2):
        raise ModelError(f"steps must be 2, 4, 6, …, up to {MOST_STEPS}, not {steps}")
    if steps is not None and published:
        raise ModelError("the published algorithm knows no steps; leave out published or steps")
    if profiles:
        _check_profiles(graph, structure_only or published, steps)
    graph, drift, equality = _merged(graph, digits, tolerance, up_to_scale, commutative)
    structure_only |= published
    seen = graph.evidence(evidence)
    observed = seen if evidence_in_roles or published else None
    roles = variable_roles(graph, kinds=not structure_only, evidence=observed)
    keys = roles[graph.arguments]
    tables = scaled_tables(graph.tables) if up_to_scale else graph.tables
    positional = np.zeros_like(keys) if published else keys
    aligned = aligned_tables(graph, tables, positional)
    signatures = factor_signatures(graph.offsets, keys)
    use_individuals = bool(len(graph.individuals)) and not (structure_only or profiles) and steps is None
    owners = factor_owners(graph) if use_individuals else np.full(len(graph.factor_names), -1)
    if profiles:
        offers = _offers_with_profiles(graph, signatures, aligned, keys)
    elif published or steps is None:
        offers = _plain_offers(graph, signatures, aligned, keys, owners)
    else:
        hub = hubs(graph, kinds=not structure_only)
        levels = neighbourhood_keys(graph, roles, aligned, steps // 2, hub)
        offers = _offers_with_back_off(graph, tables, levels)
    return Transfer(graph, float(theta), tuple(offers), signatures, owners, published, up_to_scale, equality, drift)


def transfer_types(
    graph: FactorGraph,
    keys: Ints,
    sizes: Ints,
    owners: Ints,
    theta: float,
    *,
    published: bool = False,
    up_to_scale: bool = False,
) -> Transfer:
    """The same where each factor of the graph stands for sizes[f] factors that share its table and its keys.

    keys[e]: the role of each argument, which the graph itself need not show; factors are in the order of the first they
    stand for. owners[f]: the individual that owns factor f, -1 for none; it stands for sizes[f] individuals whose
    factors are alike in each place. The first of these stands for itself alone, as it is the one that lends.
    """
    tables = scaled_tables(graph.tables) if up_to_scale else graph.tables
    aligned = aligned_tables(graph, tables, np.zeros_like(keys) if published else keys)
    signatures = factor_signatures(graph.offsets, keys)
    offers = tuple(_plain_offers(graph, signatures, aligned, keys, owners, sizes))
    equality = "up to a factor" if up_to_scale else "exactly"
    return Transfer(graph, float(theta), offers, signatures, owners, published, up_to_scale, equality, None)


def _merged(
    graph: FactorGraph, digits: int | None, tolerance: float | None, up_to_scale: bool, commutative: bool
) -> tuple[FactorGraph, Drift | None, str]:
    """The graph with almost equal tables merged, how far that moved them, and how they were compared, in words."""
    scale = ["up to a factor"] * up_to_scale
    if digits is None and tolerance is None:
        return graph, None, "".join(scale) or "exactly"
    orders = None
    if commutative:
        orders = canonical_orders(compared(graph.tables, digits, up_to_scale), tolerance or 0.0)
    merged = merge_tables(graph, digits=digits, tolerance=tolerance, up_to_scale=up_to_scale, orders=orders)
    closeness = f"within {tolerance:g}" if digits is None else f"to {counted(digits, 'significant digit')}"
    change = f"{closeness} (largest relative change {rounded_up(merged.largest_change)})"
    return merged.graph, merged.drift, " and ".join([change, *scale])


def _plain_offers(
    graph: FactorGraph, signatures: Ints, aligned: Ints, keys: Ints, owners: Ints, sizes: Ints | None = None
) -> Iterator[Offers]:
    """From individual to individual where that works, else from factor to factor."""
    rest = graph.unknown
    if (owners >= 0).any():
        offers = offers_by_individual(owners, signatures, aligned, keys, sizes)
        yield offers
        rest = np.setdiff1d(rest, offers.receivers)
    yield offers_by_signature(rest, np.flatnonzero(graph.factor_table >= 0), signatures, aligned, keys, sizes=sizes)


def _offers_with_profiles(graph: FactorGraph, signatures: Ints, aligned: Ints, keys: Ints) -> Iterator[Offers]:
    """From owners that agree on other tables, else from all factors in such a place."""
    offers = offers_by_profile(graph, signatures, aligned, keys)
    yield offers
    rest = np.setdiff1d(graph.unknown, offers.receivers)
    plain = offers_by_signature(rest, np.flatnonzero(graph.factor_table >= 0), signatures, aligned, keys)
    yield replace(plain, agreed=np.zeros(len(plain.first) - 1, dtype=np.int64))


def _check_profiles(graph: FactorGraph, structure_only: bool, steps: int | None) -> None:
    if structure_only or steps is not None:
        raise ModelError("profiles cannot be combined with published, structure_only or steps; leave out one of them")
    if not len(graph.individuals):
        raise ModelError("profiles compare individuals, and no variable has one; declare them or leave out profiles")


def _offers_with_back_off(graph: FactorGraph, tables: Tables, levels: Sequence[Ints]) -> Iterator[Offers]:
    """From the widest neighbourhood to the narrowest; classes without a candidate go on to the next."""
    rest = graph.unknown
    known = np.flatnonzero(graph.factor_table >= 0)
    for depth in range(len(levels), 0, -1):
        keys = levels[depth - 1]
        aligned = aligned_tables(graph, tables, keys)
        offers = offers_by_signature(
            rest, known, factor_signatures(graph.offsets, keys), aligned, keys, steps=2 * depth
        )
        served = offers.alternatives > 0
        if depth > 1:
            offers = offers.only(served)
        yield offers
        rest = np.setdiff1d(rest, offers.receivers)
