"""Cells: what was observed for certain, each known by its relation and its individual."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lifagu.basics.arrays import Floats, Ints, frozen
from lifagu.basics.frozen import Frozen
from lifagu.filling.individuals import variable_owners
from lifagu.graph.evidence import Evidence
from lifagu.graph.factor_graph import FactorGraph


@dataclass(frozen=True, eq=False)
class ObservedCells(Frozen):
    """The n variables of a graph that were observed for certain, in the order of the graph.

    variables[n]: their numbers; values[n]: the place of the observed label in the declared order;
    relations: the relations there are; relation_of[n]: the place of each cell's; individuals[n].
    """

    graph: FactorGraph
    variables: Ints
    values: Ints
    relations: tuple[str, ...]
    relation_of: Ints
    individuals: tuple[str, ...]

    @classmethod
    def of(cls, graph: FactorGraph, evidence: Evidence) -> ObservedCells:
        """The cells that evidence about a graph holds."""
        variables = evidence.variables
        declared = graph.variable_declared[variables]
        values = np.zeros_like(evidence.values)
        for order in np.unique(declared).tolist():
            here = declared == order
            values[here] = np.argsort(graph.ranges.to_declared(order))[evidence.values[here]]
        known: dict[str, int] = {}
        relation_of, individuals = np.zeros_like(variables), []
        kinds, offsets = graph.variable_kind[variables].tolist(), graph.individual_offsets
        names = graph.variable_names.of_nodes(variables)
        numbers = zip(names, kinds, variables.tolist(), strict=True)
        for place, (name, kind, variable) in enumerate(numbers):
            head, inside = head_and_inside(name)
            if not inside:
                own = graph.individual_ids[offsets[variable] : offsets[variable + 1]].tolist()
                inside = ",".join(graph.individuals[each] for each in own)
            relation = head if kind < 0 else graph.kinds[kind]
            relation_of[place] = known.setdefault(relation, len(known))
            individuals.append(inside)
        return cls(
            graph, variables, frozen(values), tuple(known), frozen(relation_of), tuple(individuals)
        )

    def __len__(self) -> int:
        return len(self.variables)

    @cached_property
    def sizes(self) -> Ints:
        """How many labels each cell could have."""
        return frozen(self.graph.sizes[self.variables])

    @cached_property
    def owners(self) -> tuple[list[str], Ints]:
        """Whose cells there are, and for each cell whose it is, -1 for nobody's.

        That is the first individual that its variable lists, else the first one in its name.
        """
        declared = variable_owners(self.graph)[self.variables].tolist()
        known: dict[str, int] = {}
        found = np.full(len(self), -1, dtype=np.int64)
        for place, (owner, individual) in enumerate(zip(declared, self.individuals, strict=True)):
            name = individual.partition(",")[0] if owner < 0 else self.graph.individuals[owner]
            if name:
                found[place] = known.setdefault(name, len(known))
        return list(known), frozen(found)

    @cached_property
    def place_of(self) -> dict[tuple[str, str], list[int]]:
        """The cells by relation and individual; where names say little, several may share both."""
        places: dict[tuple[str, str], list[int]] = {}
        pairs = zip(self.relation_of.tolist(), self.individuals, strict=True)
        for place, (relation, individual) in enumerate(pairs):
            places.setdefault((self.relations[relation], individual), []).append(place)
        return places

    def labels(self, place: int) -> tuple[str, ...]:
        """The labels of a cell's variable, as declared."""
        return self.graph.labels(int(self.variables[place]))

    def evidence_without(self, evidence: Evidence, places: Ints) -> Evidence:
        """What was observed of all but some cells; soft evidence stays."""
        kept = ~np.isin(evidence.variables, self.variables[places])
        return Evidence(
            frozen(evidence.variables[kept]),
            frozen(evidence.values[kept]),
            evidence.soft_variables,
            evidence.likelihoods,
            evidence.of,
        )

    def frequencies(self, hidden: Ints) -> Floats:
        """For each hidden cell how often each label was observed in its relation, as shares.

        Hidden cells do not count; uniform where nothing else is left. Padded with 0 where a cell
        has fewer labels than others.
        """
        declared = self.graph.variable_declared[self.variables]
        pairs = np.column_stack((self.relation_of, declared))
        kind = np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1)
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
