"""Why a hole is filled as it is: whom its owner is like, by what, and what would settle it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.basics.cached import cached_property
from lifagu.basics.frozen import Frozen
from lifagu.basics.words import stem
from lifagu.filling.cohorts.found import FoundCohorts
from lifagu.filling.cohorts.posterior import CohortPosterior
from lifagu.filling.record import CohortOfOwner, Record
from lifagu.graph.factor_graph import FactorGraph

FOR, AGAINST = 2.0, 0.5  # how much likelier than usual what speaks for or against a cohort is
SETTLING = 0.05  # nats of information below which nothing would settle anything
MOST_TABLES = 64  # of a place that are told apart when looking for what would settle something


@dataclass(frozen=True, eq=False)
class CohortReasons(Frozen):
    """Reasons for the holes of a graph, by the sort of cohorts that counts most.

    Where sorts with several cohorts count more than the single cohort, it is the best of these.
    """

    graph: FactorGraph
    posterior: CohortPosterior

    def added(self, record: Record, factor: int) -> Record:
        """A record with what cohorts say about the factor's owner."""
        places = self.posterior.places
        number = self.place_of(factor)
        if number < 0:
            return record
        owner = int(places.owners[factor])
        kind = int(self.posterior.kind_of[owner])
        belonging = self.posterior.belonging[self.sort][kind]
        cohort = int(belonging.argmax())
        spoke = self._spoke(kind, cohort)
        rank, others = self.named(cohort, kind)
        return replace(
            record,
            candidates=len(places.places[number].known),
            owner=CohortOfOwner(
                number=rank,
                cohorts=len(belonging),
                share=float(belonging[cohort]),
                members=others,
                like=tuple(self._titles[each] for each in spoke if spoke[each] >= FOR),
                unlike=tuple(self._titles[each] for each in spoke if spoke[each] <= AGAINST),
                shown=len(spoke),
                settled_by=self._settled_by(kind, number, belonging),
                declared=places.declared,
            ),
        )

    def named(self, cohort: int, kind: int) -> tuple[int, int]:
        """What a cohort is called, the largest being 1, and how many others than one are in it."""
        others = int(self._sizes[cohort]) - int(self._cohort_of[kind] == cohort)
        return int(self._ranks[cohort]) + 1, others

    def place_of(self, factor: int) -> int:
        """The place of an unknown factor, -1 where nothing is known."""
        return int(self._place_of_hole[factor])

    @cached_property
    def sort(self) -> int:
        """Which sort of cohorts tells the reasons."""
        weights = self.posterior.cohorts.weights
        several = np.array([len(found.prior) > 1 for found in self.posterior.cohorts.found])
        if several[0] or weights[several].sum() <= 0.5:
            return 0
        return int(np.argmax(np.where(several, weights, -1.0)))

    @property
    def _found(self) -> FoundCohorts:
        return self.posterior.cohorts.found[self.sort]

    @cached_property
    def _place_of_hole(self) -> Ints:
        of = np.full(len(self.graph.factor_names), -1, dtype=np.int64)
        for number, holes in enumerate(self.posterior.holes):
            of[holes.place.holes] = number
        return of

    @cached_property
    def _cohort_of(self) -> Ints:
        """The likeliest cohort of each kind of individual."""
        return np.asarray(self.posterior.belonging[self.sort].argmax(axis=1))

    @cached_property
    def _sizes(self) -> Ints:
        """How many individuals belong to each cohort most likely."""
        count = self.posterior.belonging[self.sort].shape[1]
        found = np.bincount(self._cohort_of, self.posterior.sizes, minlength=count)
        return found.astype(np.int64)

    @cached_property
    def _ranks(self) -> Ints:
        """Cohorts are numbered by size."""
        ranks = np.empty(len(self._sizes), dtype=np.int64)
        ranks[np.argsort(-self._sizes, kind="stable")] = np.arange(len(ranks))
        return ranks

    @cached_property
    def _titles(self) -> list[str]:
        """What each place is called: what its factors' names begin with."""
        names = self.graph.factor_names
        return [stem(names[place.first]) for place in self.posterior.places.places]

    @cached_property
    def _likelihoods(self) -> list[Floats]:
        """Of what each kind of individual shows in each place, in each cohort: (kinds, K)."""
        found = self._found
        return [
            np.exp(place.log_likelihood(shown))
            for place, shown in zip(found.places, self.posterior.shown, strict=True)
        ]

    def _spoke(self, kind: int, cohort: int) -> dict[int, float]:
        """For each place in which somebody shows something, how much it speaks for a cohort."""
        prior = self._found.prior
        spoke = {}
        for number, shown in enumerate(self.posterior.shown):
            start, stop = np.searchsorted(shown.owners.of, [kind, kind + 1])
            if stop > start:
                likely = self._likelihoods[number][kind]
                others = np.delete(prior, cohort)
                usual = np.delete(likely, cohort) @ others / max(others.sum(), 1e-300)
                spoke[number] = float(likely[cohort] / max(usual, 1e-300)) if len(others) else 1.0
        return spoke

    def _settled_by(self, kind: int, own: int, belonging: Floats) -> str | None:
        """The place where its owner shows nothing that would tell most about this hole."""
        found = self._found
        best, most = None, SETTLING
        target = _few(found.places[own].choices, belonging)
        for number, (place, shown) in enumerate(
            zip(found.places, self.posterior.shown, strict=True)
        ):
            start, stop = np.searchsorted(shown.owners.of, [kind, kind + 1])
            if number == own or stop > start:
                continue
            joint = _few(place.choices, belonging).T @ (belonging[:, None] * target)
            told = _information(joint)
            if told > most:
                best, most = self._titles[number], told
        return best


def _few(choices: Floats, belonging: Floats) -> Floats:
    """Choices (K, B) in which all but the likeliest tables are taken together."""
    if choices.shape[1] <= MOST_TABLES:
        return choices
    order = np.argsort(-(belonging @ choices), kind="stable")
    rest = choices[:, order[MOST_TABLES:]].sum(axis=1, keepdims=True)
    return np.hstack((choices[:, order[:MOST_TABLES]], rest))


def _information(joint: Floats) -> float:
    """Mutual information in nats.

    >>> round(_information(np.array([[0.5, 0], [0, 0.5]])), 4), _information(np.full((2, 2), 0.25))
    (0.6931, 0.0)
    """
    expected = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    some = (joint > 0) & (expected > 0)  # the product of small numbers may vanish
    return float((joint[some] * np.log(joint[some] / expected[some])).sum())
