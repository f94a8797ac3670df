"""Tables of data that are probably not meant so: what is said twice, what no record stands behind.

Each is a line with the places and the fix. Tables that are learned together say nothing twice: what
one says, the others know. Those that are counted do not.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np

from lifagu.basics.arrays import Floats, Ints, distinct
from lifagu.basics.words import counted
from lifagu.errors import listed
from lifagu.graph.factor_graph import FactorGraph
from lifagu.relational.ground_names import GroundNames
from lifagu.relational.learning_task import KnownCells, TableToLearn
from lifagu.relational.loaded import Loaded
from lifagu.relational.template import RowParfactor

FEW = 10  # observed cells below which what is learned about them is noise
MANY = 20  # observed cells or records from which on a label that is never seen is remarkable


class Counted(NamedTuple):
    """A parfactor with a counted table; factors: those of its ground factors that are whole."""

    name: str
    parfactor: RowParfactor
    factors: Ints

    def variables(self, graph: FactorGraph) -> Ints:
        """What it says how often that has which value, a row of variables for each factor."""
        given = self.parfactor.counted.given if self.parfactor.counted else ()
        arity = int(np.diff(graph.offsets)[self.factors].max(initial=0))
        told = np.setdiff1d(np.arange(arity), given)
        found: Ints = graph.arguments[graph.offsets[self.factors, None] + told]
        return found

    def __str__(self) -> str:
        return f"'{self.name}' ({self.parfactor.place})"


def counted_tables(loaded: Loaded) -> list[Counted]:
    """All parfactors with counted tables."""
    graph, template = loaded.model, loaded.template
    if template is None or not isinstance(graph, FactorGraph):
        return []
    names, found = graph.factor_names, list[Counted]()
    for number, parfactor in template.parfactors.items():
        if parfactor.counted and isinstance(names, GroundNames):
            factors = names.start(1 + number) + np.arange(len(names.rows[number]))
            arity = np.diff(graph.offsets)[factors]
            whole = factors[arity == arity.max(initial=0)]
            found.append(Counted(names.rows[number].prefix, parfactor, whole))
    return found


def counted_twice(loaded: Loaded) -> Iterator[str]:
    """How often values of a variable occur, said by two tables, or many times by one."""
    graph, tables = loaded.model, counted_tables(loaded)
    if not isinstance(graph, FactorGraph):
        return
    told = [distinct(each.variables(graph)) for each in tables]
    for one, other in combinations(range(len(tables)), 2):
        both = np.intersect1d(told[one], told[other], assume_unique=True)
        if len(both):
            yield (
                f"{tables[one]} and {tables[other]} are counted apart, and both say how often "
                f"{_sort_of(graph, int(both[0]))} has which value, which then counts twice; make "
                'one conditional on it ("given"), or have both learned together (without "records" '
                'and "min_support")'
            )
    for each in tables:
        yield from _many_times(graph, each)
    yield from _beside_priors(loaded, graph, tables, told)


def _many_times(graph: FactorGraph, counts: Counted) -> Iterator[str]:
    """One joint table about so many sensors of a machine says as often how often it failed."""
    for variables in counts.variables(graph).T:
        met, times = np.unique(variables, return_counts=True)
        if len(met) and times.max() > 1:
            sort = _sort_of(graph, int(met[times.argmax()]))
            yield (
                f"{counts} says how often {sort} has which value, and has up to "
                f"{times.max()} factors about one {sort}, each of which says it again; "
                'make it conditional on that ("given"), or have it learned (without "records" and '
                '"min_support")'
            )


def _beside_priors(
    loaded: Loaded, graph: FactorGraph, tables: list[Counted], told: list[Ints]
) -> Iterator[str]:
    """Literal priors of single variables beside counted tables that say how often these occur."""
    names, template = graph.factor_names, loaded.template
    if not tables or template is None or not isinstance(names, GroundNames):
        return
    for number, rows in enumerate(names.rows):
        written = template.parfactors.get(number)
        if written is not None and not written.is_literal:
            continue
        factors = names.start(1 + number) + np.arange(len(rows))
        factors = factors[np.diff(graph.offsets)[factors] == 1]
        numbers = np.unique(graph.factor_table[factors]).tolist()
        telling = [each for each in numbers if each >= 0 and np.ptp(graph.tables[each])]
        priors = factors[np.isin(graph.factor_table[factors], telling)]
        own = distinct(graph.arguments[graph.offsets[priors]])
        for other, variables in zip(tables, told, strict=True):
            both = np.intersect1d(own, variables, assume_unique=True)
            if len(both):
                yield (
                    f"'{rows.prefix}' (parfactors[{number}]) is a prior of "
                    f"{_sort_of(graph, int(both[0]))}, and {other} is counted "
                    "and says how often it has which value as well; make that one conditional on "
                    f"it (\"given\"), or leave '{rows.prefix}' out"
                )


# ---- few records, or none


def hardly_observed(loaded: Loaded) -> Iterator[str]:
    """Relations that were observed a few times only, about which tables are learned."""
    for cells, about in _learned_about(loaded):
        seen = int((cells.values >= 0).sum())
        if 0 < seen < FEW and len(cells.values) > 1:
            yield (
                f"{cells.relation} was observed {'once' if seen == 1 else f'{seen} times'} only, "
                f"so that '{about.name}' ({about.place}) is learned from hardly anything; observe "
                "more of it, or leave out what is learned about it"
            )


def _learned_about(loaded: Loaded) -> Iterator[tuple[KnownCells, TableToLearn]]:
    """Relations about which a table is to be learned, each with the first of these."""
    task = (loaded.unlearned or loaded).task
    for number, cells in enumerate(task.relations if task is not None else ()):
        for each in task.tables if task is not None else ():
            if any(slot.relation == number for slot in each.slots):
                yield cells, each
                break


def never_seen(loaded: Loaded) -> Iterator[str]:
    """Labels that the data behind tables never shows."""
    graph = loaded.model
    for cells, about in _learned_about(loaded):
        seen = cells.values[cells.values >= 0]
        many = np.bincount(seen, minlength=len(cells.labels))
        never = [label for label, count in zip(cells.labels, many, strict=False) if not count]
        if never and len(seen) >= MANY:
            yield (
                f"{cells.relation} is never {listed(never)} in {counted(len(seen), 'cell')}, so "
                f"what '{about.name}' ({about.place}) learns about that rests on no record; "
                "is the label spelt as in the data?"
            )
    told = set[str]()
    for each in counted_tables(loaded):
        for slot, line in _never_counted(graph, each) if isinstance(graph, FactorGraph) else ():
            if slot not in told:
                yield line
            told.add(slot)


def _never_counted(graph: FactorGraph, counts: Counted) -> Iterator[tuple[str, str]]:
    """For each argument of which some labels are in no record: whose, and what to say."""
    factors = _one_of_each_table(graph, counts.factors)
    if graph.support is None or not len(factors):
        return
    scope = graph.scope(int(factors[0]))
    found: Floats = graph.support.counts(graph, factors).sum(axis=0)
    found = found.reshape([int(graph.sizes[each]) for each in scope])
    for slot, variable in enumerate(scope):
        seen = np.moveaxis(found, slot, 0).reshape(found.shape[slot], -1).sum(axis=1)
        labels = graph.ranges.canonical[int(graph.variable_range[variable])]
        never = [label for label, count in zip(labels, seen, strict=True) if count < 0.5]
        if never and seen.sum() >= MANY:
            sort = _sort_of(graph, variable)
            yield (
                sort,
                f"{sort} is never {listed(never)} in the {seen.sum():.0f} records that {counts} is "
                "counted from, so what it says about that rests on its prior alone; is the label "
                "spelt as in the data?",
            )


def _one_of_each_table(graph: FactorGraph, factors: Ints) -> Ints:
    """For each distinct table of some factors, one that has it and is counted from records."""
    if graph.support is None:
        return factors[:0]
    known = factors[(graph.factor_table[factors] >= 0) & graph.support.estimated[factors]]
    return known[np.unique(graph.factor_table[known], return_index=True)[1]]


def _sort_of(graph: FactorGraph, variable: int) -> str:
    """The relation of a variable, or its name."""
    return graph.variable_names[variable].partition("(")[0].strip()
