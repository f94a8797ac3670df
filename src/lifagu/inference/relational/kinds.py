"""Kinds of ground variables: all of a relation that differ only in interchangeable individuals."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Floats, Ints, first_places, group_rows
from lifagu.basics.inputs import certain_label
from lifagu.errors import ModelError
from lifagu.graph.evidence import Evidence
from lifagu.graph.ranges import Labels
from lifagu.inference.lifted.cells import Individuals
from lifagu.inference.relational.cells import DomainCells
from lifagu.inference.relational.telling_apart import observation_key
from lifagu.relational.parfactor_graph import Observed, ParfactorGraph
from lifagu.relational.relations import GroundAtom

# a cell, and which of a pattern's individuals; -1 where the cell has one member only
Binding = tuple[int, int]
LETTERS = "XYZUVW"
MOST_NAMED = 8  # members with names of their own that are listed by name


@dataclass(frozen=True)
class Kind:
    """A relation and, for each term, a cell and which individual of the name (-1: its only one).

    A plain variable is a kind of its own, with relation -1. counted: where it is a histogram, the
    kinds whose values it counts, and which individual of their names (-1: none, they are told
    apart).
    """

    relation: int
    variable: int = -1
    terms: tuple[Binding, ...] = ()
    counted: tuple[tuple[int, int], ...] = ()


class Kinds:
    """All kinds, numbered in the order in which they were met: these are the engine's variables."""

    def __init__(
        self, model: ParfactorGraph, partitions: Sequence[DomainCells], evidence: Sequence[Observed]
    ) -> None:
        self.model = model
        self.partitions = partitions
        starts = np.cumsum([0, *(len(each.sizes) for each in partitions)]).tolist()
        self.first_cell: list[int] = starts
        self.individuals = Individuals([size for each in partitions for size in each.sizes])
        self.kinds: list[Kind] = []
        self.sizes: list[int] = []
        self._numbers: dict[Kind, int] = {}
        self._ranges = [each for each in evidence if each.relation < 0 or each.is_range]
        self._single = _by_look(
            self, [each for each in evidence if each.relation >= 0 and not each.is_range]
        )
        self._seen: dict[int, Observed | None] = {}

    def __len__(self) -> int:
        return len(self.kinds)

    def plain(self, variable: int) -> int:
        """The number of a plain variable."""
        return self._add(Kind(-1, variable), (), int(self.model.ground_part.sizes[variable]))

    def of(self, relation: int, bindings: Sequence[Binding]) -> tuple[int, tuple[int, ...]]:
        """The number of a kind, and the individuals in its name, by first occurrence."""
        number: dict[int, int] = {}
        terms = tuple(
            (cell, number.setdefault(individual, len(number)) if individual >= 0 else -1)
            for cell, individual in bindings
        )
        cells = {local: cell for cell, local in terms if local >= 0}
        size = len(self.model.vocabulary.relations[relation].range)
        kind = self._add(
            Kind(relation, -1, terms), tuple(cells[each] for each in range(len(cells))), size
        )
        return kind, tuple(number)

    def histogram(self, counted: Sequence[int], logical: int, size: int) -> int:
        """The variable that counts values of kinds, over an individual in their name (-1: none)."""
        cells = self.individuals.cells_of[counted[0]]
        left = tuple(cell for place, cell in enumerate(cells) if place != logical)
        return self._add(Kind(-1, -1, (), tuple((each, logical) for each in counted)), left, size)

    def _add(self, kind: Kind, cells: tuple[int, ...], size: int) -> int:
        number = self._numbers.setdefault(kind, len(self.kinds))
        if number == len(self.kinds):
            self.kinds.append(kind)
            self.sizes.append(size)
            self.individuals.cells_of[number] = cells
        return number

    def cell(self, domain: int, constant: int) -> int:
        """The cell of a constant."""
        return self.first_cell[domain] + int(self.partitions[domain].cells(np.array([constant]))[0])

    def find(self, place: GroundAtom) -> int | None:
        """The kind of a ground variable, or a plain one (relation -1); None if in no factor."""
        relation, constants = place
        if relation < 0:
            return self._numbers.get(Kind(-1, constants[0]))
        return self._numbers.get(Kind(relation, -1, tuple(self.bind(relation, constants, {}))))

    def bind(
        self, relation: int, constants: Sequence[int], individuals: dict[Binding, int]
    ) -> list[Binding]:
        """The cells of a ground variable's constants, and who is who among the individuals so far.

        individuals: cell and constant of each, by number; new ones are added.
        """
        bindings = []
        of = self.model.vocabulary.domains_of[relation]
        for domain, constant in zip(of, constants, strict=True):
            cell, individual = self.cell(domain, constant), -1
            if self.individuals.sizes[cell] > 1:
                individual = individuals.setdefault((cell, constant), len(individuals))
            bindings.append((cell, individual))
        return bindings

    def sort_key(self, number: int) -> tuple[int, int, tuple[Binding, ...]]:
        """Plain variables first, then kinds by relation and cells."""
        kind = self.kinds[number]
        return kind.relation, kind.variable, kind.terms

    # ---- what was observed

    @property
    def evidence(self) -> list[Observed]:
        """The evidence; of pieces that say the same about ground variables of a kind, the first."""
        return [*self._ranges, *self._single.values()]

    def observed(self, number: int) -> Observed | None:
        """The evidence on a kind: that on one of its ground variables, as cells tell it apart."""
        if number not in self._seen:
            self._seen[number] = self._find_observed(self.kinds[number])
        return self._seen[number]

    def _find_observed(self, kind: Kind) -> Observed | None:
        if kind.counted:
            return None
        same = [each for each in self._ranges if each.relation == kind.relation]
        if kind.relation < 0:
            return next((each for each in same if each.variable == kind.variable), None)
        example = self._example(kind)
        found = [
            each
            for each in same
            if all(low <= own <= high for own, (low, high) in zip(example, each.spans, strict=True))
        ]
        look = self.look(kind.relation, np.array([example], dtype=np.int64))[0]
        if (key := (kind.relation, *look.tolist())) in self._single:
            found.append(self._single[key])
        for other in found[1:]:
            if observation_key(other) != observation_key(found[0]):
                raise ModelError(
                    f"'{other.name}' observes what '{found[0].name}' does, but otherwise; keep one"
                )
        return found[0] if found else None

    def look(self, relation: int, constants: Ints) -> Ints:
        """What ground variables look like: the cells of their constants, and which are equal."""
        columns = [np.zeros(len(constants), dtype=np.int64)]
        for place, domain in enumerate(self.model.vocabulary.domains_of[relation]):
            columns.append(self.partitions[domain].cells(constants[:, place]))
            columns += [
                (constants[:, place] == constants[:, earlier]).astype(np.int64)
                for earlier in range(place)
            ]
        return np.column_stack(columns)

    def value(self, number: int) -> int:
        """The observed value of a kind, -1 if there is none."""
        seen = self.observed(number)
        label = None if seen is None else seen.observation
        if isinstance(label, Mapping):
            label = certain_label(label)
        return -1 if label is None else self.labels(number).index(str(label))

    @property
    def observation(self) -> Evidence:
        """The evidence as numbers of kinds and values."""
        values = np.array([self.value(number) for number in range(len(self))], dtype=np.int64)
        hard = np.flatnonzero(values >= 0)
        soft: dict[int, Floats] = {}
        for number in range(len(self)):
            seen = self.observed(number)
            if seen is not None and isinstance(seen.observation, Mapping):
                weights = [float(seen.observation[label]) for label in self.labels(number)]
                soft[number] = np.array(weights)
        soft_variables = np.array(list(soft), dtype=np.int64)
        return Evidence(hard, values[hard], soft_variables, tuple(soft.values()))

    # ---- names

    def labels(self, number: int) -> Labels:
        """The labels of a kind's values."""
        kind = self.kinds[number]
        if kind.relation < 0:
            return self.model.ground_part.labels(kind.variable)
        return self.model.vocabulary.relations[kind.relation].range

    def name(self, number: int) -> str:
        """The name of the first ground variable of a kind."""
        kind = self.kinds[number]
        if kind.counted:
            return f"the histogram of {self.name(kind.counted[0][0])}"
        if kind.relation < 0:
            return self.model.ground_part.variable_names[kind.variable]
        return self.model.vocabulary.ground_name(kind.relation, self._example(kind))

    def _example(self, kind: Kind) -> list[int]:
        """The constants of the first ground variable of a kind."""
        taken: dict[int, int] = {}
        chosen: dict[int, int] = {}
        for cell, individual in kind.terms:
            if individual >= 0 and individual not in chosen:
                chosen[individual] = taken.get(cell, 0)
                taken[cell] = taken.get(cell, 0) + 1
        return [self.constant(cell, chosen.get(individual, 0)) for cell, individual in kind.terms]

    def _within(self, cell: int) -> tuple[DomainCells, int]:
        """The cells of its domain, and a cell's number among these."""
        domain = bisect_right(self.first_cell, cell) - 1
        return self.partitions[domain], cell - self.first_cell[domain]

    def constant(self, cell: int, place: int) -> int:
        """The constant at a place in a cell."""
        cells, own = self._within(cell)
        return cells.first(own, place + 1)[place]

    def constants(self, cell: int) -> Ints:
        """All constants of a cell."""
        cells, own = self._within(cell)
        return cells.constants(own)

    def members(self, number: int) -> str:
        """The ground variables of a kind in words: ``Smokes(X), X in 2..1000000``.

        Those with names of their own go by these: the relation may be of lifting's making.
        """
        kind = self.kinds[number]
        cells = self.individuals.cells_of[number]
        if not cells:
            return self.name(number)
        if self._has_names(kind, self.individuals.members(number)):
            return self._named(kind, number)
        letters: Sequence[str] = LETTERS
        if len(cells) > len(LETTERS):
            letters = [f"X{each + 1}" for each in range(len(cells))]
        terms = [
            letters[individual] if individual >= 0 else self._text(cell)
            for cell, individual in kind.terms
        ]
        ranges: dict[int, list[str]] = {}
        for individual, cell in enumerate(cells):
            ranges.setdefault(cell, []).append(letters[individual])
        parts = [f"{self.model.vocabulary.relations[kind.relation].name}({','.join(terms)})"]
        for cell, own in ranges.items():
            parts.append(f"{', '.join(own)} in {self._text(cell)}")
            parts += [
                f"{left} != {right}" for place, right in enumerate(own) for left in own[:place]
            ]
        return ", ".join(parts)

    def _has_names(self, kind: Kind, count: int) -> bool:
        """Whether all of its ground variables may have original names, as its first one has."""
        names = self.model.vocabulary.renamed[kind.relation]
        return len(names) >= count and names.get(tuple(self._example(kind))) is not None

    def _named(self, kind: Kind, number: int) -> str:
        """Few ground variables by name, of many the first."""
        if (count := self.individuals.members(number)) > MOST_NAMED:
            return f"{self.name(number)} and {count - 1} more"
        name = self.model.vocabulary.ground_name
        rows = self.terms(kind, self.individuals.listed(self.individuals.cells_of[number]))
        return ", ".join(name(kind.relation, row) for row in sorted(rows.tolist()))

    def terms(self, kind: Kind, places: Ints) -> Ints:
        """The constants of ground variables of a kind, from the places of their individuals."""
        first = np.zeros(len(places), dtype=np.int64)  # a cell without individuals has one member
        columns = [
            self.constants(cell)[places[:, individual] if individual >= 0 else first]
            for cell, individual in kind.terms
        ]
        return np.column_stack([np.zeros((len(places), 0), dtype=np.int64), *columns])

    def _text(self, cell: int) -> str:
        cells, own = self._within(cell)
        return cells.text(own)


def _by_look(kinds: Kinds, evidence: Sequence[Observed]) -> dict[tuple[int, ...], Observed]:
    """Evidence on single ground variables by relation and look, the first of what says the same."""
    of_relation: dict[int, list[Observed]] = {}
    for observed in evidence:
        of_relation.setdefault(observed.relation, []).append(observed)
    found: dict[tuple[int, ...], Observed] = {}
    for relation, pieces in of_relation.items():
        constants = np.array([[low for low, _ in each.spans] for each in pieces], dtype=np.int64)
        looks = kinds.look(relation, constants.reshape(len(pieces), -1))
        for first in first_places(group_rows(looks)).tolist():
            found[(relation, *looks[first].tolist())] = pieces[first]
    return found
