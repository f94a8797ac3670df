"""Places: which factors of individuals can be compared, and what each individual shows there.

A place is a sort of factor, known by its arguments' ranges and kinds (degrees, where no kind is
declared), and by the company in which it stands, where tables differ by it. Factors without an
owner are individuals of their own. Where no individuals are declared, an individual is what hangs
together once the variables that everybody shares are cut.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Ints, by_first_occurrence, members
from lifagu.basics.frozen import Frozen
from lifagu.filling.alignment import aligned_tables
from lifagu.filling.cohorts.company import by_company, company
from lifagu.filling.cohorts.place_evidence import Owners
from lifagu.filling.cohorts.shown_tables import PlaceReader, ShownTables
from lifagu.filling.cohorts.steady_places import is_steady
from lifagu.filling.individuals import factor_owners
from lifagu.filling.neighbourhood import hubs
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.parts import parts_of_factors, parts_without
from lifagu.likeness.merging import scaled_tables
from lifagu.likeness.roles import factor_signatures, place_roles


@dataclass(frozen=True, eq=False)
class CohortPlace(Frozen):
    """One place: its first known factor, the known ones, the holes, and whose they are.

    known, holes: factors, by owner; owner_of_hole: individuals; shown: what the known ones show.
    steady: whether all factors of an individual have one table here; known has then one of each,
    and others the further ones, which have the table of known[row_of_other].
    """

    first: int
    known: Ints
    holes: Ints
    owner_of_hole: Ints
    shown: ShownTables
    steady: bool
    others: Ints
    row_of_other: Ints

    def having(self, rows: Ints) -> tuple[Ints, Ints]:
        """All factors that have the tables of some of `known`, and the place of each in rows."""
        place = np.full(len(self.known), -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        of_other = place[self.row_of_other]
        some = of_other >= 0
        factors = np.concatenate((self.known[rows], self.others[some]))
        return factors, np.concatenate((np.arange(len(rows)), of_other[some]))

    def apart(self, holes: Ints) -> tuple[Ints, Ints]:
        """Of some holes (their numbers here, ascending) those whose tables are apart.

        And for each hole the place among these of the one whose table it has.
        """
        if not self.steady:
            return holes, np.arange(len(holes))
        new = np.diff(self.owner_of_hole[holes], prepend=-1) != 0
        return holes[new], np.cumsum(new) - 1


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


def places_of_individuals(graph: FactorGraph, wanted: Ints) -> PlacesOfIndividuals:
    """Everything that can be compared; wanted: the unknown factors to be filled. Near-linear."""
    is_hole = np.zeros(len(graph.factor_names), dtype=np.bool_)
    is_hole[wanted] = True
    of_variables = place_roles(graph.variable_range, graph.degrees, graph.variable_kind)
    keys = of_variables[graph.arguments]
    owners, declared = _owners(graph)
    aligned = aligned_tables(graph, scaled_tables(graph.tables), keys)
    count = int(owners.max(initial=-1)) + 1
    supports, places, left = graph.support, [], [np.zeros(0, dtype=np.int64)]
    beside = company(graph) if declared else np.zeros(len(owners), dtype=np.int64)
    alike = members(factor_signatures(graph.offsets, keys))
    for factors in (some for each in alike for some in by_company(each, beside, aligned)):
        factors = factors[np.argsort(owners[factors], kind="stable")]
        known = factors[graph.factor_table[factors] >= 0]
        holes = factors[is_hole[factors]]
        if len(known):
            estimated = supports is not None and bool(supports.estimated[known].any())
            steady = is_steady(owners[known], aligned[known], estimated, owners[holes])
            again = np.diff(owners[known], prepend=-1) == 0 if steady else known < 0
            one, row = known[~again], (np.cumsum(~again) - 1)[again]
            reader = PlaceReader(graph, keys, aligned, one, Owners(owners[one], count))
            shown = reader.read()
            places.append(
                CohortPlace(
                    reader.first, one, holes, owners[holes], shown, steady, known[again], row
                )
            )
        else:
            left.append(holes)
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
