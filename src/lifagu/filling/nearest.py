"""Who is nearest to the owner of an unknown factor, who agrees, and what would settle it.

Nothing here is computed before somebody asks; then what all factors have is compared once, and an
explanation costs a pass over those who have a factor in such a place.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import (
    Floats,
    Ints,
    by_first_occurrence,
    first_places,
    group_lists,
    group_rows,
    offsets_of,
)
from lifagu.basics.cached import cached_property
from lifagu.filling.alignment import aligned_tables
from lifagu.filling.completions import Completions
from lifagu.filling.donors import Offers
from lifagu.filling.explanation import FEW, Explanation, Neighbour, Settling
from lifagu.filling.individuals import factor_owners
from lifagu.graph.assembly import taken_lists
from lifagu.likeness.merging import scaled_tables
from lifagu.likeness.roles import factor_signatures, variable_roles

FEW_TOKENS = 16  # different pairs of place and table that are counted one by one
GAIN = 0.05  # of the candidates for whom a place must find the table beyond what all others do


class Nearest:
    """A transfer, and what its factors and their owners have in comparison.

    keys[e]: what each argument looks like in its place, however far was looked when filling.
    """

    def __init__(self, moved: Completions, keys: Ints | None = None) -> None:
        self.moved, self.graph = moved, moved.original
        self.owner = factor_owners(self.graph)
        self.keys = _plain_keys(moved) if keys is None else keys
        self._in_company: Nearest | None = None  # where companions tell factors apart

    @cached_property
    def signatures(self) -> Ints:
        """The place of each factor."""
        return factor_signatures(self.graph.offsets, self.keys)

    @cached_property
    def tables(self) -> Ints:
        """The table of each factor, arguments aligned by role; -1 if unknown."""
        tables, scaled = self.graph.tables, self.moved.filling.up_to_scale
        keys = np.zeros_like(self.keys) if self.moved.filling.published else self.keys
        return aligned_tables(self.graph, scaled_tables(tables) if scaled else tables, keys)

    @cached_property
    def tokens(self) -> Ints:
        """The pair of place and table of each factor, numbered."""
        return group_rows(np.column_stack((self.signatures, self.tables + 1)))

    @cached_property
    def belongings(self) -> tuple[Ints, Ints]:
        """Where the factors of each individual begin, and the factors in this order."""
        counts = np.bincount(self.owner + 1, minlength=len(self.graph.individuals) + 1)
        order = np.argsort(self.owner, kind="stable")
        return offsets_of(counts[1:]), order[counts[0] :]

    @cached_property
    def profiles(self) -> Ints:
        """Individuals with equal tables in equal places, numbered alike."""
        first, factors = self.belongings
        return group_lists(first, self.tokens[factors], ordered=False)

    # ---- one factor

    def explain(self, factor: int, offers: Offers, donor: int | None) -> Explanation:
        """Why a factor takes the table of a donor: by whom that was offered; None if nobody."""
        if offers.unit == "individual" and not np.array_equal(offers.keys, self.keys):
            if self._in_company is None:
                self._in_company = Nearest(self.moved, offers.keys)
            return self._in_company.explain(factor, offers, donor)
        names, owner = self.graph.factor_names, int(self.owner[factor])
        peers = self._peers(factor, offers)
        agrees = self._agrees(peers, offers, donor)
        who = [self._named(each) for each in peers[agrees][:FEW].tolist()]
        known = self.known(owner)
        near, as_near = self._nearest(known, peers, agrees) if len(known) else ((), 0)
        return Explanation(
            names[factor],
            None if owner < 0 else self.graph.individuals[owner],
            len(known),
            tuple(who),
            int(agrees.sum()),
            near,
            as_near,
            self._settling(factor, peers) if owner >= 0 else None,
        )

    def _peers(self, factor: int, offers: Offers) -> Ints:
        """The known factors in such a place; of those of one other individual the first."""
        looks = (
            self.signatures
            if offers.steps is None
            else factor_signatures(self.graph.offsets, offers.keys)
        )
        peers = np.flatnonzero((looks == looks[factor]) & (self.graph.factor_table >= 0))
        if offers.unit == "individual":
            peers = peers[self._may_lend(factor)[self.owner[peers]] & (self.owner[peers] >= 0)]
        owner = self.owner[peers]
        single = np.where(owner >= 0, owner, len(self.graph.individuals) + peers)
        first = np.unique(single, return_index=True)[1]
        peers = peers[np.sort(first)]
        mine = int(self.owner[factor])
        return peers if mine < 0 else peers[self.owner[peers] != mine]

    def _may_lend(self, factor: int) -> NDArray[np.bool_]:
        """Which individuals could lend as a whole: same places, no hole, equal where known."""
        first, factors = self.belongings
        places = group_lists(first, self.signatures[factors], ordered=False)
        holes = np.zeros(len(places), dtype=np.int64)
        np.add.at(holes, self.owner[factors], self.graph.factor_table[factors] < 0)
        mine = int(self.owner[factor])
        fits: NDArray[np.bool_] = (places == places[mine]) & (holes == 0)
        same = self.shared(self.known(mine))
        fits &= same == len(self.known(mine))
        return fits

    def _agrees(self, peers: Ints, offers: Offers, donor: int | None) -> NDArray[np.bool_]:
        """Who has the same as the donor: the table, or all of them where individuals lend."""
        if donor is None:
            return np.zeros(len(peers), dtype=np.bool_)
        if offers.unit == "individual":
            owners = self.owner[peers]
            same: NDArray[np.bool_] = self.profiles[owners] == self.profiles[self.owner[donor]]
            return same
        found: NDArray[np.bool_] = self.tables[peers] == self.tables[donor]
        return found

    def known(self, owner: int) -> Ints:
        """The factors of an individual whose tables are known."""
        first, factors = self.belongings
        mine = factors[first[owner] : first[owner + 1]] if owner >= 0 else factors[:0]
        return mine[self.graph.factor_table[mine] >= 0]

    def _named(self, factor: int) -> str:
        owner = int(self.owner[factor])
        return self.graph.individuals[owner] if owner >= 0 else self.graph.factor_names[factor]

    # ---- nearest

    def rarity(self, known: Ints) -> Floats:
        """Minus the log of the share of the known tables in such a place that are as these are."""
        has = np.flatnonzero(self.graph.factor_table >= 0)
        same = np.bincount(self.tokens[has])[self.tokens[known]]
        return np.asarray(-np.log(same / np.bincount(self.signatures[has])[self.signatures[known]]))

    def shared(self, known: Ints, weights: Floats | None = None) -> Floats:
        """How many of these known tables each individual has as well, in such places.

        weights: how much each of them counts; None: 1.
        """
        tokens, counts = np.unique(self.tokens[known], return_counts=True)
        if len(tokens) <= FEW_TOKENS:
            return self._shared_one_by_one(known, weights, tokens, counts)
        mine = np.zeros(int(self.tokens.max(initial=-1)) + 1, dtype=np.int64)
        mine[tokens] = counts
        weight = np.ones(len(mine))
        weight[self.tokens[known]] = 1.0 if weights is None else weights
        _, factors = self.belongings
        factors = factors[mine[self.tokens[factors]] > 0]
        pairs = group_rows(np.column_stack((self.owner[factors], self.tokens[factors])))
        first = first_places(pairs)
        shared = np.minimum(np.bincount(pairs), mine[self.tokens[factors[first]]])
        total = np.zeros(len(self.graph.individuals))
        np.add.at(total, self.owner[factors[first]], shared * weight[self.tokens[factors[first]]])
        return total

    def _shared_one_by_one(
        self, known: Ints, weights: Floats | None, tokens: Ints, counts: Ints
    ) -> Floats:
        """The same, pair of place and table by pair: counting takes less than sorting."""
        total = np.zeros(len(self.graph.individuals))
        for token, mine in zip(tokens.tolist(), counts.tolist(), strict=True):
            theirs = self.owner[self.tokens == token]
            have = np.bincount(theirs[theirs >= 0], minlength=len(total))
            last = np.flatnonzero(self.tokens[known] == token)[-1]
            total += np.minimum(have, mine) * (1.0 if weights is None else weights[last])
        return total

    def _nearest(
        self, known: Ints, peers: Ints, agrees: NDArray[np.bool_]
    ) -> tuple[tuple[Neighbour, ...], int]:
        """The owners of peers that share the most known tables, and how many share as many.

        Of those as near as each other, the ones that agree come first, then as declared.
        """
        owned = np.flatnonzero(self.owner[peers] >= 0)
        shared = self.shared(known)[self.owner[peers[owned]]]
        first = owned[np.lexsort((~agrees[owned], -shared))[:FEW]]
        found = [self._neighbour(known, int(peers[place]), bool(agrees[place])) for place in first]
        return tuple(found), int((shared == shared.max(initial=0)).sum())

    def _neighbour(self, known: Ints, peer: int, agrees: bool) -> Neighbour:
        same = self.compared(known, int(self.owner[peer]))
        return Neighbour(self._named(peer), self.graph.factor_names[peer], *same, agrees)

    def compared(self, known: Ints, other: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Which of these known factors another individual has the same table as, and which not."""
        theirs = self.known(other)
        left, places = Counter(self.tokens[theirs].tolist()), set(self.signatures[theirs].tolist())
        same, differs = [], []
        for factor in known.tolist():
            name, token = self.graph.factor_names[factor], int(self.tokens[factor])
            if left[token]:
                left[token] -= 1
                same.append(name)
            elif int(self.signatures[factor]) in places:
                differs.append(name)
        return tuple(same), tuple(differs)

    # ---- what would settle it

    def _settling(self, factor: int, peers: Ints) -> Settling | None:
        """Which other hole of the owner would tell the tables of peers apart best, if any would."""
        peers = peers[self.owner[peers] >= 0]
        if len(np.unique(self.tables[peers])) < 2:
            return None
        everybody = np.zeros(len(peers), dtype=np.int64)
        before, best = right(everybody, self.tables[peers]), None
        first, factors = self.belongings
        mine = factors[first[self.owner[factor]] : first[self.owner[factor] + 1]]
        holes = mine[self.graph.factor_table[mine] < 0]
        least = before + max(GAIN * len(peers), 1)
        for hole in holes[self.signatures[holes] != self.signatures[factor]].tolist():
            found = right(self._there(self.owner[peers], hole), self.tables[peers])
            if found > least or (best and found > best.right):
                best = Settling(self.graph.factor_names[hole], found, before, len(peers))
                least = found
        return best

    def _there(self, owners: Ints, hole: int) -> Ints:
        """What individuals have in the place of a hole, numbered; who has nothing is alone."""
        first, factors = self.belongings
        entries, ends = taken_lists(first, factors, owners)
        starts = np.concatenate(([0], ends - first[-1]))
        kept = self.signatures[entries] == self.signatures[hole]
        counts = np.concatenate(([0], np.cumsum(kept)))[starts]
        tables = self.tables[entries[kept]]
        numbers = group_lists(counts, tables + 1, ordered=False)
        unsure = np.diff(counts) == 0
        holders = np.repeat(np.arange(len(owners)), np.diff(counts))
        unsure[holders[tables < 0]] = True
        alone = int(numbers.max(initial=-1)) + 1 + np.arange(len(owners))
        return by_first_occurrence(np.where(unsure, alone, numbers))


def right(alike: Ints, tables: Ints) -> int:
    """For how many the table that most others alike have is the one they have; ties are wrong.

    >>> right(np.array([0, 0, 0, 0]), np.array([5, 5, 5, 6]))
    3
    >>> right(np.array([0, 0, 1, 1]), np.array([5, 5, 6, 6])), right(np.arange(4), np.arange(4))
    (4, 0)
    """
    pair = group_rows(np.column_stack((alike, tables)))
    first = np.unique(pair, return_index=True)[1]
    counts, group = np.bincount(pair), alike[first]
    order = np.lexsort((-counts, group))
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    top = np.zeros(int(alike.max(initial=-1)) + 1, dtype=np.int64)
    second = top.copy()
    top[group[order[starts]]] = counts[order[starts]]
    more = starts[np.diff(np.append(starts, len(order))) > 1]
    second[group[order[more]]] = counts[order[more + 1]]
    # without one of its own, a table must have more than the best of the others
    rival = np.where(counts == top[group], second[group], top[group])
    return int(counts[counts - 1 > rival].sum())


def _plain_keys(moved: Completions) -> Ints:
    """The roles of arguments, as in the last offers, where no company counts."""
    if moved.filling.steps is None and moved.offers:
        return moved.offers[-1].keys
    kinds = moved.filling.uses_kinds
    return variable_roles(moved.original, kinds=kinds)[moved.original.arguments]
