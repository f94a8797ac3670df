"""The vocabulary of a lifted model: which classes are relations, and what these are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.basics.cached import cached_property
from lifagu.graph.factor_graph import FactorGraph
from lifagu.relational.domains import Domain, NamedRows, Row
from lifagu.relational.relations import Relation
from lifagu.relational.terms import constant_text, is_relation_name
from lifagu.symmetry.lifting.coordinates import Sketch
from lifagu.symmetry.lifting.drafts import DraftParfactor, Frame
from lifagu.symmetry.lifting.naming import base_name, letter_families, letters, relation_names


@dataclass(frozen=True, eq=False)
class LiftedVocabulary:
    """Domains and relations by the numbers that drafts use.

    domains: by domain of coordinates; families: the letters for their logical variables; relations:
    by class of variables. Classes in drafts that are not relations are single variables whose names
    cannot be those of relations.
    """

    domains: dict[int, Domain]
    families: dict[int, int]
    relations: dict[int, Relation]


def vocabulary_for(
    graph: FactorGraph, frame: Frame, drafts: Sequence[DraftParfactor]
) -> LiftedVocabulary:
    """The vocabulary for the classes of variables that occur in drafts, by first variable."""
    classes = sorted({argument.variables for draft in drafts for argument in draft.arguments})
    relations = [
        number for number in classes if _can_be_relation(graph, frame.variables.members(number))
    ]
    used = list(dict.fromkeys(each.domain for number in relations for each in frame.of(number)))
    constants = {each: _constants(frame.coordinates.domains[each], graph) for each in used}
    spelling = _Spelling(graph, frame, relations, constants)
    names = relation_names(
        [base_name(graph, frame.variables.members(each)) for each in relations], spelling.allows
    )
    families = dict(zip(used, letter_families(names), strict=False))
    domains = {each: Domain.of(next(letters(families[each])), constants[each]) for each in used}
    named = zip(relations, names, strict=True)
    return LiftedVocabulary(
        domains, families, {each: spelling.relation(each, name, domains) for each, name in named}
    )


def _can_be_relation(graph: FactorGraph, variables: Ints) -> bool:
    """Several variables always; a single one if a relation without domains can have its name."""
    return len(variables) > 1 or is_relation_name(graph.variable_names[int(variables[0])])


def _constants(sketch: Sketch, graph: FactorGraph) -> int | list[str]:
    """The constants of a domain: individuals, or how many if called 1, 2, … or Person:1, …"""
    if sketch.individuals is None:
        return sketch.size
    texts = [graph.individuals[each] for each in sketch.individuals.tolist()]
    head = texts[0].removesuffix("1")
    counted = [f"{head}{each + 1}" for each in range(len(texts))]
    return len(texts) if texts == counted and (not head or head.endswith(":")) else texts


@dataclass(frozen=True, eq=False)
class _Spelling:
    """What names may say: ground names of a relation are never those of other variables."""

    graph: FactorGraph
    frame: Frame
    relations: Sequence[int]
    constants: dict[int, int | list[str]]

    @cached_property
    def heads(self) -> Counter[str]:
        """What stands before parentheses in the names of variables, and how often."""
        return self.graph.variable_names.heads()

    def allows(self, number: int, name: str) -> bool:
        """Whether a relation may have a name."""
        members = self.frame.variables.members(self.relations[number])
        if len(members) == 1:
            return name == self.graph.variable_names[int(members[0])]
        if name in self.graph.variable_names:
            return False
        met = self.heads[name]
        return not met or met == len(members) == self._spelt_alike(number, name)

    def _spelt_alike(self, number: int, name: str) -> int:
        """How many variables of a relation have the names that their constants would give."""
        columns = []
        for each in self.frame.of(self.relations[number]):
            given = self.constants[each.domain]
            if isinstance(given, int):
                texts = list(map(str, range(1, given + 1)))
            else:
                texts = list(map(constant_text, given))
            columns.append([texts[value] for value in each.values.tolist()])
        spelt = (f"{name}({','.join(row)})" for row in zip(*columns, strict=True))
        members = self.frame.variables.members(self.relations[number])
        return sum(map(str.__eq__, spelt, map(self.graph.variable_names.__getitem__, members)))

    def relation(self, variable_class: int, name: str, domains: dict[int, Domain]) -> Relation:
        """The relation, with the original names of its ground variables where they go by others."""
        variables = self.frame.variables.members(variable_class)
        coordinates = self.frame.of(variable_class)
        own = tuple(domains[each.domain] for each in coordinates)
        names: Sequence[Row] = ()
        if own and not self.heads[name]:
            rows = np.column_stack([each.values for each in coordinates])
            names = NamedRows(own, rows, self.graph.variable_names, variables)
        labels = self.graph.labels(int(variables[0]))
        return Relation(name, tuple(each.name for each in own), labels, names)
