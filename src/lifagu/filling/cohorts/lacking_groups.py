"""Groups that lack a table as a whole: a ward whose test kit nobody described, not one patient.

Who shows the same exact table in one place is a group. If a group has holes in another place and no
known table there, although holes are not that frequent elsewhere, chance did not make them: it is
the group that lacks a table, not its members. Then members of other groups are no independent
witnesses either, and a hole is as likely to have a table as a group is, each group counting once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.filling.cohorts.place_evidence import TableTokens
from lifagu.filling.cohorts.places import CohortPlace

BY_CHANCE = 0.01  # how likely all members of a group may lack a table for it to be their own doing
FEWEST_GROUPS = 3  # groups with known tables, to be compared with
MOST_PLACES = 12  # in which groups are looked for


class LackingGroups:
    """For each place how likely tables are for individuals whose group lacks one there.

    row_of(place): for each individual a row of `chances`, or -1.
    """

    def __init__(self, places: Sequence[CohortPlace], individuals: int) -> None:
        self._places, self._count = places, individuals
        tokens = [number for number, place in enumerate(places) if _is_exact(place)]
        tokens.sort(key=lambda number: -len(places[number].known))
        self._groups = {number: self._group_of(number) for number in tokens[:MOST_PLACES]}
        self._found = [self._lacking(number) for number in range(len(places))]

    def row_of(self, number: int) -> Ints:
        """For each individual its row in `chances`, -1 if its group lacks nothing there."""
        return self._found[number][0]

    def chances(self, number: int) -> Floats:
        """How likely each table of the place is for a group, a row for each kind of groups."""
        return self._found[number][1]

    def _group_of(self, number: int) -> Ints:
        """The token that each individual shows in a place, -1 for none, several or its own."""
        evidence = self._places[number].shown.evidence
        group = np.full(self._count, -1, dtype=np.int64)
        if isinstance(evidence, TableTokens):
            group[evidence.owners.of] = evidence.codes
            many = np.bincount(evidence.owners.of, minlength=self._count)
            group[(many > 1) | (group == evidence.size - 1)] = -1
        return group

    def _lacking(self, number: int) -> tuple[Ints, Floats]:
        place = self._places[number]
        row_of, chances = np.full(self._count, -1, dtype=np.int64), list[Floats]()
        if not len(place.holes) or not _is_exact(place):
            return row_of, np.zeros((0, 0))
        size = np.zeros(self._count, dtype=np.int64)  # of the group that was found, the largest
        for other, group in self._groups.items():
            if other == number:
                continue
            lacking, members = self._groups_lacking(place, group)
            usual = self._by_group(place, group)
            if not lacking.any() or usual is None:
                continue
            holders = place.owner_of_hole[group[place.owner_of_hole] >= 0]
            own = group[holders]
            wanted = holders[lacking[own] & (members[own] > size[holders])]
            row_of[wanted], size[wanted] = len(chances), members[group[wanted]]
            chances.append(usual)
        return row_of, np.array(chances)

    @staticmethod
    def _groups_lacking(place: CohortPlace, group: Ints) -> tuple[Ints, Ints]:
        """Which groups lack a table in a place, and how many holes each has there."""
        count = int(group.max(initial=-1)) + 1
        holes, known = group[place.owner_of_hole], group[place.shown.evidence.owners.of]
        lacks = np.bincount(holes[holes >= 0], minlength=count)
        has = np.bincount(known[known >= 0], minlength=count)
        rate = (lacks[has > 0].sum() + 1) / (lacks[has > 0].sum() + has.sum() + 2)
        return (has == 0) & (lacks > 0) & (rate**lacks < BY_CHANCE), lacks

    @staticmethod
    def _by_group(place: CohortPlace, group: Ints) -> Floats | None:
        """How likely each table is for a group, each counting once; None where they are few."""
        evidence = place.shown.evidence
        if not isinstance(evidence, TableTokens):
            return None
        own = group[evidence.owners.of]
        count = int(group.max(initial=-1)) + 1
        cells = np.bincount(
            own[own >= 0] * evidence.size + evidence.codes[own >= 0],
            minlength=count * evidence.size,
        ).reshape(count, evidence.size)
        some = cells[cells.sum(axis=1) > 0]
        if len(some) < FEWEST_GROUPS:
            return None
        return np.asarray((some / some.sum(axis=1, keepdims=True)).mean(axis=0))


def _is_exact(place: CohortPlace) -> bool:
    return isinstance(place.shown.evidence, TableTokens)
