"""The holes of an individual and what they took, and to whom its factors link it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.basics.words import stem
from lifagu.filling.individuals import factor_owners
from lifagu.filling.result import Transfer
from lifagu.graph.assembly import taken_lists
from lifagu.graph.evidence import NamedEvidence
from lifagu.questions.cards.individual import Individual
from lifagu.questions.cards.parts import FilledTable, LinkedTo
from lifagu.questions.table_posteriors import table_posteriors
from lifagu.questions.told_by_evidence import MOVED, told_table
from lifagu.relational.loaded import Loaded

MOST_FILLED = 12
MOST_TOLD = 3  # tables of which it is said what observations tell
MOST_NAMES = 5


def filled(
    who: Individual, moved: Transfer, seen: NamedEvidence
) -> tuple[tuple[FilledTable, ...], int]:
    """The first of its unknown factors with their tables, and how many there are."""
    holes = own_holes(who)
    if not len(holes):
        return (), 0
    posteriors, told_already, found = table_posteriors(moved, seen), 0, []
    for place in np.searchsorted(moved.unknown, holes[:MOST_FILLED]).tolist():
        record, told = moved.record[place], None
        posterior = None if np.isnan(posteriors[place]) else float(posteriors[place])
        if (
            posterior is not None
            and record.share is not None
            and abs(posterior - record.share) >= MOVED
            and told_already < MOST_TOLD
        ):
            told, told_already = told_table(moved, record.factor, seen), told_already + 1
        found.append(
            FilledTable(
                record.factor,
                record.status,
                record.donor,
                record.share,
                posterior,
                record.guess,
                record.takes,
                record.reason,
                told,
            )
        )
    return tuple(found), len(holes)


def own_holes(who: Individual) -> Ints:
    """Its unknown factors, also those that are about others as well, ascending."""
    return who.factors[who.graph.factor_table[who.factors] < 0]


def links(who: Individual, loaded: Loaded) -> tuple[LinkedTo, ...]:
    """To whom it is linked: by factors, by relations of several, by groups of learned tables."""
    return (*_by_factors(who), *_by_relations(who), *_by_groups(who, loaded))


def _by_factors(who: Individual) -> Iterator[LinkedTo]:
    """The individuals of other variables in its factors, and such variables of nobody."""
    graph, factors = who.graph, who.factors
    arguments, _ = taken_lists(graph.offsets, graph.arguments, factors)
    lengths = np.diff(graph.offsets)[factors]
    of = np.repeat(np.arange(len(factors)), lengths)
    kept = ~np.isin(arguments, who.variables)
    arguments, of = arguments[kept], of[kept]
    stems = [stem(name) for name in graph.factor_names.of_nodes(factors)]
    number = {each: place for place, each in enumerate(dict.fromkeys(stems))}
    sort = np.array([number[each] for each in stems], dtype=np.int64)[of]
    for title, place in number.items():
        here = np.unique(arguments[sort == place])
        ids, _ = taken_lists(graph.individual_offsets, graph.individual_ids, here)
        people = ids[first_places_of(ids)] if len(ids) else ids
        if len(people):
            names = tuple(graph.individuals[each] for each in people[:MOST_NAMES].tolist())
            yield LinkedTo(title, "factors", len(people), names)
        alone = here[np.diff(graph.individual_offsets)[here] == 0]
        if len(alone):
            names = tuple(graph.variable_names.of_nodes(alone[:MOST_NAMES]))
            yield LinkedTo(title, "shared", len(alone), names)


def first_places_of(values: Ints) -> Ints:
    """Where each different value stands first, ascending."""
    return np.sort(np.unique(values, return_index=True)[1])


def _by_relations(who: Individual) -> Iterator[LinkedTo]:
    """The other individuals that its own variables are about."""
    found: dict[str, dict[str, None]] = {}
    for variable in who.variables.tolist():
        others = dict.fromkeys(who.others(variable))
        if others:
            found.setdefault(who.relation(variable), {}).update(others)
    for relation, names in found.items():
        yield LinkedTo(relation, "relation", len(names), tuple(names)[:MOST_NAMES])


def _by_groups(who: Individual, loaded: Loaded) -> Iterator[LinkedTo]:
    """The groups whose learned tables its factors have, and how many others share them."""
    if loaded.task is None:
        return
    told = set()
    for at, table in zip(loaded.learned_at, loaded.task.tables, strict=True):
        own = who.factors[(who.factors >= at) & (who.factors < at + len(table))] - at
        for level in table.levels:
            for group in np.unique(level.of_row[own]).tolist():
                key = level.column, level.keys[group] if group >= 0 else ()
                if group < 0 or key in told:
                    continue
                told.add(key)
                rows = np.flatnonzero(level.of_row == group) + at
                others = np.unique(factor_owners(who.graph)[rows])
                count = int((others != who.number).sum() - (others < 0).sum())
                yield LinkedTo(level.column, "group", count, (", ".join(level.keys[group]),))
