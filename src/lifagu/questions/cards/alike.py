"""Whom an individual is like, and by what: cohorts, the tables it took, what was observed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints, by_first_occurrence, first_places, group_rows
from lifagu.basics.words import stem
from lifagu.filling.cohorts.completing import CohortTransfer
from lifagu.filling.individuals import factor_owners
from lifagu.filling.result import Transfer
from lifagu.graph.evidence import NamedEvidence
from lifagu.graph.factor_graph import FactorGraph
from lifagu.questions.admission.admitted_transfer import AdmittedTransfer
from lifagu.questions.cards.individual import Individual
from lifagu.questions.cards.parts import AlikeIndividual, AlikeIndividuals
from lifagu.questions.cards.tables import MOST_FILLED, own_holes

DIGITS = 9  # of sums, so that the order in which they are added does not decide
BY_DONORS = "the tables it took, and in which of its places"
BY_OBSERVATIONS = "observations both share, each counting more the rarer the label is"


def alike(
    who: Individual, moved: Transfer | None, seen: NamedEvidence, most: int
) -> Iterator[AlikeIndividuals]:
    """Whom it is like by each measure by which anybody is, at most so many of each."""
    if moved is not None:
        yield from _by_filling(who, moved, most)
    yield from _by_observations(who, seen, most)


def _by_filling(who: Individual, moved: Transfer, most: int) -> Iterator[AlikeIndividuals]:
    """The same by its tables and those that it took; where some are admitted, as they were."""
    if isinstance(moved, AdmittedTransfer):
        moved, called = moved.speaking_of(who.name)
        who = Individual(moved.original, moved.original.individuals.index(called), who.domain)
    yield from _by_donors(who, moved, most)
    if isinstance(moved, CohortTransfer):
        yield from _by_cohort(who, moved, most)


# ---- donors, cohorts and tables


def _by_donors(who: Individual, moved: Transfer, most: int) -> Iterator[AlikeIndividuals]:
    """Whose tables the first of its holes took, where those of single individuals were taken."""
    owners, taken = who.graph.once(factor_owners), dict[int, list[str]]()
    places = np.flatnonzero(np.isin(moved.unknown, own_holes(who)))[:MOST_FILLED]
    for place in places.tolist():
        record = moved.record[place]
        if record.donor is None or record.owner is not None:
            continue
        owner = int(owners[who.graph.factor_names.number(record.donor)])
        if owner >= 0:
            taken.setdefault(owner, []).append(record.factor)
    found = [
        AlikeIndividual(
            who.graph.individuals[owner], len(factors) / len(places), _titles(tuple(factors)), ()
        )
        for owner, factors in sorted(taken.items(), key=lambda each: -len(each[1]))
    ]
    if found:
        yield AlikeIndividuals("donors", BY_DONORS, tuple(found[:most]), 1)


def _by_cohort(who: Individual, moved: CohortTransfer, most: int) -> Iterator[AlikeIndividuals]:
    """Who most likely is of the same cohort, those who belong to it most surely first."""
    posterior, reasons = moved.posterior, moved.reasons
    own = np.unique(
        posterior.places.owners[
            who.factors[who.graph.once(factor_owners)[who.factors] == who.number]
        ]
    )
    if len(own) != 1 or own[0] < 0 or not len(posterior.belonging):
        return
    belonging = posterior.belonging[reasons.sort]
    if belonging.shape[1] < 2:
        return
    kind = int(posterior.kind_of[own[0]])
    cohort = int(belonging[kind].argmax())
    number, others = reasons.named(cohort, kind)
    share = f"{belonging[kind, cohort]:.0%}"
    people = np.flatnonzero(belonging.argmax(axis=1)[posterior.kind_of] == cohort)
    people = people[people != own[0]]
    sure = belonging[posterior.kind_of[people], cohort]
    order = np.argsort(-sure, kind="stable")
    measure = f"cohort {number} of {belonging.shape[1]}, to which it belongs with {share}"
    named = names_of_owners(who.graph, posterior.places.owners)
    nearest = [
        AlikeIndividual(named[int(people[each])], float(sure[each]), (), ())
        for each in order[:most].tolist()
        if int(people[each]) in named
    ]
    if nearest:
        yield AlikeIndividuals("cohort", measure, tuple(nearest), others)


def names_of_owners(graph: FactorGraph, owners: Ints) -> dict[int, str]:
    """The individuals behind the owners that cohorts know by numbers of their own."""
    declared = graph.once(factor_owners)
    some = np.flatnonzero(declared >= 0)
    first = some[first_places(by_first_occurrence(owners[some]))]
    pairs = zip(owners[first].tolist(), declared[first].tolist(), strict=True)
    return {owner: graph.individuals[each] for owner, each in pairs}


def first_of(some: Ints, most: int, *keys: Floats) -> Ints:
    """The first of some by their keys, the first key first, then as they stand.

    >>> first_of(np.array([0, 2, 3]), 2, np.array([5.0, 0.0, 4.0, 4.0])).tolist()
    [2, 3]
    """
    if 0 < most < len(some):
        # the last one that may be kept, so that only those as good are put in order
        own = keys[0][some]
        some = some[own <= np.partition(own, most - 1)[most - 1]]
    return some[np.lexsort([each[some] for each in keys[::-1]])][:most]


def _titles(factors: tuple[str, ...]) -> tuple[str, ...]:
    """What their names begin with, each once."""
    return tuple(dict.fromkeys(map(stem, factors)))


# ---- observations


def _by_observations(who: Individual, seen: NamedEvidence, most: int) -> Iterator[AlikeIndividuals]:
    """Who has the same labels, each weighted by how rare it is: minus the log of its share.

    One pass over the variables of each relation, however many of them are the individual's.
    """
    values = seen.bound.value_of_each(len(who.graph.variable_names))
    pieces = [_Compared.of(who, own, place, values) for own, place in _by_relation(who, values)]
    count = len(who.graph.individuals)
    score, against = np.zeros(count), np.zeros(count)
    for each in pieces:
        np.add.at(score, each.individual, np.where(each.same, each.weight, 0.0))
        np.add.at(against, each.individual, np.where(each.same, 0.0, each.weight))
    score, against = score.round(DIGITS), against.round(DIGITS)
    near = np.flatnonzero(score > 0)
    if not len(near):
        return
    order = first_of(near, most, -score, against)
    total = sum(each.total for each in pieces)
    best = order[0] if len(order) else first_of(near, 1, -score, against)[0]
    as_near = int(((score == score[best]) & (against == against[best])).sum())
    nearest = [
        AlikeIndividual(
            who.graph.individuals[each],
            float(score[each] / total),
            tuple(name for piece in pieces for name in piece.named(each, same=True)),
            tuple(name for piece in pieces for name in piece.named(each, same=False)),
        )
        for each in order[:most].tolist()
    ]
    yield AlikeIndividuals("observations", BY_OBSERVATIONS, tuple(nearest), as_near)


def _by_relation(who: Individual, values: Ints) -> Iterator[tuple[list[int], int]]:
    """Its observed variables, those of one relation in which it has the same place together."""
    found: dict[tuple[str, int, int, int], list[int]] = {}
    for each in who.variables[values[who.variables] >= 0].tolist():
        people = who.of(each)
        range_ = int(who.graph.variable_range[each])
        place = people.index(who.number)
        found.setdefault((who.relation(each), range_, len(people), place), []).append(each)
    for (*_, place), own in found.items():
        yield own, place


@dataclass(frozen=True, eq=False)
class _Compared:
    """Observed variables of others that can be compared with one of its own.

    variable, individual, same, weight: of each pair; total: the weights of all of its own.
    """

    who: Individual
    variable: Ints
    individual: Ints
    same: NDArray[np.bool_]
    weight: Floats
    total: float

    @classmethod
    def of(cls, who: Individual, own: list[int], place: int, values: Ints) -> _Compared:
        """Its own variables of one relation, and place among the individuals they list."""
        graph, peers = who.graph, who.peers(own[0])
        peers = peers[values[peers] >= 0]
        width = len(who.of(own[0]))
        people = graph.individual_ids[
            graph.individual_offsets[peers][:, None] + np.arange(width)
        ].reshape(len(peers), width)
        beside = group_rows(np.delete(people, place, axis=1)) if width > 1 else 0 * peers
        mine = np.searchsorted(peers, own)
        wanted = np.full(int(beside.max(initial=0)) + 1, -1, dtype=np.int64)
        wanted[beside[mine]] = values[own]
        shares = np.bincount(values[peers]) / len(peers)
        weight = np.zeros(len(wanted))
        weight[beside[mine]] = -np.log(shares[values[own]])
        kept = (wanted[beside] >= 0) & (people[:, place] != who.number)
        return cls(
            who,
            peers[kept],
            people[kept, place],
            values[peers[kept]] == wanted[beside[kept]],
            weight[beside[kept]],
            float(weight[beside[mine]].sum()),
        )

    def named(self, individual: int, same: bool) -> Iterator[str]:
        """The relations in which another individual is the same, or differs."""
        here = np.flatnonzero(self.individual == individual)
        here = here[(self.same[here] == same) & (self.weight[here] > 0)]
        for each in self.variable[here].tolist():
            names = self.who.graph.individuals
            others = [names[one] for one in self.who.of(each) if one != individual]
            relation = self.who.relation(each)
            yield f"{relation}({', '.join(others)})" if others else relation
