"""Relational models: domains, relations, parfactors, a ground part; grounding gives their meaning.

Nothing here lists the constants of a numbered domain, so sizes may be in the millions.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lifagu.basics.cached import cached_property
from lifagu.basics.frozen import Frozen
from lifagu.basics.html import Shown
from lifagu.basics.inputs import certain_label, items, shown
from lifagu.basics.names import Names
from lifagu.basics.words import counted
from lifagu.errors import ModelError, did_you_mean, listed
from lifagu.graph.evidence import EvidenceLike, Observation, bind_evidence, by_name, likelihood_of
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.ranges import Labels
from lifagu.relational.bound_parfactors import BoundParfactor, bind
from lifagu.relational.builder import RelationalBuilder
from lifagu.relational.domains import Domain as Domain
from lifagu.relational.notation import (
    domain_lines,
    ground_lines,
    parfactor_lines,
    relation_lines,
    sections,
)
from lifagu.relational.original_names import GroundAtom, Meant
from lifagu.relational.parfactors import Parfactor as Parfactor
from lifagu.relational.parsing import parse_ground
from lifagu.relational.relations import Relation as Relation
from lifagu.relational.relations import Vocabulary
from lifagu.relational.spans import Span, beyond, is_wide


@contextmanager
def collecting_later() -> Iterator[None]:
    """Without the garbage collector, which would look at new objects again and again meanwhile."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@dataclass(frozen=True)
class Proof:
    """A lifted model was grounded and compared: names, ranges, arguments and tables.

    >>> print(Proof(variables=2, factors=1, unknown=0, tables=1))
    grounded again: the same 2 variables and the same 1 factor, each as often, with 1 distinct table
    """

    variables: int
    factors: int
    unknown: int
    tables: int

    def __str__(self) -> str:
        unknown = f" ({self.unknown} unknown)" if self.unknown else ""
        tables = counted(self.tables, "distinct table")
        return (
            f"grounded again: the same {counted(self.variables, 'variable')} and the same "
            f"{counted(self.factors, 'factor')}{unknown}, each as often, with {tables}"
        )


class Observed(NamedTuple):
    """A piece of evidence: on a plain variable (relation -1), or on ground variables within spans.

    spans: for each domain of the relation the numbers of the first and the last constant.
    """

    name: str
    relation: int
    variable: int
    spans: tuple[Span, ...]
    observation: Observation

    @property
    def is_range(self) -> bool:
        """Whether it was given for a range, if of one constant: what does not exist is skipped."""
        if is_wide(self.spans):
            return True
        parsed = parse_ground(self.name) if self.relation >= 0 and ".." in self.name else None
        return parsed is not None and not all(isinstance(each, str) for each in parsed[1])


@dataclass(frozen=True, eq=False, repr=False)
class ParfactorGraph(Frozen, Shown):
    """A parameterised factor graph; `ParfactorGraph.build` makes one by hand.

    Parameters
    ----------
    domains : tuple of Domain
        The domains.
    relations : tuple of Relation
        The relations over them.
    parfactors : tuple of Parfactor
        The parfactors.
    ground_part : FactorGraph, optional
        Plain variables and ground factors. These may also name ground variables of relations,
        which then are variables of it under their ground names, with their relation's range.
    proof : Proof, optional
        Of a lifted model, that it means the graph it came from.

    Examples
    --------
    >>> from lifagu.relational.grounding import ground
    >>> model = ParfactorGraph(
    ...     (Domain("Person", 3),),
    ...     (Relation("Epid"), Relation("Sick", ("Person",))),
    ...     (Parfactor.of("g", ["Sick(X)", "Epid"], [4, 1, 1, 3]),),
    ... )
    >>> model
    <ParfactorGraph: 1 domain, 2 relations, 1 parfactor>
    >>> ground(model).factor("g(2)").arguments
    ('Sick(2)', 'Epid')
    """

    domains: tuple[Domain, ...]
    relations: tuple[Relation, ...]
    parfactors: tuple[Parfactor, ...]
    ground_part: FactorGraph = None  # type: ignore[assignment]
    proof: Proof | None = None

    def __post_init__(self) -> None:
        if self.ground_part is None:
            object.__setattr__(self, "ground_part", FactorGraph.build().graph())
        for name, kind in (("domains", Domain), ("relations", Relation), ("parfactors", Parfactor)):
            given = items(f"{name} is a list of {kind.__name__}", getattr(self, name))
            if wrong := [each for each in given if not isinstance(each, kind)]:
                raise ModelError(f"{name} holds {shown(wrong[0])}, which is no {kind.__name__}")
            object.__setattr__(self, name, tuple(given))
        if not isinstance(self.ground_part, FactorGraph):
            raise ModelError(f"ground_part is a FactorGraph, not {shown(self.ground_part)}")
        self.vocabulary  # noqa: B018  checks domains and relations
        self.places  # noqa: B018  checks the ground part
        self.bound  # noqa: B018  checks the parfactors

    @staticmethod
    def build() -> RelationalBuilder[ParfactorGraph]:
        """Start a model by hand: ``.domain(…).relation(…).parfactor(…).model()``.

        Returns
        -------
        RelationalBuilder
            Its methods add domains, relations and parfactors; `model` ends it.
        """
        return RelationalBuilder(ParfactorGraph)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """Domains and relations, and the names they make."""
        return Vocabulary(tuple(self.domains), tuple(self.relations))

    @cached_property
    def places(self) -> dict[int, GroundAtom]:
        """Which variables of the ground part are ground variables of relations, and which ones."""
        part, words = self.ground_part, self.vocabulary
        found = words.places_in(part.variable_names)
        for number, place in found.items():
            name, relation = part.variable_names[number], words.relations[place[0]]
            if not part.degrees[number]:
                raise ModelError(
                    f"variable '{name}' has the name of a ground variable of relation "
                    f"'{relation.name}'; rename it, or leave it to the relation"
                )
            if part.labels(number) != relation.range:
                raise ModelError(
                    f"variable '{name}' has the range {listed(part.labels(number))}, but its "
                    f"relation '{relation.name}' has {listed(relation.range)}"
                )
        return found

    @cached_property
    def bound(self) -> tuple[BoundParfactor, ...]:
        """The parfactors in numbers."""
        Names("parfactor", [parfactor.name for parfactor in self.parfactors])
        return tuple(
            bind(number, parfactor, self.vocabulary, self._plain)
            for number, parfactor in enumerate(self.parfactors)
        )

    def with_proof(self, proof: Proof) -> ParfactorGraph:
        """The same model with a proof; nothing is checked again.

        Parameters
        ----------
        proof : Proof
            That it means the graph it came from.

        Returns
        -------
        ParfactorGraph
        """
        proved = object.__new__(ParfactorGraph)
        proved.__dict__.update(self.__dict__, proof=proof)
        return proved

    def _plain(self, name: str) -> tuple[int, int] | None:
        number = self.ground_part.variable_names.find(name)
        if number is None or number in self.places:
            return None
        return number, int(self.ground_part.sizes[number])

    def place_of(self, name: str) -> GroundAtom:
        """What variable a name means; whether some ground factor has it is not checked.

        Parameters
        ----------
        name : str
            Its name; one that the model cannot have is a `ModelError`.

        Returns
        -------
        tuple
            The numbers of its relation and constants, or -1 and that of a plain variable.
        """
        relation, variable, spans = self._found([name])[0]
        if is_wide(spans):
            raise ModelError(f"'{name}' names several variables; ask about one of them")
        return (relation, tuple(low for low, _ in spans)) if relation >= 0 else (-1, (variable,))

    @property
    def has_unknown(self) -> bool:
        """Whether some parfactor or ground factor has no table."""
        unknown = any(each.table is None for each in self.parfactors)
        return unknown or len(self.ground_part.unknown) > 0

    @property
    def has_support(self) -> bool:
        """Whether some table says how many records stand behind it."""
        own = any(each.support is not None for each in self.bound)
        return own or self.ground_part.support is not None

    def layered(self, layers: Sequence[EvidenceLike]) -> dict[str, Observation]:
        """Several layers of evidence as one.

        Parameters
        ----------
        layers : sequence of mapping
            Evidence by name; what a later layer observes, an earlier one no longer does.

        Returns
        -------
        dict

        Examples
        --------
        >>> model = ParfactorGraph((Domain("Person", 9),), (Relation("Sick", ("Person",)),), ())
        >>> model.layered([{"Sick(1..9)": "true"}, {"Sick(3)": "false"}])
        {'Sick(1..2)': 'true', 'Sick(4..9)': 'true', 'Sick(3)': 'false'}
        """
        found: dict[str, Observation] = {}
        for layer in map(by_name, layers):
            later = self._found(list(layer))
            meant = self._found(list(found))
            once, wide = set(later), [each for each in later if is_wide(each[2])]
            left: dict[str, Observation] = {}
            for (name, seen), earlier in zip(found.items(), meant, strict=True):
                if earlier not in once:
                    cuts = later if is_wide(earlier[2]) else wide
                    left |= dict.fromkeys(self._except(name, earlier, cuts), seen)
            found = left | dict(layer)
        return found

    def _except(self, name: str, earlier: Meant, later: Sequence[Meant]) -> list[str]:
        """Names for what evidence covers beyond later evidence; the rest of a range is a range."""
        relation, variable, spans = earlier
        boxes = [spans]
        for other, plain, cut in later:
            if (other, plain) == (relation, variable):
                boxes = [left for box in boxes for left in beyond(box, cut)]
        if boxes == [spans]:
            return [name]
        return [self.vocabulary.span_name(relation, box) for box in boxes]

    def observations(self, evidence: EvidenceLike) -> tuple[Observed, ...]:
        """What was observed, in numbers, without listing what a range covers.

        Whether a ground variable exists (some ground factor has it) is not checked here.

        Parameters
        ----------
        evidence : mapping, Evidence or None
            By name; a wrong name or label is a `ModelError`.

        Returns
        -------
        tuple of Observed

        Examples
        --------
        >>> model = ParfactorGraph.build().domain("Person", 10**6).relation("Smokes", "Person")
        >>> model.model().observations({"Smokes(1..300)": "true"})[0].spans
        ((0, 299),)
        """
        evidence = by_name(evidence)
        names, result = list(evidence), []
        checked: set[tuple[int, int, str] | None] = set()
        with collecting_later():
            for name, found, observation in zip(
                names, self._found(names), evidence.values(), strict=True
            ):
                if isinstance(observation, tuple):
                    observation = self._by_label(name, found, observation)
                observed = Observed(name, *found, observation)
                about = (found[0], found[1], observation) if isinstance(observation, str) else None
                if about is None or about not in checked:
                    self._check(observed)
                    checked.add(about)
                if isinstance(observation, Mapping):
                    label = certain_label(observation)
                    if label is not None and observation[label] == 1:  # an observation, no more
                        observed = observed._replace(observation=label)
                result.append(observed)
        return tuple(result)

    def _found(self, names: Sequence[str]) -> list[Meant]:
        """The ground variables or the plain variable of each name; any other is an error."""
        for name in names:
            if not isinstance(name, str):
                raise ModelError(
                    f"there is no variable {shown(name)} in the model; variables are named by texts"
                )
        plain = self.ground_part.variable_names.find_each(names).tolist()
        result: list[Meant] = []
        for name, variable, meant in zip(
            names, plain, self.vocabulary.meant_by(names), strict=True
        ):
            if meant is None and variable < 0:
                raise self._missing(name)
            result.append((-1, variable, ()) if meant is None else meant)
        return result

    def _labels(self, relation: int, variable: int) -> Labels:
        """The labels of a plain variable (relation -1), or of all of a relation."""
        return self.ground_part.labels(variable) if relation < 0 else self.relations[relation].range

    def _by_label(
        self, name: str, found: Meant, likelihoods: tuple[float, ...]
    ) -> Mapping[str, float]:
        """Likelihoods in the order of the labels, by label."""
        labels = self._labels(*found[:2])
        return dict(zip(labels, likelihood_of(name, likelihoods, labels).tolist(), strict=True))

    def _check(self, observed: Observed) -> None:
        """A label that the range lacks, or a wrong likelihood, is an error."""
        name, relation, variable, _, observation = observed
        labels = self._labels(relation, variable)
        order = np.arange(len(labels))
        bind_evidence({name: observation}, Names("variable", [name]), lambda _: (labels, order))

    def _missing(self, name: str) -> ModelError:
        words = self.vocabulary
        known = [*words.relation_names, *self.ground_part.variable_names[:1000]]
        return ModelError(
            words.why_not(name)
            or f"there is no variable '{name}' in the model{did_you_mean(name, known)}"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ParfactorGraph):
            return NotImplemented
        return (self.domains, self.relations, self.parfactors) == (
            other.domains,
            other.relations,
            other.parfactors,
        ) and self.ground_part == other.ground_part

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        part = self.ground_part
        plain = np.delete(np.arange(len(part.variable_names)), list(self.places))
        ground_count = len(part.factor_names) + min(len(plain), 1)
        parfactors, tables = parfactor_lines(self.parfactors)
        return sections(
            [
                ("domains", domain_lines(self.domains), len(self.domains)),
                ("relations", relations := relation_lines(self.relations), len(relations)),
                ("parfactors", parfactors, len(parfactors)),
                ("tables", tables, len(tables)),
                ("ground part", ground_lines(part, plain), ground_count),
                ("proof", [str(self.proof)] if self.proof else [], 0),
            ]
        )

    @property
    def summary(self) -> str:
        """What there is, counted, in words."""
        unknown = sum(parfactor.table is None for parfactor in self.parfactors)
        parts = [
            counted(len(self.domains), "domain"),
            counted(len(self.relations), "relation"),
            counted(len(self.parfactors), "parfactor")
            + (f" ({unknown} unknown)" if unknown else ""),
        ]
        variables = len(self.ground_part.variable_names) - len(self.places)
        factors = len(self.ground_part.factor_names)
        parts += [counted(variables, "plain variable")] if variables else []
        parts += [counted(factors, "ground factor")] if factors else []
        return ", ".join(parts)

    def __repr__(self) -> str:
        return f"<ParfactorGraph: {self.summary}>"
