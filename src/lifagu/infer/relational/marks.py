"""What tells individuals apart: constants in parfactors and ground factors, evidence, joint questions.

Individuals that no mark tells apart are interchangeable in everything that is computed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from lifagu.infer.relational.partition import Mark, Partition, partition, runs
from lifagu.parfactors import BoundParfactor
from lifagu.relational import Observed, ParfactorGraph
from lifagu.relations import Place

FEW_TUPLES = 32  # tuples of an explicit constraint up to which their constants are told apart
FEW_NAMED = 64  # constants in ground factors up to which they are told apart


def partitions(
    model: ParfactorGraph, evidence: Sequence[Observed], named: frozenset[Place], deferred: frozenset[int]
) -> list[Partition]:
    """Each domain's cells. named: ground variables asked for jointly; deferred: parfactors whose rows are listed.

    What is listed tells apart only who is listed at all.
    """
    words = model.vocabulary
    of_domain = {domain.name: number for number, domain in enumerate(words.domains)}
    marks: list[list[Mark]] = [[] for _ in words.domains]
    for number, bound in enumerate(model.bound):
        for relation, place, constant in _named(bound):
            marks[words.domains_of[relation][place]].append((constant, constant, ("one", constant)))
        for name, mark in _of_constraints(number, bound, number in deferred):
            marks[of_domain[name]].append(mark)
    aside = defers_ground_part(model)
    for relation, constants in [*named, *model.places.values()]:
        for place, (domain, constant) in enumerate(zip(words.domains_of[relation], constants, strict=True)):
            told_apart = not aside or (relation, constants) in named
            tag: Hashable = ("one", constant) if told_apart else ("named", relation, place)
            marks[domain].append((constant, constant, tag))
    for number, observed in enumerate(evidence):
        _of_evidence(number, observed, words.domains_of[observed.relation] if observed.relation >= 0 else (), marks)
    return [partition(domain, each) for domain, each in zip(words.domains, marks, strict=True)]


def deferred_parfactors(model: ParfactorGraph) -> frozenset[int]:
    """Parfactors with explicit constraints between individuals that are too long to tell all of those apart."""
    return frozenset(
        number
        for number, bound in enumerate(model.bound)
        if any(len(variables) > 1 and len(rows) > FEW_TUPLES for variables, rows, _ in bound.memberships)
    )


def defers_ground_part(model: ParfactorGraph) -> bool:
    """Whether ground factors name too many individuals to tell all of them apart."""
    return len({(relation, constants) for relation, constants in model.places.values()}) > FEW_NAMED


def lists_individuals(model: ParfactorGraph) -> bool:
    """Whether some rows are listed one by one, so that individuals of one cell are not interchangeable in the end."""
    return bool(deferred_parfactors(model)) or defers_ground_part(model)


def _named(bound: BoundParfactor) -> Iterable[tuple[int, int, int]]:
    """The constants among a parfactor's arguments: relation, place in it, and constant."""
    for argument in bound.arguments:
        for place, code in enumerate(argument.codes):
            if code < 0:
                yield argument.relation, place, ~code


def _of_constraints(number: int, bound: BoundParfactor, listed: bool) -> Iterable[tuple[str, Mark]]:
    """The individuals that a parfactor's constraints tell apart, each with the name of its domain."""
    for left, code, _ in bound.comparisons:
        if code < 0:
            yield bound.domains[left].name, (~code, ~code, ("one", ~code))
    for place, (variables, rows, _) in enumerate(bound.memberships):
        for column, variable in enumerate(variables):
            name = bound.domains[variable].name
            for low, high in runs(np.unique(rows[:, column]).tolist()):
                if len(variables) == 1 or listed:
                    yield name, (low, high, ("in", number, place, column))
                else:
                    yield from ((name, (each, each, ("one", each))) for each in range(low, high + 1))


def _of_evidence(number: int, observed: Observed, of: Sequence[int], marks: list[list[Mark]]) -> None:
    """The individuals that a piece of evidence is about.

    Those with the same evidence stay together: all that one piece covers and, where no other individual of the same
    domain is in play, those of pieces that are alike but for this individual.
    """
    for place, domain in enumerate(of):
        low, high = observed.spans[place]
        others = observed.spans[:place] + observed.spans[place + 1 :]
        tag: Hashable = ("observed", number, place)
        if of.count(domain) == 1:
            tag = (observed.relation, place, others, observation_key(observed))
        marks[domain].append((low, high, tag))


def observation_key(observed: Observed) -> Hashable:
    """An observation as something that can be compared."""
    seen = observed.observation
    return seen if isinstance(seen, str) else tuple(sorted((label, float(value)) for label, value in seen.items()))
