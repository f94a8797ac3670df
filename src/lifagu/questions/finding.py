"""Individuals, relations, values and variables found as one types their names.

What a name equals comes first, then what begins with it, then where a word does, then the rest;
among equals relations, values, individuals and variables, each in the order of the model. Variables
of individuals, of which there are very many, are found once a parenthesis says so. Texts are joined
once for a model and looked through at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from heapq import merge
from itertools import chain, islice
from operator import itemgetter
from typing import Any

import numpy as np

from lifagu.basics.arrays import first_places
from lifagu.basics.cached import cached_property
from lifagu.basics.names import JoinedNames, Names
from lifagu.basics.searched_texts import SearchedTexts
from lifagu.graph.factor_graph import FactorGraph
from lifagu.questions import in_memory
from lifagu.questions.ground_atoms import ConstantTexts, GroundAtoms
from lifagu.questions.statement import Statement
from lifagu.relational.domains import Domain
from lifagu.relational.ground_names import GroundNames
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.relational.relations import Vocabulary

MOST_PLAIN = 1000  # variables of no relation up to which the values of each are found


@dataclass(frozen=True)
class Match:
    """Something whose name goes on from what was typed.

    Attributes
    ----------
    kind : {"relation", "value", "individual", "variable"}
        What it is.
    name : str
        Its name; of a value that of its relation or variable.
    of : str
        The domains of a relation or a value, the domain of an individual; "" where there is none.
    label : str
        Of a value the label.
    """

    kind: str
    name: str
    of: str = ""
    label: str = ""

    def json(self) -> dict[str, Any]:
        """It as plain values."""
        return asdict(self)


Found = tuple[int, int, Match]  # how it is found, the sort that comes first, and what it is


def find(case: Statement, wanted: str, most: int) -> list[Match]:
    """At most so many names, those that fit best first."""
    typed = " ".join(wanted.split())
    known = case.opened.once(("names", case.added, case.admitted), lambda: _known(case))
    found = chain.from_iterable(islice(each, most) for each in known.search(typed))
    return [each for *_, each in sorted(found, key=lambda each: each[:2])[:most]]


def _known(case: Statement) -> _Findable:
    """What can be found in a case; nothing is learned for that."""
    if case.added or case.admitted:
        return _OfGraph(in_memory.grounded(case))
    model = case.opened.read(case.place.progress).model
    return _OfGraph(model) if isinstance(model, FactorGraph) else _OfRelations(model)


@dataclass(frozen=True, eq=False)
class _Relation:
    """A relation, or a variable of none, and its labels."""

    name: str
    labels: Sequence[str]
    of: str = ""


class _Findable:
    """All that can be found in a model."""

    @cached_property
    def relations(self) -> list[_Relation]:
        """The relations of individuals, or kinds."""
        raise NotImplementedError

    @cached_property
    def plain(self) -> Names:
        """The names of variables that are looked through one by one."""
        raise NotImplementedError

    @cached_property
    def atoms(self) -> Sequence[GroundAtoms]:
        """The other variables, relation by relation."""
        raise NotImplementedError

    def labels(self, variable: int) -> Sequence[str]:
        """The labels of one of the plain variables."""
        raise NotImplementedError

    def relation_of(self, variable: int) -> str | None:
        """Its relation."""
        raise NotImplementedError

    def individuals(self, typed: str) -> Iterator[tuple[int, str, str]]:
        """How individuals are found, their names and domains."""
        raise NotImplementedError

    def search(self, typed: str) -> Iterator[Iterator[Found]]:
        """What is found of each sort, best first."""
        yield self._relations(typed)
        yield (
            (how, 2, Match("individual", name, domain))
            for how, name, domain in self.individuals(typed)
        )
        yield self._values(re.sub(r"\s*=\s*", " = ", typed).strip())
        yield self._plain(typed)
        for each in self.atoms:
            yield ((how, 4, Match("variable", name)) for how, name in each.search(typed.casefold()))

    def _relations(self, typed: str) -> Iterator[Found]:
        for number, how in self._relation_texts.search(typed):
            relation = self.relations[number]
            yield how, 0, Match("relation", relation.name, relation.of)

    def _values(self, typed: str) -> Iterator[Found]:
        for number, how in self._value_texts.search(typed):
            yield how, 1, self._all_values[number]

    def _plain(self, typed: str) -> Iterator[Found]:
        for number, how in self._plain_texts.search(typed):
            yield how, 3, Match("variable", self.plain[number])

    @cached_property
    def _relation_texts(self) -> SearchedTexts:
        return SearchedTexts([each.name for each in self.relations])

    @cached_property
    def _plain_texts(self) -> SearchedTexts:
        return SearchedTexts(list(self.plain))

    @cached_property
    def _all_values(self) -> list[Match]:
        """The values of relations, and of variables of none."""
        found = [
            Match("value", each.name, each.of, label)
            for each in self.relations
            for label in each.labels
        ]
        if len(self.plain) <= MOST_PLAIN:
            for number, name in enumerate(self.plain):
                of = self.relation_of(number)
                if of is None or of == name:  # values of others are those of the relation
                    found += [Match("value", name, "", label) for label in self.labels(number)]
        return found

    @cached_property
    def _value_texts(self) -> SearchedTexts:
        return SearchedTexts([f"{each.name} = {each.label}" for each in self._all_values])


class _OfGraph(_Findable):
    """What can be found in a ground graph."""

    def __init__(self, graph: FactorGraph) -> None:
        self.graph = graph

    @cached_property
    def relations(self) -> list[_Relation]:
        """The kinds that no single variable is called like."""
        graph, first = self.graph, first_places(self.graph.variable_kind)
        names = _ground(graph.variable_names)
        rows = () if names is None else names.rows
        domains = {each.prefix: ", ".join(one.name for one in each.domains) for each in rows}
        return [
            _Relation(kind, graph.labels(int(first[number])), domains.get(kind, ""))
            for number, kind in enumerate(graph.kinds)
            if graph.variable_names.find(kind) is None
        ]

    @cached_property
    def _rows(self) -> list[tuple[int, GroundAtoms]]:
        """The variables of relations, and the number of the first of each."""
        names = _ground(self.graph.variable_names)
        if names is None:
            return []
        known = dict[str, ConstantTexts]()
        return [
            (
                names.start(number),
                GroundAtoms(rows.prefix, _texts_of(rows.domains, known), rows.rows),
            )
            for number, rows in enumerate(names.rows, start=1)
            if rows.domains and (rows.which is None or (rows.which < 0).all())
        ]

    @cached_property
    def atoms(self) -> Sequence[GroundAtoms]:
        """The variables of relations."""
        return [atoms for _, atoms in self._rows]

    @cached_property
    def _numbers(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """The variables that are looked through one by one."""
        alone = np.ones(len(self.graph.variable_names), dtype=np.bool_)
        for first, atoms in self._rows:
            alone[first : first + len(atoms)] = False
        return np.flatnonzero(alone)

    @cached_property
    def plain(self) -> Names:
        """The names of the others."""
        return Names("variable", self.graph.variable_names.of_nodes(self._numbers))

    def labels(self, variable: int) -> Sequence[str]:
        """The labels of one of these."""
        return self.graph.labels(int(self._numbers[variable]))

    def relation_of(self, variable: int) -> str | None:
        """Its kind."""
        kind = int(self.graph.variable_kind[self._numbers[variable]])
        return None if kind < 0 else self.graph.kinds[kind]

    @cached_property
    def _individual_texts(self) -> SearchedTexts:
        return SearchedTexts(self.graph.individuals)

    @cached_property
    def _domains(self) -> list[Domain]:
        names = _ground(self.graph.variable_names)
        rows = () if names is None else names.rows
        return [*{each.name: each for row in rows for each in row.domains}.values()]

    def individuals(self, typed: str) -> Iterator[tuple[int, str, str]]:
        """Those of the graph; a domain has them by their names, or after its own."""
        for number, how in self._individual_texts.search(typed):
            name = self.graph.individuals[number]
            domains = filter(None, (_domain(each, name) for each in self._domains))
            yield how, name, next(domains, "")


def _ground(names: Names) -> GroundNames | None:
    """The names made from relations, before those of individuals who were added."""
    if isinstance(names, JoinedNames):
        return _ground(names.parts[0])
    return names if isinstance(names, GroundNames) else None


def _domain(domain: Domain, name: str) -> str | None:
    """The name of a domain that has an individual."""
    own = name.removeprefix(f"{domain.name}:")
    there = domain.find(name) is not None or domain.find(own) is not None
    return domain.name if there else None


class _OfRelations(_Findable):
    """What can be found in a relational model."""

    def __init__(self, model: ParfactorGraph) -> None:
        self.model, self.words, self.part = model, model.vocabulary, model.ground_part

    @cached_property
    def relations(self) -> list[_Relation]:
        """The relations that are of something, and the kinds of single variables."""
        found = [
            _Relation(each.name, each.range, ", ".join(each.of))
            for each in self.words.relations
            if each.of
        ]
        names, first = {each.name for each in found}, first_places(self.part.variable_kind)
        for number, kind in enumerate(self.part.kinds):
            if kind not in names and self.part.variable_names.find(kind) is None:
                found.append(_Relation(kind, self.part.labels(int(first[number]))))
        return found

    @cached_property
    def atoms(self) -> Sequence[GroundAtoms]:
        """The variables of relations, whether a factor has each or not."""
        of = zip(self.words.relations, self.words.domains_of, strict=True)
        domains, known = self.words.domains, dict[str, ConstantTexts]()
        return [
            GroundAtoms(each.name, _texts_of([domains[one] for one in own], known))
            for each, own in of
            if each.of
        ]

    @cached_property
    def _alone(self) -> list[_Relation]:
        """The relations of nothing."""
        return [_Relation(each.name, each.range) for each in self.words.relations if not each.of]

    @cached_property
    def plain(self) -> Names:
        """The relations of nothing, and the variables of the ground part."""
        own = [each.name for each in self._alone]
        return Names("variable", list(dict.fromkeys([*own, *self.part.variable_names])))

    def labels(self, variable: int) -> Sequence[str]:
        """The labels of one of these."""
        if variable < len(self._alone):
            return self._alone[variable].labels
        return self.part.labels(self.part.variable_names.number(self.plain[variable]))

    def relation_of(self, variable: int) -> str | None:
        """Its kind."""
        if variable < len(self._alone):
            return None
        kind = self.part.variable_kind[self.part.variable_names.number(self.plain[variable])]
        return None if kind < 0 else self.part.kinds[int(kind)]

    @cached_property
    def _own(self) -> SearchedTexts:
        return SearchedTexts(self.part.individuals)

    @cached_property
    def _domains(self) -> list[ConstantTexts]:
        """The constants of each domain as individuals."""
        overlapping = self.words.overlapping
        return [
            ConstantTexts(domain, f"{domain.name}:" if number in overlapping else "")
            for number, domain in enumerate(self.words.domains)
        ]

    def individuals(self, typed: str) -> Iterator[tuple[int, str, str]]:
        """The constants of all domains, and whom the ground part names."""
        own = ((how, self.part.individuals[number], "") for number, how in self._own.search(typed))
        ways: list[Iterator[tuple[int, str, str]]] = [own]
        for number, texts in enumerate(self._domains):
            ways.append(_called(self.words, number, texts, typed))
        yield from merge(*ways, key=itemgetter(0))


def _called(
    words: Vocabulary, domain: int, texts: ConstantTexts, typed: str
) -> Iterator[tuple[int, str, str]]:
    for number, how in texts.search(typed):
        yield how, words.individual(domain, number), words.domains[domain].name


def _texts_of(domains: Sequence[Domain], known: dict[str, ConstantTexts]) -> list[ConstantTexts]:
    """The constants as they stand in names of variables; known: those of domains met before."""
    return [known.setdefault(domain.name, ConstantTexts(domain, quoted=True)) for domain in domains]
