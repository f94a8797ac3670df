"""Finding by name: individuals, relations, values and variables, completed as one types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.graph.factor_graph import FactorGraph
from lifagu.questions import in_memory
from lifagu.questions.statement import Statement
from lifagu.relational.domains import Domain
from lifagu.relational.ground_names import GroundNames
from lifagu.relational.parfactor_graph import ParfactorGraph

WORDS = " -_.,:/(=<[\"'"  # after one of these a word begins
MOST_VARIABLES = 200_000  # that are found by their names; of more, their individuals and relations
MOST_VALUES = 10_000


@dataclass(frozen=True)
class Match:
    """Something whose name goes on from what was typed.

    Attributes
    ----------
    kind : {"relation", "value", "individual", "variable"}
        What it is.
    name : str
        Its name; of a value that of its relation.
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


def find(case: Statement, text: str, most: int) -> list[Match]:
    """What is called so, or goes on from it, at most so much; the nearest first."""
    model = in_memory.grounded(case) if case.added or case.admitted else case.model
    key = "names", case.added, case.admitted
    return case.opened.once(key, lambda: _Names.of(model)).find(text, most)


@dataclass(frozen=True, eq=False)
class _Names:
    """All names of a model, as one text.

    few: relations with their values; people, variables: names in the order of the model; domains:
    where individuals are constants.
    """

    few: tuple[Match, ...]
    people: Sequence[str]
    variables: Sequence[str]
    domains: tuple[Domain, ...]

    @classmethod
    def of(cls, model: FactorGraph | ParfactorGraph) -> _Names:
        if isinstance(model, ParfactorGraph):
            few = [(each.name, each.of, each.range) for each in model.relations]
            part = model.ground_part
            constants = [name for each in model.domains for name in each.constants or ()]
            people = [*constants, *part.individuals]
            return cls(_few(few), people, part.variable_names, tuple(model.domains))
        names = model.variable_names
        rows = names.rows if isinstance(names, GroundNames) else ()
        domains = {each.prefix: each.domains for each in rows}
        of_kind = [np.argmax(model.variable_kind == kind) for kind in range(len(model.kinds))]
        few = [
            (name, tuple(each.name for each in domains.get(name, ())), model.labels(int(first)))
            for name, first in zip(model.kinds, of_kind, strict=True)
        ]
        listed = names if len(names) <= MOST_VARIABLES else ()
        every = {each.name: each for row in rows for each in row.domains}
        return cls(_few(few), model.individuals, listed, tuple(every.values()))

    def find(self, text: str, most: int) -> list[Match]:
        """The exact ones first, then what begins so, then words that do, then what contains it."""
        wanted = " ".join(text.casefold().split())
        if not wanted:
            return []
        found = dict.fromkeys(self._anonymous(wanted))
        patterns = [f"\n{wanted}\n", f"\n{wanted}", *(f"{each}{wanted}" for each in WORDS), wanted]
        for pattern in patterns:
            for place in self._places(pattern, most):
                found.setdefault(self._entry(place))
            if len(found) >= most:
                break
        return [*found][:most]

    def _places(self, pattern: str, most: int) -> Iterator[int]:
        """The entries in which a pattern occurs, at most so many."""
        at, before = -1, -1
        for _ in range(most):
            at = self._text.find(pattern, at + 1)
            if at < 0:
                return
            begins = at + 1 if pattern[0] == "\n" else at
            place = int(np.searchsorted(self._starts, begins, side="right")) - 1
            if place != before:
                yield place
            before = place
            # the next one is in another entry
            at = int(self._starts[place + 1]) - 2 if place + 1 < len(self._starts) - 1 else begins

    @cached_property
    def _lines(self) -> list[str]:
        few = [f"{each.name} = {each.label}" if each.label else each.name for each in self.few]
        return [" ".join(each.casefold().split()) for each in (*few, *self.people, *self.variables)]

    @cached_property
    def _text(self) -> str:
        return "\n" + "\n".join(self._lines) + "\n"

    @cached_property
    def _starts(self) -> Ints:
        """Where each entry begins in the text, and where the last one ends."""
        lengths = np.fromiter(map(len, self._lines), dtype=np.int64, count=len(self._lines))
        return np.concatenate(([1], 1 + np.cumsum(lengths + 1)))

    def _entry(self, place: int) -> Match:
        if place < len(self.few):
            return self.few[place]
        place -= len(self.few)
        if place < len(self.people):
            name = self.people[place]
            return Match("individual", name, self._domain(name))
        return Match("variable", self.variables[place - len(self.people)])

    def _domain(self, name: str) -> str:
        head = name.partition(":")[0]
        having = (each for each in self.domains if each.find(name) is not None or each.name == head)
        return next((each.name for each in having), "")

    def _anonymous(self, wanted: str) -> Iterator[Match]:
        """A constant that is known by its number alone."""
        for each in self.domains:
            if each.constants is None and each.find(wanted) is not None and wanted.isdecimal():
                yield Match("individual", wanted, each.name)


def _few(relations: Sequence[tuple[str, tuple[str, ...], Sequence[str]]]) -> tuple[Match, ...]:
    """Relations, and then each one's values."""
    named = [Match("relation", name, ", ".join(of)) for name, of, _ in relations]
    values = [
        Match("value", name, ", ".join(of), label)
        for name, of, labels in relations
        for label in labels
    ]
    return (*named, *values[:MOST_VALUES])
