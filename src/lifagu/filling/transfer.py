"""Transfer, the heart of LIFAGU: unknown factors take tables of known ones in symmetric places.

Luttermann, Möller and Gehrke (2023), Algorithm 1, computed by grouping instead of comparing pairs.
The differences to the paper, each of which can be switched off, are documented in docs/transfer.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.basics.inputs import number
from lifagu.errors import ModelError
from lifagu.filling.agreement import agreed_offers, unsettled
from lifagu.filling.alignment import aligned_tables
from lifagu.filling.donors import Offers, offers_by_signature
from lifagu.filling.individuals import company, factor_owners, offers_by_individual, told_apart
from lifagu.filling.neighbourhood import hubs, neighbourhood_keys
from lifagu.filling.result import Transfer
from lifagu.filling.rules import Filling
from lifagu.graph.evidence import EvidenceLike
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.tables import Tables
from lifagu.likeness.argument_order import canonical_orders
from lifagu.likeness.merging import compared, merge_tables, scaled_tables
from lifagu.likeness.roles import factor_signatures, variable_roles
from lifagu.likeness.tolerance_bound import Drift, rounded_up

if TYPE_CHECKING:
    from lifagu.filling.cohorts.places import PlacesOfIndividuals


def transfer(
    graph: FactorGraph, theta: float = 0.0, evidence: EvidenceLike = None, **settings: Any
) -> Transfer:
    """Fill unknown factors from known ones in symmetric places; near-linear in the graph.

    Parameters
    ----------
    graph : FactorGraph
        A graph with holes.
    theta : float
        The share of candidates that must agree, from 0 to 1.
    evidence : mapping or Evidence, optional
        What was observed; tells arguments apart under "lifagu".
    **settings
        The others of `Filling`, such as ``steps=4``.

    Returns
    -------
    Transfer
        The completed graph, and a record for each unknown factor.

    Examples
    --------
    >>> graph = FactorGraph.build().variables(["A", "B", "C"])
    >>> graph = graph.factor("f1", ["A", "B"], [1, 2, 3, 4]).factor("f2", ["C", "B"], None).graph()
    >>> moved = transfer(graph)
    >>> moved.record[0].donor, moved.graph.factor("f2").table.tolist()
    ('f1', [[1.0, 2.0], [3.0, 4.0]])
    """
    given = {"theta": number("theta", theta), **settings}
    return fill(graph, Filling.of(given), evidence)


def fill(graph: FactorGraph, filling: Filling, evidence: EvidenceLike = None) -> Transfer:
    """The same with all options in one value."""
    if not isinstance(graph, FactorGraph):
        raise ModelError(
            f"transfer takes a FactorGraph, not {type(graph).__name__}; ground a relational model "
            "first"
        )
    graph, drift, equality = _merged(graph, filling)
    if not (len(graph.unknown) or filling.merges_tables):
        nobody = np.full(len(graph.factor_names), -1)
        return Transfer(graph, filling, (), np.zeros_like(nobody), nobody, equality, drift)
    plain = _by_agreement(graph, filling, evidence, equality, drift)
    return _with_cohorts(plain) if filling.by == "auto" else plain


def _by_agreement(
    graph: FactorGraph, filling: Filling, evidence: EvidenceLike, equality: str, drift: Drift | None
) -> Transfer:
    """Every hole from candidates in such a place, by how many of them agree."""
    seen = graph.evidence(evidence)
    literal = filling.to_the_letter
    roles = variable_roles(graph, kinds=not literal, evidence=seen if literal else None)
    keys = roles[graph.arguments]
    tables = scaled_tables(graph.tables) if filling.up_to_scale else graph.tables
    align = partial(aligned_tables, graph, tables)
    aligned = align(np.zeros_like(keys) if literal else keys)
    signatures = factor_signatures(graph.offsets, keys)
    whole = bool(len(graph.individuals)) and not (literal or filling.is_wide)
    owners = factor_owners(graph) if whole else np.full(len(graph.factor_names), -1)
    if filling.is_wide:
        depth, around = int(filling.steps or 0) // 2, hubs(graph, kinds=not literal)
        levels = neighbourhood_keys(graph, roles, aligned, depth, around)
        offers = _offers_with_back_off(graph, tables, levels, literal)
    else:
        companions = company(graph)[graph.arguments]
        offers = _plain_offers(graph, signatures, aligned, keys, owners, companions, align)
    return Transfer(graph, filling, tuple(offers), signatures, owners, equality, drift)


def _with_cohorts(plain: Transfer) -> Transfer:
    """The same, but cohorts fill the holes for which tables compete, or are estimates."""
    graph = plain.original
    settled = agreed_offers(plain)
    rest = unsettled(plain, settled)
    if not len(rest):
        return plain
    from lifagu.filling.cohorts.places import places_of_individuals

    places = places_of_individuals(graph, rest)
    if len(places.left) == len(rest):  # nobody can say anything about them
        return plain
    return found_by_cohorts(plain, places, settled)


def found_by_cohorts(
    plain: Transfer, places: PlacesOfIndividuals, settled: Sequence[Offers]
) -> Transfer:
    """A transfer in which cohorts fill what is not settled."""
    from lifagu.filling.cohorts.completing import CohortTransfer
    from lifagu.filling.cohorts.offering import offers_by_cohorts
    from lifagu.filling.cohorts.posterior import CohortPosterior

    posterior = CohortPosterior.of(places, plain.filling.seed)
    offers = (*settled, offers_by_cohorts(posterior))
    given = {each.name: getattr(plain, each.name) for each in fields(plain)}
    return CohortTransfer(**given | {"offers": offers, "posterior": posterior})


def transfer_types(
    graph: FactorGraph, keys: Ints, sizes: Ints, owners: Ints, companions: Ints, filling: Filling
) -> Transfer:
    """The same where factor f stands for sizes[f] factors that share its table and its keys.

    keys[e]: the role of each argument, which the graph itself need not show; factors are in the
    order of the first they stand for. owners[f]: the individual that owns factor f, -1 for none; it
    stands for sizes[f] individuals whose factors are alike in each place. The first of these stands
    for itself alone, as it is the one that lends. companions[e]: a number for whom the variable of
    an argument lists beside its owner, 0 for nobody.
    """
    tables = scaled_tables(graph.tables) if filling.up_to_scale else graph.tables
    align = partial(aligned_tables, graph, tables)
    aligned = align(np.zeros_like(keys) if filling.to_the_letter else keys)
    signatures = factor_signatures(graph.offsets, keys)
    offers = tuple(
        _plain_offers(graph, signatures, aligned, keys, owners, companions, align, sizes)
    )
    equality = "up to a factor" if filling.up_to_scale else "exactly"
    return Transfer(graph, filling, offers, signatures, owners, equality, None)


def _merged(graph: FactorGraph, filling: Filling) -> tuple[FactorGraph, Drift | None, str]:
    """The graph with almost equal tables merged, how far they moved, and how they were compared."""
    tolerance, up_to_scale = filling.tolerance, filling.up_to_scale
    scale = ["up to a factor"] if up_to_scale else []
    if tolerance is None:
        return graph, None, "".join(scale) or "exactly"
    orders = None
    if filling.commutative:
        orders = canonical_orders(compared(graph.tables, up_to_scale), tolerance)
    merged = merge_tables(graph, tolerance, up_to_scale=up_to_scale, orders=orders)
    change = f"within {tolerance:g} (largest relative change {rounded_up(merged.largest_change)})"
    return merged.graph, merged.drift, " and ".join([change, *scale])


def _plain_offers(
    graph: FactorGraph,
    signatures: Ints,
    aligned: Ints,
    keys: Ints,
    owners: Ints,
    companions: Ints,
    align: Callable[[Ints], Ints],
    sizes: Ints | None = None,
) -> Iterator[Offers]:
    """From individual to individual where that works, else from factor to factor.

    First from those who have factors in equal roles with the same companions, told by whom each
    argument's variable lists beside its owner. align: numbers tables by keys as `aligned` does.
    """
    apart = told_apart(graph.offsets, keys, owners, signatures, companions)
    rest = graph.unknown
    if (owners >= 0).any():
        if apart is not None:
            own = factor_signatures(graph.offsets, apart)
            offers = offers_by_individual(owners, own, align(apart), apart, sizes)
            yield offers
            rest = np.setdiff1d(rest, offers.receivers)
        offers = offers_by_individual(owners, signatures, aligned, keys, sizes, rest)
        yield offers
        rest = np.setdiff1d(rest, offers.receivers)
    yield offers_by_signature(
        rest, np.flatnonzero(graph.factor_table >= 0), signatures, aligned, keys, sizes=sizes
    )


def _offers_with_back_off(
    graph: FactorGraph, tables: Tables, levels: Sequence[Ints], positional: bool
) -> Iterator[Offers]:
    """From the widest neighbourhood to the narrowest; classes without a candidate go on."""
    rest = graph.unknown
    known = np.flatnonzero(graph.factor_table >= 0)
    for depth in range(len(levels), 0, -1):
        keys = levels[depth - 1]
        aligned = aligned_tables(graph, tables, np.zeros_like(keys) if positional else keys)
        offers = offers_by_signature(
            rest, known, factor_signatures(graph.offsets, keys), aligned, keys, steps=2 * depth
        )
        served = offers.alternatives > 0
        if depth > 1:
            offers = offers.only(served)
        yield offers
        rest = np.setdiff1d(rest, offers.receivers)
