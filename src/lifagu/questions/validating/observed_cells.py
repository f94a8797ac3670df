"""Cells: what was observed for certain, each known by its relation and its individual."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np

from lifagu.basics.arrays import (
    Floats,
    Ints,
    by_first_occurrence,
    distinct,
    first_places,
    frozen,
    group_rows,
)
from lifagu.basics.cached import cached_property
from lifagu.basics.frozen import Frozen
from lifagu.filling.individuals import variable_owners
from lifagu.graph.evidence import Evidence
from lifagu.graph.factor_graph import FactorGraph


@dataclass(frozen=True, eq=False)
class ObservedCells(Frozen):
    """The n variables of a graph that were observed for certain, in the order of the graph.

    variables[n]: their numbers; values[n]: the place of the observed label in the declared order;
    relations: the relations there are; relation_of[n]: the place of each cell's, which is its kind,
    or what stands before the parentheses or the dot in its name.
    """

    graph: FactorGraph
    variables: Ints
    values: Ints
    relations: tuple[str, ...]
    relation_of: Ints

    @classmethod
    def of(cls, graph: FactorGraph, evidence: Evidence) -> ObservedCells:
        """The cells that evidence about a graph holds."""
        variables = evidence.variables
        declared = graph.variable_declared[variables]
        values = np.zeros_like(evidence.values)
        for order in distinct(declared).tolist():
            here = declared == order
            values[here] = np.argsort(graph.ranges.to_declared(order))[evidence.values[here]]
        codes = {kind: number for number, kind in enumerate(graph.kinds)}
        relation_of = graph.variable_kind[variables].copy()
        other = np.flatnonzero(relation_of < 0)
        heads = (
            head_and_inside(name)[0] for name in graph.variable_names.of_nodes(variables[other])
        )
        relation_of[other] = [codes.setdefault(head, len(codes)) for head in heads]
        met = first_places(relation_of)
        order = np.argsort(met, kind="stable")[: int((met < len(variables)).sum())]
        titles = list(codes)
        relations = tuple(titles[each] for each in order.tolist())
        relation_of = by_first_occurrence(relation_of)
        return cls(graph, variables, frozen(values), relations, frozen(relation_of))

    def __len__(self) -> int:
        return len(self.variables)

    @cached_property
    def sizes(self) -> Ints:
        """How many labels each cell could have."""
        return frozen(self.graph.sizes[self.variables])

    def individuals(self, places: Ints) -> list[str]:
        """The individual of each of some cells: the constants in its name, joined by commas.

        Without parentheses what follows the dot in the name, else the individuals it declares.
        """
        graph, variables = self.graph, self.variables[places]
        offsets, found = graph.individual_offsets, []
        names = graph.variable_names.of_nodes(variables)
        for name, variable in zip(names, variables.tolist(), strict=True):
            inside = head_and_inside(name)[1]
            if not inside:
                own = graph.individual_ids[offsets[variable] : offsets[variable + 1]].tolist()
                inside = ",".join(graph.individuals[each] for each in own)
            found.append(inside)
        return found

    def titles(self, places: Ints) -> list[str]:
        """Cells as people write them, such as ``Sick(eve)``."""
        heads = (self.relations[each] for each in self.relation_of[places].tolist())
        pairs = zip(heads, self.individuals(places), strict=True)
        return [f"{head}({inside})" if inside else head for head, inside in pairs]

    @cached_property
    def owners(self) -> Ints:
        """The number of the individual whose each cell is, -1 for nobody's.

        That is the first individual that its variable lists, else the first one in its name.
        """
        owner = variable_owners(self.graph)[self.variables]
        known = {name: number for number, name in enumerate(self.graph.individuals)}
        other = np.flatnonzero(owner < 0)
        for place, individual in zip(other.tolist(), self.individuals(other), strict=True):
            if name := individual.partition(",")[0]:
                owner[place] = known.setdefault(name, len(known))
        return frozen(owner)

    @cached_property
    def places_by_name(self) -> dict[tuple[str, str], list[int]]:
        """The cells by relation and individual; where names say little, several may share both."""
        places: dict[tuple[str, str], list[int]] = {}
        relations = [self.relations[each] for each in self.relation_of.tolist()]
        individuals = self.individuals(np.arange(len(self)))
        for place, pair in enumerate(zip(relations, individuals, strict=True)):
            places.setdefault(pair, []).append(place)
        return places

    def labels(self, place: int) -> tuple[str, ...]:
        """The labels of a cell's variable, as declared."""
        return self.graph.labels(int(self.variables[place]))

    @staticmethod
    def evidence_without(evidence: Evidence, variables: Ints) -> Evidence:
        """What was observed of all but some variables."""
        hard, soft = (
            ~np.isin(each, variables) for each in (evidence.variables, evidence.soft_variables)
        )
        return Evidence(
            frozen(evidence.variables[hard]),
            frozen(evidence.values[hard]),
            frozen(evidence.soft_variables[soft]),
            tuple(compress(evidence.likelihoods, soft.tolist())),
            evidence.of,
        )

    def frequencies(self, hidden: Ints) -> Floats:
        """For each hidden cell how often each label was observed in its relation, as shares.

        Hidden cells do not count; uniform where nothing else is left. Padded with 0 where a cell
        has fewer labels than others.
        """
        declared = self.graph.variable_declared[self.variables]
        kind = group_rows(np.column_stack((self.relation_of, declared)))
        seen = np.ones(len(self), dtype=np.bool_)
        seen[hidden] = False
        width = int(self.sizes.max(initial=1))
        counts = np.zeros((int(kind.max(initial=-1)) + 1, width))
        np.add.at(counts, (kind[seen], self.values[seen]), 1.0)
        found = counts[kind[hidden]]
        nothing = found.sum(axis=1) == 0
        labels = np.arange(width) < self.sizes[hidden, None]
        found[nothing] = labels[nothing]
        return np.asarray(found / found.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class RelabelledCells(ObservedCells):
    """Cells of which some were hidden from those who made bins, and so have other labels.

    seen_by: for each round the places that were hidden in it, and the cells as they were then.
    """

    seen_by: tuple[tuple[Ints, ObservedCells], ...] = ()

    @classmethod
    def joined(
        cls, cells: ObservedCells, seen_by: Sequence[tuple[Ints, ObservedCells]]
    ) -> ObservedCells:
        """The same cells, hidden ones as they were when they were hidden."""
        if all(then is cells for _, then in seen_by):
            return cells
        values = cells.values.copy()
        for places, then in seen_by:
            values[places] = then.values[places]
        return cls(
            cells.graph,
            cells.variables,
            frozen(values),
            cells.relations,
            cells.relation_of,
            tuple(seen_by),
        )

    @cached_property
    def sizes(self) -> Ints:
        """How many labels each cell could have."""
        found = self.graph.sizes[self.variables]
        for places, then in self.seen_by:
            found[places] = then.sizes[places]
        return frozen(found)

    def labels(self, place: int) -> tuple[str, ...]:
        """The labels of a cell's variable, as declared when it was hidden."""
        for places, then in self.seen_by:
            if place in places:
                return then.labels(place)
        return super().labels(place)


def head_and_inside(name: str) -> tuple[str, str]:
    """What stands before a name's parentheses and in them, or before and after its first dot.

    >>> head_and_inside("Treat(eve,m1)"), head_and_inside("Sick.eve"), head_and_inside("Epid")
    (('Treat', 'eve,m1'), ('Sick', 'eve'), ('Epid', ''))
    """
    head, sign, rest = name.partition("(")
    if sign and rest.endswith(")"):
        return head.strip(), rest[:-1]
    head, _, inside = name.partition(".")
    return head, inside
