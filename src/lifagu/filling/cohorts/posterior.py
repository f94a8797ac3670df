"""What cohorts say of every hole: which table, how surely, and what to expect on average.

Individuals that show the same are of one kind and are computed once; holes of one place whose
owners are of one kind form a class.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Floats, Ints, by_first_occurrence, first_places
from lifagu.basics.cached import cached_property
from lifagu.basics.frozen import Frozen
from lifagu.filling.cohorts.choosing import AveragedCohorts, alike_individuals, find_cohorts
from lifagu.filling.cohorts.found import FoundCohorts, PlaceCohorts
from lifagu.filling.cohorts.lacking_groups import LackingGroups
from lifagu.filling.cohorts.place_evidence import Counts, PlaceEvidence, TableTokens
from lifagu.filling.cohorts.places import CohortPlace, PlacesOfIndividuals
from lifagu.filling.cohorts.products import mixed, rows_times

LIKELY = 1e-3  # what is less likely does not compete
MOST_ENTRIES = 2**22  # of an array of holes and tables


@dataclass(frozen=True, eq=False)
class HolesOfPlace(Frozen):
    """The holes of one place: class_of[hole], and the kind of owner of each class."""

    place: CohortPlace
    class_of: Ints
    kinds: Ints


@dataclass(frozen=True, eq=False)
class CohortPosterior(Frozen):
    """Places, cohorts, and who belongs where, individuals of one kind taken together.

    kind_of[individual]; shown: what each kind shows in each place.
    """

    places: PlacesOfIndividuals
    cohorts: AveragedCohorts
    kind_of: Ints
    shown: tuple[PlaceEvidence, ...]

    @classmethod
    def of(cls, places: PlacesOfIndividuals, seed: int) -> CohortPosterior:
        """What the places of individuals say."""
        shown = [place.shown.evidence for place in places.places]
        if not shown:  # nothing is known of anybody
            nobody = np.zeros(places.count, dtype=np.int64)
            return cls(places, AveragedCohorts((), np.zeros(0)), nobody, ())
        estimated = any(place.shown.estimated for place in places.places)
        kind_of = alike_individuals(shown)
        kinds = tuple(each.among(first_places(kind_of)) for each in shown)
        return cls(places, find_cohorts(shown, estimated, seed), kind_of, kinds)

    @cached_property
    def belonging(self) -> tuple[Floats, ...]:
        """How likely each kind of individual belongs to each cohort, for each sort of cohorts."""
        return tuple(found.belonging(self.shown) for found in self.cohorts.found)

    @cached_property
    def sizes(self) -> Ints:
        """How many individuals are of each kind."""
        return np.bincount(self.kind_of)

    @property
    def models(self) -> Iterator[tuple[float, FoundCohorts, Floats]]:
        """Each sort of cohorts: how much it counts, what it is, and who belongs where."""
        return zip(self.cohorts.weights.tolist(), self.cohorts.found, self.belonging, strict=True)

    @cached_property
    def holes(self) -> tuple[HolesOfPlace, ...]:
        """The holes of each place."""
        return tuple(map(self._holes, range(len(self.places.places))))

    def _holes(self, number: int) -> HolesOfPlace:
        place = self.places.places[number]
        kind = self.kind_of[place.owner_of_hole]
        class_of = by_first_occurrence(kind)
        kinds = kind[first_places(class_of)] if len(kind) else kind
        return HolesOfPlace(place, class_of, kinds)

    def which(self, number: int, kinds: Ints, model: int) -> Floats:
        """How likely each table of a place is for holes of these kinds, (·, B), by one sort."""
        here, belonging = self.cohorts.found[model].places[number], self.belonging[model]
        likely = here.which(belonging[kinds])
        likely = here.which_beside(likely, kinds, self.shown[number], belonging)
        return self._of_groups(number, kinds, likely)

    @cached_property
    def _firsts(self) -> Ints:
        """The first individual of each kind."""
        return first_places(self.kind_of)

    @cached_property
    def _lacking(self) -> LackingGroups:
        return LackingGroups(self.places.places, self.places.count)

    def _of_groups(self, number: int, kinds: Ints, likely: Floats) -> Floats:
        """How likely tables are, by what other groups have where the owner's lacks one."""
        row = self._lacking.row_of(number)[self._firsts[kinds]]
        if (row >= 0).any():
            likely = likely.copy()
            likely[row >= 0] = self._lacking.chances(number)[row[row >= 0]]
        return likely

    # ---- tables

    def expected(self, number: int) -> Floats:
        """The mean table of each class of holes of a place, (classes, size)."""
        holes = self.holes[number]
        total = np.zeros((len(holes.kinds), holes.place.shown.size))
        for model, (weight, found, belonging) in enumerate(self.models):
            here = found.places[number]
            if not self.asks_more(number):  # what each cohort has on average says all
                own = tables_of(holes.place, here, here.choices)
                total += weight * (rows_times(belonging[holes.kinds], own))
                continue
            for some in chunks(len(total), here.choices.shape[1]):
                which = self.which(number, holes.kinds[some], model)
                total[some] += weight * tables_of(holes.place, here, which)
        return total

    def cleaned(self, number: int) -> Floats:
        """The expected table behind each estimated one of a place, (rows, size)."""
        place = self.places.places[number]
        total = np.zeros((len(place.known), 1))
        if not isinstance(place.shown.evidence, Counts):
            return total
        for weight, found, belonging in self.models:
            own = found.places[number].cleaned(place.shown.evidence, belonging[self.kind_of])
            total = total + weight * place.shown.in_order(own)
        return total

    def asks_more(self, number: int) -> bool:
        """Whether more than the cohort tells which table a hole of a place has.

        Other tables of its owner in that place, or what groups have.
        """
        pairs = any(found.places[number].beside is not None for found in self.cohorts.found)
        return pairs or bool(len(self._lacking.chances(number)))

    def by_sort(self, cohort: Ints) -> Iterator[tuple[int, Ints, Ints]]:
        """For each sort which of some cohorts are of it, and their numbers there."""
        before = 0
        for sort, found in enumerate(self.cohorts.found):
            rows = np.flatnonzero((cohort >= before) & (cohort < before + len(found.prior)))
            yield sort, rows, cohort[rows] - before
            before += len(found.prior)

    def cleaned_in(self, number: int, rows: Ints, cohort: Ints) -> Floats:
        """The expected tables behind estimated ones if their owners are in cohorts, (k, size)."""
        shown = self.places.places[number].shown
        tables = np.zeros((len(rows), shown.size))
        if not isinstance(shown.evidence, Counts):
            return tables
        for sort, here, own in self.by_sort(cohort):
            found = self.cohorts.found[sort].places[number]
            tables[here] = shown.in_order(found.cleaned_in(shown.evidence, rows[here], own))
        return tables

    def which_in(self, number: int, sort: int, holes: Ints, cohort: Ints) -> Floats:
        """How likely each table is for some holes whose owners are in cohorts of one sort."""
        here, kinds = self.cohorts.found[sort].places[number], self.kind_of
        owner = kinds[self.places.places[number].owner_of_hole[holes]]
        by, shown = self.belonging[sort], self.shown[number]
        likely = here.which_beside(here.choices[cohort], owner, shown, by)
        return self._of_groups(number, owner, likely)

    def shares(self, kinds: Ints) -> Floats:
        """How likely each cohort of each sort is for kinds of individuals, (·, ΣK)."""
        shares = [weight * belonging[kinds] for weight, _, belonging in self.models]
        return np.hstack([np.zeros((len(kinds), 0)), *shares])


def chunks(rows: int, width: int) -> Iterator[slice]:
    """Pieces of an array with so many rows and columns that are not too large each."""
    step = max(MOST_ENTRIES // max(width, 1), 1)
    return (slice(start, start + step) for start in range(0, rows, step))


def tables_of(place: CohortPlace, cohorts: PlaceCohorts, which: Floats) -> Floats:
    """Mean tables of a place where its tables are so likely, (k, B) → (k, size)."""
    if isinstance(place.shown.evidence, TableTokens):
        return rows_times(which, place.shown.tables)
    return place.shown.in_order(mixed(which, cohorts.atoms))
