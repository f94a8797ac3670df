"""The factor graph: frozen flat arrays inside, names at the edge, tables interned, ``None`` =
unknown.

Every way in ends in `FactorGraph.from_arrays`: the builder for people, the readers for files, and
arrays for millions of factors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, reduce
from typing import Any, TypeVar

import numpy as np

from lifagu.basics.arrays import Floats, Ints, as_ids, first_places, frozen, members
from lifagu.basics.frozen import Frozen
from lifagu.basics.html import Shown
from lifagu.basics.inputs import text
from lifagu.basics.names import Names
from lifagu.errors import ModelError
from lifagu.graph.assembly import (
    declared_ranges,
    extended,
    individual_lists,
    names_of,
    renamed,
    scopes_of,
    taken_lists,
    used_names,
)
from lifagu.graph.builder import GraphBuilder
from lifagu.graph.evidence import (
    Bearers,
    Evidence,
    EvidenceLike,
    Observation,
    Observations,
    bind_evidence,
    by_name,
)
from lifagu.graph.ranges import Labels, Ranges
from lifagu.graph.tables import GivenTables, Tables, intern_tables
from lifagu.graph.validation import check_arguments, check_ids, check_offsets, check_tables
from lifagu.graph.views import Factor, Variable, View, counted

_Made = TypeVar("_Made")


@dataclass(frozen=True, eq=False, repr=False)
class FactorGraph(Frozen, Shown):
    """A factor graph with n variables, m factors and e arguments; all arrays are read-only.

    variable_declared[n]: which declared label order (`ranges.declared`) each variable has;
    variable_kind[n]: number of its kind in `kinds`, -1 without one;
    individual_ids[individual_offsets[v]:individual_offsets[v+1]]: the individuals variable v lists;
    factor_table[m]: number of its table in `tables`, -1 = unknown;
    arguments[offsets[f]:offsets[f+1]]: the variables of factor f, in order.

    >>> graph = (
    ...     FactorGraph.build()
    ...     .variables(["A", "B", "C"])
    ...     .factor("f1", ["A", "B"], [[1, 2], [3, 4]])
    ...     .factor("f2", ["C", "B"], None)
    ...     .graph()
    ... )
    >>> graph
    <FactorGraph: 3 variables, 2 factors (1 unknown), 1 distinct table>
    >>> graph.factor("f1").table.tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """

    ranges: Ranges
    variable_names: Names
    variable_declared: Ints
    kinds: tuple[str, ...]
    variable_kind: Ints
    individuals: tuple[str, ...]
    individual_offsets: Ints
    individual_ids: Ints
    factor_names: Names
    tables: Tables
    factor_table: Ints
    offsets: Ints
    arguments: Ints

    @staticmethod
    def build() -> GraphBuilder[FactorGraph]:
        """Start a graph by hand: ``.variables(…).factor(…).graph()``."""
        return GraphBuilder(FactorGraph.from_arrays)

    @classmethod
    def from_arrays(
        cls,
        *,
        ranges: Sequence[Sequence[str]],
        variable_ranges: Any,
        offsets: Any,
        arguments: Any,
        tables: Sequence[Any] | np.ndarray[Any, Any] | GivenTables,
        factor_tables: Any,
        variable_names: str | Iterable[str] = "x",
        factor_names: str | Iterable[str] = "f",
        kinds: Sequence[str] = (),
        variable_kinds: Any = None,
        individuals: Sequence[str] = (),
        individual_offsets: Any = None,
        variable_individuals: Any = None,
    ) -> FactorGraph:
        """Build a graph from flat arrays; no Python object per node, near-linear cost.

        ranges: label lists; variable_ranges[n]: which of them each variable has. offsets[m+1],
        arguments[e]: the arguments of factor f are arguments[offsets[f]:offsets[f+1]]. tables: a
        list of arrays, one t×s array, or flat, row-major with the last argument fastest;
        factor_tables[m]: which each factor has, -1 = unknown. Names are sequences, or a prefix from
        which they are made on demand. kinds and variable_kinds[n] (-1 = none), individuals with
        individual_offsets[n+1] and variable_individuals are optional background knowledge.

        >>> FactorGraph.from_arrays(
        ...     ranges=[["false", "true"]], variable_ranges=[0, 0, 0],
        ...     offsets=[0, 2, 4], arguments=[0, 1, 2, 1], tables=[[1, 2, 3, 4]], factor_tables=[0, -1],
        ... ).factor("f1")
        Factor(name='f1', arguments=('x2', 'x1'), table=None)
        """
        declared, variable_declared = declared_ranges(
            ranges, as_ids(variable_ranges, "variable_ranges")
        )
        count = len(variable_declared)
        offsets, arguments = as_ids(offsets, "offsets"), as_ids(arguments, "arguments")
        factor_given = as_ids(factor_tables, "factor_tables")
        check_offsets(offsets, len(arguments), "offsets")
        names = names_of("variable", variable_names, count)
        factors = names_of("factor", factor_names, len(offsets) - 1)
        if len(factor_given) != len(factors):
            raise ModelError(
                f"factor_tables has {len(factor_given)} entries for {len(factors)} factors"
            )
        given = GivenTables.of(tables)
        check_ids(arguments, 0, count, "arguments", "variables")
        check_ids(factor_given, -1, len(given.lengths), "factor_tables", "tables")
        scopes = scopes_of(offsets, arguments)
        sizes = declared.sizes[declared.range_of[variable_declared]]
        check_arguments(scopes, names, factors)
        check_tables(given, factor_given, scopes, sizes, names, factors)
        interned, factor_table = intern_tables(
            given,
            factor_given,
            [(rows, variable_declared[matrix]) for rows, matrix in scopes],
            declared,
        )
        kinds, variable_kind = used_names("kind", kinds, variable_kinds, count)
        owners = individual_lists(individuals, individual_offsets, variable_individuals, count)
        return cls(
            declared,
            names,
            frozen(variable_declared),
            kinds,
            frozen(variable_kind),
            *owners,
            factors,
            interned,
            frozen(factor_table),
            frozen(offsets),
            frozen(arguments),
        )

    def refilled(
        self, given: GivenTables, factor_given: Ints, arguments: Ints | None = None
    ) -> FactorGraph:
        """The same graph with other tables, and perhaps with the arguments of factors in another
        order.

        given: potentials in canonical label order; factor_given[m]: which of them each factor has,
        -1 = unknown.
        """
        arguments = self.arguments if arguments is None else frozen(arguments)
        canonical = first_places(self.ranges.range_of)[self.variable_range]
        scopes = scopes_of(self.offsets, arguments)
        tables, factor_table = intern_tables(
            given, factor_given, [(rows, canonical[matrix]) for rows, matrix in scopes], self.ranges
        )
        return replace(self, tables=tables, factor_table=frozen(factor_table), arguments=arguments)

    def with_individual(self, name: str, like: str) -> FactorGraph:
        """The graph with a new individual: another one's variables and scopes copied, their tables
        unknown.

        Variables that do not list the other individual stay shared. In names, the other's name is
        replaced by the new one's, or the new one's is added where it does not occur.

        >>> graph = FactorGraph.build().variable("Epid").variable("Sick.bob", individual="bob")
        >>> graph = graph.factor("f.bob", ["Sick.bob", "Epid"], [4, 1, 1, 3]).graph().with_individual("eve", like="bob")
        >>> graph.factor("f.eve")
        Factor(name='f.eve', arguments=('Sick.eve', 'Epid'), table=None)
        """
        other = Names("individual", self.individuals).number(like)
        if text("an individual", name) in self.individuals:
            raise ModelError(
                f"individual '{name}' is in the model already; give the new one another name"
            )
        listing = np.repeat(np.arange(len(self.variable_names)), np.diff(self.individual_offsets))
        copied = np.unique(listing[self.individual_ids == other])
        new = np.arange(len(self.variable_names))
        new[copied] = len(new) + np.arange(len(copied))
        owner = np.repeat(np.arange(len(self.factor_names)), np.diff(self.offsets))
        factors = np.unique(owner[new[self.arguments] != self.arguments])
        owners, owner_offsets = taken_lists(self.individual_offsets, self.individual_ids, copied)
        scopes, scope_offsets = taken_lists(self.offsets, self.arguments, factors)
        return replace(
            self,
            variable_names=renamed(self.variable_names, copied, like, name),
            variable_declared=extended(self.variable_declared, self.variable_declared[copied]),
            variable_kind=extended(self.variable_kind, self.variable_kind[copied]),
            individuals=(*self.individuals, name),
            individual_offsets=extended(self.individual_offsets, owner_offsets),
            individual_ids=extended(
                self.individual_ids, np.where(owners == other, len(self.individuals), owners)
            ),
            factor_names=renamed(self.factor_names, factors, like, name),
            factor_table=extended(self.factor_table, np.full(len(factors), -1)),
            offsets=extended(self.offsets, scope_offsets),
            arguments=extended(self.arguments, new[scopes]),
        )

    # ---- what people ask for

    @property
    def variables(self) -> View[Variable]:
        """The variables as people see them."""
        return View(len(self.variable_names), self._variable)

    @property
    def factors(self) -> View[Factor]:
        """The factors as people see them."""
        return View(len(self.factor_names), self._factor)

    def variable(self, name: str) -> Variable:
        """Return the variable with this name."""
        return self._variable(self.variable_names.number(name))

    def factor(self, name: str) -> Factor:
        """Return the factor with this name."""
        return self._factor(self.factor_names.number(name))

    def _variable(self, number: int) -> Variable:
        kind = int(self.variable_kind[number])
        owners = self.individual_ids[
            self.individual_offsets[number] : self.individual_offsets[number + 1]
        ]
        return Variable(
            self.variable_names[number],
            self.labels(number),
            self.kinds[kind] if kind >= 0 else None,
            tuple(self.individuals[owner] for owner in owners),
        )

    def _factor(self, number: int) -> Factor:
        scope = self.scope(number)
        table = self.table(number)
        if table is not None:
            orders = [
                self.ranges.to_declared(int(self.variable_declared[variable])) for variable in scope
            ]
            table = table[np.ix_(*orders)] if orders else table
        return Factor(
            self.factor_names[number],
            tuple(self.variable_names[variable] for variable in scope),
            table,
        )

    def declared_order(self, variable: int) -> Ints:
        """For each label of a variable, as declared, its canonical value."""
        return self.ranges.to_declared(int(self.variable_declared[variable]))

    def labels(self, variable: int) -> Labels:
        """Return the labels of a variable in its declared order."""
        return self.ranges.declared[self.variable_declared[variable]]

    def evidence(self, evidence: EvidenceLike) -> Evidence:
        """Observations by name as numbers; a missing variable or label is an error.

        >>> FactorGraph.build().variable("A").graph().evidence({"A": "true"}).values.tolist()
        [1]
        """
        if isinstance(evidence, Observations):
            evidence = evidence.bound
        if isinstance(evidence, Evidence):
            return evidence.bound_to(self.bearers)
        bearers = self.bearers
        return replace(
            bind_evidence(by_name(evidence), bearers.names, bearers.labels_and_values), of=bearers
        )

    @cached_property
    def bearers(self) -> Bearers:
        """The variables as evidence knows them."""
        return Bearers(self.variable_names, self.ranges, self.variable_declared)

    def observations(self, evidence: EvidenceLike) -> Observations:
        """The same by name, bound once for all.

        >>> dict(FactorGraph.build().variable("A").graph().observations({"A": "true"}))
        {'A': 'true'}
        """
        return Observations(self.evidence(evidence), self.bearers)

    def layered(self, layers: Sequence[Mapping[str, Observation]]) -> Mapping[str, Observation]:
        """Several layers of evidence as one: what a later one observes, an earlier one no longer
        does.

        >>> FactorGraph.build().variable("A").graph().layered([{"A": "true"}, {"A": "false"}])
        {'A': 'false'}
        """
        if not any(isinstance(layer, Observations) for layer in layers):
            return {name: observed for layer in layers for name, observed in layer.items()}
        return self.observations(
            reduce(Evidence.overridden, map(self.evidence, layers), Evidence())
        )

    # ---- what algorithms ask for

    def once(self, make: Callable[[FactorGraph], _Made]) -> _Made:
        """What a function makes of this graph alone: made when it is first asked for, and kept with
        the graph.
        """
        if make not in self._made:
            self._made[make] = make(self)
        made: _Made = self._made[make]
        return made

    @cached_property
    def _made(self) -> dict[Callable[[FactorGraph], Any], Any]:
        return {}

    def scope(self, factor: int) -> list[int]:
        """Return the arguments of a factor as variable numbers, in order."""
        scope: list[int] = self.arguments[self.offsets[factor] : self.offsets[factor + 1]].tolist()
        return scope

    def table(self, factor: int) -> Floats | None:
        """Return the table of a factor, one axis per argument in canonical label order; None if
        unknown.
        """
        number = int(self.factor_table[factor])
        return self.tables[number] if number >= 0 else None

    @cached_property
    def variable_range(self) -> Ints:
        """Range number of each variable."""
        # each range has one order: the same numbers
        if len(self.ranges.canonical) == len(self.ranges.declared):
            return self.variable_declared
        return frozen(self.ranges.range_of[self.variable_declared])

    @cached_property
    def sizes(self) -> Ints:
        """Range size of each variable."""
        return frozen(self.ranges.sizes[self.variable_range])

    @cached_property
    def degrees(self) -> Ints:
        """Number of factors each variable is in, unknown ones included."""
        return frozen(np.bincount(self.arguments, minlength=len(self.variable_names)))

    @cached_property
    def unknown(self) -> Ints:
        """The factors without a table, ascending."""
        return frozen(np.flatnonzero(self.factor_table < 0))

    @cached_property
    def scopes(self) -> list[tuple[Ints, Ints]]:
        """Per arity, ascending: the factors of that arity, and the factors × arity matrix of their
        arguments.
        """
        return scopes_of(self.offsets, self.arguments)

    # ---- comparing and showing

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FactorGraph):
            return NotImplemented
        return all(
            _same(getattr(self, field.name), getattr(other, field.name)) for field in fields(self)
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def summary(self) -> str:
        """What there is, counted, in words."""
        unknown = f" ({len(self.unknown)} unknown)" if len(self.unknown) else ""
        variables, factors, tables = (
            len(self.variable_names),
            len(self.factor_names),
            len(self.tables),
        )
        counts = (
            counted(variables, "variable"),
            counted(factors, "factor"),
            counted(tables, "distinct table"),
        )
        return f"{counts[0]}, {counts[1]}{unknown}, {counts[2]}"

    def __repr__(self) -> str:
        return f"<FactorGraph: {self.summary}>"


@dataclass(frozen=True, eq=False)
class Colouring(Frozen, Shown):
    """Which variables and which factors look alike: dense colours, numbered by first occurrence in
    input order.
    """

    variable_colours: Ints
    factor_colours: Ints

    def __post_init__(self) -> None:
        for name in ("variable_colours", "factor_colours"):
            object.__setattr__(self, name, frozen(as_ids(getattr(self, name), name)))

    @cached_property
    def variable_groups(self) -> list[Ints]:
        """Variables of equal colour, each group in input order, groups by first member."""
        return members(self.variable_colours)

    @cached_property
    def factor_groups(self) -> list[Ints]:
        """Factors of equal colour, each group in input order, groups by first member."""
        return members(self.factor_colours)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Colouring):
            return NotImplemented
        return np.array_equal(self.variable_colours, other.variable_colours) and np.array_equal(
            self.factor_colours, other.factor_colours
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        variables, factors = len(self.variable_groups), len(self.factor_groups)
        return f"<Colouring: {counted(variables, 'variable group')}, {counted(factors, 'factor group')}>"


def check_colouring(colouring: Any, graph: FactorGraph) -> None:
    """The colouring must be one of this graph."""
    if not isinstance(colouring, Colouring):
        raise ModelError(
            f"colouring is a Colouring, as `colour` finds it, not {type(colouring).__name__}"
        )
    sizes = len(colouring.variable_colours), len(colouring.factor_colours)
    if sizes != (len(graph.variable_names), len(graph.factor_names)):
        raise ModelError("the colouring is one of another graph; give one of this graph, or none")


def _same(mine: Any, theirs: Any) -> bool:
    return np.array_equal(mine, theirs) if isinstance(mine, np.ndarray) else bool(mine == theirs)
