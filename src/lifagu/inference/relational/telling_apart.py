"""What tells individuals apart: constants in factors, evidence, joint questions.

Individuals that no mark tells apart are interchangeable in everything that is computed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np

from lifagu.basics.arrays import (
    Ints,
    connected_parts,
    distinct,
    first_places,
    group_lists,
    group_rows,
    offsets_of,
)
from lifagu.inference.relational.cells import DomainCells, MarkedSpan, partition, runs
from lifagu.relational.bound_parfactors import BoundParfactor
from lifagu.relational.parfactor_graph import Observed, ParfactorGraph
from lifagu.relational.relations import GroundAtom

FEW_TUPLES = 32  # tuples of an explicit constraint up to which their constants are told apart
FEW_KEYS = 16  # different observations of pairs up to which those who share one are looked for
FEW_NAMED = 64  # constants in ground factors up to which they are told apart


def partitions(
    model: ParfactorGraph,
    evidence: Sequence[Observed],
    named: frozenset[GroundAtom],
    deferred: frozenset[int],
) -> list[DomainCells]:
    """Each domain's cells; named: asked for jointly; deferred: parfactors whose rows are listed.

    What is listed tells apart only who is listed at all.
    """
    words = model.vocabulary
    of_domain = {domain.name: number for number, domain in enumerate(words.domains)}
    marks: list[list[MarkedSpan]] = [[] for _ in words.domains]
    for number, bound in enumerate(model.bound):
        for relation, place, constant in _named(bound):
            marks[words.domains_of[relation][place]].append((constant, constant, ("one", constant)))
        for name, mark in _of_constraints(number, bound, number in deferred):
            marks[of_domain[name]].append(mark)
    aside = defers_ground_part(model)
    for relation, constants in [*named, *model.places.values()]:
        for place, (domain, constant) in enumerate(
            zip(words.domains_of[relation], constants, strict=True)
        ):
            told_apart = not aside or (relation, constants) in named
            tag: Hashable = ("one", constant) if told_apart else ("named", relation, place)
            marks[domain].append((constant, constant, tag))
    pairs: dict[int, list[Observed]] = {}
    for observed in evidence:
        of = words.domains_of[observed.relation] if observed.relation >= 0 else ()
        if len(of) == 2 and of[0] == of[1] and not observed.is_range:
            pairs.setdefault(observed.relation, []).append(observed)
        else:
            _of_evidence(observed, of, marks)
    for relation, pieces in pairs.items():
        marks[words.domains_of[relation][0]] += _of_pairs(relation, pieces)
    return [partition(domain, each) for domain, each in zip(words.domains, marks, strict=True)]


def deferred_parfactors(model: ParfactorGraph) -> frozenset[int]:
    """Parfactors whose explicit constraints are too long to tell all individuals in them apart."""
    return frozenset(
        number
        for number, bound in enumerate(model.bound)
        if any(
            len(variables) > 1 and len(rows) > FEW_TUPLES
            for variables, rows, _ in bound.memberships
        )
    )


def defers_ground_part(model: ParfactorGraph) -> bool:
    """Whether ground factors name too many individuals to tell all of them apart."""
    return len(set(model.places.values())) > FEW_NAMED


def lists_individuals(model: ParfactorGraph) -> bool:
    """Whether rows are listed one by one: individuals of a cell are then not interchangeable."""
    return bool(deferred_parfactors(model)) or defers_ground_part(model)


def _named(bound: BoundParfactor) -> Iterable[tuple[int, int, int]]:
    """The constants among a parfactor's arguments: relation, place in it, and constant."""
    for argument in bound.arguments:
        for place, code in enumerate(argument.codes):
            if code < 0:
                yield argument.relation, place, ~code


def _of_constraints(
    number: int, bound: BoundParfactor, listed: bool
) -> Iterable[tuple[str, MarkedSpan]]:
    """The individuals that a parfactor's constraints tell apart, with the name of their domain."""
    for left, code, _ in bound.comparisons:
        if code < 0:
            yield bound.domains[left].name, (~code, ~code, ("one", ~code))
    for place, (variables, rows, _) in enumerate(bound.memberships):
        for column, variable in enumerate(variables):
            name = bound.domains[variable].name
            for low, high in runs(distinct(rows[:, column]).tolist()):
                if len(variables) == 1 or listed:
                    yield name, (low, high, ("in", number, place, column))
                else:
                    yield from (
                        (name, (each, each, ("one", each))) for each in range(low, high + 1)
                    )


def _of_evidence(observed: Observed, of: Sequence[int], marks: list[list[MarkedSpan]]) -> None:
    """The individuals that evidence is about; those of pieces alike but for them stay together.

    Two individuals with the same marks may be swapped also where a relation has their domain twice:
    whatever is observed of R(x, y) is observed of R(x', y) for all y, x and x' included, and so of
    R(x', x) as of R(x, x').
    """
    for place, domain in enumerate(of):
        low, high = observed.spans[place]
        others = observed.spans[:place] + observed.spans[place + 1 :]
        marks[domain].append(
            (low, high, (observed.relation, place, others, observation_key(observed)))
        )


def _of_pairs(relation: int, pieces: Sequence[Observed]) -> Iterable[MarkedSpan]:
    """The individuals that evidence on pairs R(x, y) tells apart: all that cannot be swapped.

    x and x' can be swapped if the same is observed of them with all others, of (x, x) and (x', x'),
    and of (x, x') and (x', x): nothing at all, so that both have the same observations; or both
    times k, so that they have the same once k is put down for (x, x) and (x', x') as well.
    """
    keys: dict[Hashable, int] = {}
    said = np.array(
        [keys.setdefault(observation_key(each), len(keys)) for each in pieces], dtype=np.int64
    )
    first, second = (
        np.array([each.spans[place][0] for each in pieces], dtype=np.int64) for place in (0, 1)
    )
    named, own = np.unique(np.concatenate((first, second)), return_inverse=True)
    left, right = own.reshape(2, -1)
    itself = np.zeros(len(named), dtype=np.int64)
    itself[left[left == right]] = 1 + said[left == right]
    apart = left != right
    edges = np.concatenate(
        (
            np.column_stack((left, np.zeros_like(left), right, said))[apart],
            np.column_stack((right, np.ones_like(left), left, said))[apart],
        )
    )
    every = np.arange(len(named))
    put_down = [edges]  # as observed, and with each k put down for everybody
    for key in range(len(keys)) if len(keys) <= FEW_KEYS else ():
        loops = [
            np.column_stack((every, every * 0 + way, every, every * 0 + key)) for way in (0, 1)
        ]
        put_down.append(np.concatenate((edges, *loops)))
    alike = [group_rows(np.column_stack((itself, _lists(each, len(named))))) for each in put_down]
    linked = np.concatenate([first_places(each)[each] for each in alike])
    classes = connected_parts(len(named), linked, np.tile(every, len(alike)))
    for number, class_ in zip(named.tolist(), classes.tolist(), strict=True):
        yield number, number, ("pairs", relation, class_)


def _lists(edges: Ints, count: int) -> Ints:
    """Number alike those of `count` owners (the first column) that have the same set of rows."""
    token = group_rows(edges[:, 1:])
    order = np.lexsort((token, edges[:, 0]))
    starts = offsets_of(np.bincount(edges[:, 0], minlength=count))
    return group_lists(starts, token[order])


def observation_key(observed: Observed) -> Hashable:
    """An observation as something that can be compared."""
    seen = observed.observation
    if not isinstance(seen, Mapping):
        return seen
    return tuple(sorted((label, float(value)) for label, value in seen.items()))
