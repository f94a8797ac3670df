"""One individual of a ground graph: who is meant by a name, and which variables are about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.basics.cached import cached_property
from lifagu.errors import ModelError, did_you_mean, listed
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.parts import factors_with
from lifagu.questions.validating.observed_cells import head_and_inside
from lifagu.relational.domains import Domain
from lifagu.relational.ground_names import GroundNames


@dataclass(frozen=True, eq=False)
class Individual:
    """An individual by its number in a graph, and its domain, if it has one."""

    graph: FactorGraph
    number: int
    domain: str | None
    _known_peers: dict[tuple[str, int, int, int], Ints] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its name, as the graph has it."""
        return self.graph.individuals[self.number]

    @cached_property
    def variables(self) -> Ints:
        """The variables that list it, ascending."""
        entries = np.flatnonzero(self.graph.individual_ids == self.number)
        offsets = self.graph.individual_offsets
        return np.unique(np.searchsorted(offsets, entries, side="right") - 1)

    @cached_property
    def factors(self) -> Ints:
        """The factors with one of these among their arguments, ascending."""
        return factors_with(self.graph, self.variables)

    def of(self, variable: int) -> list[int]:
        """The individuals that a variable lists, by number."""
        start, end = self.graph.individual_offsets[[variable, variable + 1]].tolist()
        listed_here: list[int] = self.graph.individual_ids[start:end].tolist()
        return listed_here

    def others(self, variable: int) -> tuple[str, ...]:
        """The other individuals that a variable is about."""
        names = self.graph.individuals
        return tuple(names[each] for each in self.of(variable) if each != self.number)

    def relation(self, variable: int) -> str:
        """The relation of a variable: its kind, or what its name begins with."""
        kind = int(self.graph.variable_kind[variable])
        if kind >= 0:
            return self.graph.kinds[kind]
        return head_and_inside(self.graph.variable_names[variable])[0]

    def peers(self, variable: int) -> Ints:
        """The variables of the same relation and range, about as many individuals."""
        graph = self.graph
        looks = int(graph.variable_kind[variable]), int(graph.variable_range[variable])
        key = self.relation(variable), *looks, len(self.of(variable))
        if key not in self._known_peers:
            self._known_peers[key] = self._found_peers(variable)
        return self._known_peers[key]

    def _found_peers(self, variable: int) -> Ints:
        graph = self.graph
        lengths = np.diff(graph.individual_offsets)
        same = (graph.variable_range == graph.variable_range[variable]) & (
            lengths == lengths[variable]
        )
        kind = int(graph.variable_kind[variable])
        found = np.flatnonzero(same & (graph.variable_kind == kind))
        if kind >= 0:
            return found
        head = self.relation(variable)
        names = graph.variable_names.of_nodes(found)
        return found[[head_and_inside(name)[0] == head for name in names]]


def individual(name: str, graph: FactorGraph, before: FactorGraph) -> Individual:
    """Who is meant by a name; before: the graph without those who were added.

    ``Machine:M-200`` is the constant M-200 of the domain Machine; where two domains have it, the
    name alone is refused.
    """
    numbers = graph.once(_numbers)
    if not numbers:
        raise ModelError(
            "the model names no individuals; give its variables an individual, or ask about them "
            "by name"
        )
    found: dict[str, str | None] = {name: None} if name in numbers else {}
    outside = ""
    for domain, constant in _spelt(name, before):
        qualified = f"{domain.name}:{constant}"
        called = qualified if qualified in numbers else constant
        if called in numbers:
            found[called] = domain.name
        else:
            outside = f"'{constant}' is in domain {domain.name}, but nothing is said about it"
    if len(found) > 1:
        raise ModelError(f"'{name}' is in several domains; say {' or '.join(found)}")
    for called, of in found.items():
        return Individual(graph, numbers[called], of)
    near = next(_like_spelt(name, graph), "")
    close = f"; did you mean '{near}'?" if near else did_you_mean(name, graph.individuals)
    there = close or f", which has {listed(graph.individuals)}"
    raise ModelError(outside or f"there is no individual '{name}' in the model{there}")


def _numbers(graph: FactorGraph) -> dict[str, int]:
    """The number of each individual."""
    return {each: number for number, each in enumerate(graph.individuals)}


def _spelt(name: str, graph: FactorGraph) -> Iterator[tuple[Domain, str]]:
    """The domains that have such a constant."""
    names = graph.variable_names
    rows = names.rows if isinstance(names, GroundNames) else ()
    for domain in {each.name: each for row in rows for each in row.domains}.values():
        inside = name.removeprefix(f"{domain.name}:")
        for constant in dict.fromkeys((name, inside)):
            if domain.find(constant) is not None:
                yield domain, constant


def _like_spelt(name: str, graph: FactorGraph) -> Iterator[str]:
    """Individuals whose names differ in little more than case, or lack what stands before it."""
    wanted = name.casefold()
    for each in graph.individuals:
        spelt = each.casefold()
        if spelt == wanted or spelt.endswith(f":{wanted}"):
            yield each
