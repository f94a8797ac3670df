"""Filling all unknown factors of one individual from another: same places, equal known tables.

A variable's owner is the first individual it lists; a factor's owner is the common owner of its
arguments that have one (`scale.individuals` says the same in SQL, and a test asks both). A donor
individual has a table for every one of its factors and agrees with the receiver wherever that has
one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import (
    Ints,
    by_first_occurrence,
    first_places,
    group_lists,
    group_rows,
    members,
    offsets_of,
)
from lifagu.filling.donors import Offers
from lifagu.graph.factor_graph import FactorGraph


def variable_owners(graph: FactorGraph) -> Ints:
    """The individual each variable belongs to, which is the first it lists; -1 if it lists none."""
    listed = np.diff(graph.individual_offsets) > 0
    owner = np.full(len(graph.variable_names), -1, dtype=np.int64)
    owner[listed] = graph.individual_ids[graph.individual_offsets[:-1][listed]]
    return owner


def factor_owners(graph: FactorGraph) -> Ints:
    """The individual each factor belongs to, -1 if none or several."""
    owner = variable_owners(graph)
    result = np.full(len(graph.factor_names), -1, dtype=np.int64)
    for factors, matrix in graph.scopes:
        owners = owner[matrix]
        highest = owners.max(axis=1, initial=-1)
        same = ((owners == highest[:, None]) | (owners < 0)).all(axis=1)
        result[factors] = np.where(same, highest, -1)
    return result


def company(graph: FactorGraph) -> Ints:
    """Whom each variable lists beside its owner, numbered from 1, 0 for nobody."""
    many = np.diff(graph.individual_offsets)
    others = np.delete(graph.individual_ids, graph.individual_offsets[:-1][many > 0])
    lists = group_lists(offsets_of(np.maximum(many - 1, 0)), others)
    return np.where(many > 1, lists + 1, 0)


def told_apart(
    offsets: Ints, keys: Ints, owners: Ints, signatures: Ints, companions: Ints
) -> Ints | None:
    """Roles in which also companions count, where an owner has several factors in equal roles.

    keys[e], companions[e]: the role of each argument, and whom its variable lists beside the owner.
    None if that tells nothing apart.
    """
    pair = group_rows(np.column_stack((owners + 1, signatures)))
    crowded = (owners >= 0) & (np.bincount(pair)[pair] > 1)
    counted = np.where(np.repeat(crowded, np.diff(offsets)), companions, 0)
    return group_rows(np.column_stack((keys, counted))) if counted.any() else None


@dataclass(frozen=True, eq=False)
class OwnedFactors:
    """The factors of each individual that owns some: by signature, then in input order.

    factors[starts[i]:starts[i+1]] belong to individual i, and entry e to individual[e]; tokens[e]
    numbers its (signature, table), and known[e] says whether it has one; shape[i] numbers the
    multiset of an individual's signatures; size[i] is how many individuals it stands for.
    """

    starts: Ints
    factors: Ints
    individual: Ints
    tokens: Ints
    known: NDArray[np.bool_]
    shape: Ints
    size: Ints


@dataclass(frozen=True)
class Profile:
    """Donors with the same tables in the same places: how many, and the one declared first."""

    support: int
    first_factor: int
    individual: int
    tokens: Counter[int]


def offers_by_individual(
    owners: Ints,
    signatures: Ints,
    aligned: Ints,
    keys: Ints,
    sizes: Ints | None = None,
    asking: Ints | None = None,
) -> Offers:
    """Offers to the unknown factors of individuals for whom a donor individual exists.

    owners[m]: the individual that owns a factor, -1 for none; sizes[m]: how many individuals that
    one stands for, None for one each; asking: the unknown factors whose individuals get offers, all
    by default. Individuals are grouped by what they have; donors are looked
    up by the rarest table they must share.
    """
    owned = _owned_factors(owners, signatures, aligned, sizes)
    lookup = _Lookup(owned)
    asks = ~owned.known if asking is None else np.isin(owned.factors, asking)
    incomplete = np.unique(owned.individual[asks])
    class_of_individual = _receiver_classes(owned, incomplete)
    alternatives = [
        lookup.alternatives(int(incomplete[place]))
        for place in first_places(class_of_individual[incomplete]).tolist()
    ]
    served = np.array([bool(each) for each in alternatives], dtype=np.bool_)
    entries = np.flatnonzero(asks)
    entries = (
        entries[served[class_of_individual[owned.individual[entries]]]] if len(entries) else entries
    )
    receiver = by_first_occurrence(owned.individual[entries])
    slot = np.arange(len(entries)) - first_places(receiver)[receiver]
    offered = [(support, lent) for each in alternatives for support, lent in each]
    lengths = [len(lent) for _, lent in offered]
    return Offers(
        owned.factors[entries],
        (np.cumsum(served) - 1)[class_of_individual[owned.individual[entries]]],
        slot,
        np.concatenate(([0], np.cumsum([len(each) for each in alternatives if each]))).astype(
            np.int64
        ),
        np.array([support for support, _ in offered], dtype=np.int64),
        np.cumsum([0, *lengths])[:-1].astype(np.int64),
        np.array([factor for _, lent in offered for factor in lent], dtype=np.int64),
        keys,
        unit="individual",
        sizes=sizes,
    )


def _owned_factors(
    owners: Ints, signatures: Ints, aligned: Ints, sizes: Ints | None
) -> OwnedFactors:
    places = np.flatnonzero(owners >= 0)
    factors = places[np.lexsort((places, signatures[places], owners[places]))]
    individual = by_first_occurrence(owners[factors])
    starts = offsets_of(np.bincount(individual))
    tokens = group_rows(np.column_stack((signatures[factors], aligned[factors] + 1)))
    shape = group_lists(starts, signatures[factors])
    size = np.ones(len(shape), dtype=np.int64) if sizes is None else sizes[factors[starts[:-1]]]
    return OwnedFactors(starts, factors, individual, tokens, aligned[factors] >= 0, shape, size)


def _receiver_classes(owned: OwnedFactors, incomplete: Ints) -> Ints:
    """Class of each incomplete individual (equal shape, equal known tables); -1 for others."""
    classes = np.full(len(owned.shape), -1, dtype=np.int64)
    entries = np.flatnonzero(owned.known)
    entries = entries[np.lexsort((owned.tokens[entries], owned.individual[entries]))]
    per_individual = np.bincount(owned.individual[entries], minlength=len(owned.shape))
    known = group_lists(offsets_of(per_individual), owned.tokens[entries])
    classes[incomplete] = group_rows(np.column_stack((owned.shape[incomplete], known[incomplete])))
    return classes


class _Lookup:
    """Donor profiles by shape and by the tables in them."""

    def __init__(self, owned: OwnedFactors) -> None:
        self._owned_factors = owned
        self._by_shape: dict[int, list[Profile]] = defaultdict(list)
        self._by_token: dict[tuple[int, int], list[Profile]] = defaultdict(list)
        for shape, profile in _profiles(owned):
            self._by_shape[shape].append(profile)
            for token in profile.tokens:
                self._by_token[shape, token].append(profile)

    def alternatives(self, individual: int) -> list[tuple[int, list[int]]]:
        """(support, factors lent) of each profile that fits an incomplete one, best first."""
        owned, shape = self._owned_factors, int(self._owned_factors.shape[individual])
        entries = np.arange(owned.starts[individual], owned.starts[individual + 1])
        needed = Counter(owned.tokens[entries[owned.known[entries]]].tolist())
        pools = [self._by_token.get((shape, token), []) for token in needed]
        pool: Sequence[Profile] = min(pools, key=len) if pools else self._by_shape.get(shape, [])
        fitting = [profile for profile in pool if needed <= profile.tokens]
        fitting.sort(key=lambda profile: (-profile.support, profile.first_factor))
        return [(profile.support, self._lent(profile.individual, needed)) for profile in fitting]

    def _lent(self, donor: int, needed: Counter[int]) -> list[int]:
        """The donor's factors that are left when the receiver's known ones found an equal one."""
        owned, needed = self._owned_factors, needed.copy()
        lent = []
        for entry in range(owned.starts[donor], owned.starts[donor + 1]):
            token = int(owned.tokens[entry])
            if needed[token]:
                needed[token] -= 1
            else:
                lent.append(int(owned.factors[entry]))
        return lent


def _profiles(owned: OwnedFactors) -> list[tuple[int, Profile]]:
    """Shape and profile of the individuals without holes, grouped by equal tables."""
    complete = np.bincount(owned.individual[~owned.known], minlength=len(owned.shape)) == 0
    entries = (
        np.flatnonzero(complete[owned.individual])
        if len(owned.individual)
        else np.zeros(0, dtype=np.int64)
    )
    entries = entries[np.lexsort((owned.tokens[entries], owned.individual[entries]))]
    donors = np.flatnonzero(complete)
    starts = offsets_of(np.diff(owned.starts)[donors])
    declared = (
        np.minimum.reduceat(owned.factors, owned.starts[:-1]) if len(owned.shape) else owned.factors
    )
    found = []
    for group in members(group_lists(starts, owned.tokens[entries])):
        first = int(group[np.argmin(declared[donors[group]])])
        individual = int(donors[first])
        tokens = Counter(owned.tokens[entries[starts[first] : starts[first + 1]]].tolist())
        support = int(owned.size[donors[group]].sum())
        found.append(
            (
                int(owned.shape[individual]),
                Profile(support, int(declared[individual]), individual, tokens),
            )
        )
    return found
