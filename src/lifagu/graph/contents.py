"""What a factor graph holds, in flat arrays, read by number and by name; colourings of it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from lifagu.basics.arrays import Floats, Ints, as_ids, frozen, members
from lifagu.basics.cached import cached_property
from lifagu.basics.frozen import Frozen
from lifagu.basics.html import Shown
from lifagu.basics.names import Names
from lifagu.basics.words import counted
from lifagu.errors import ModelError
from lifagu.graph.assembly import scopes_of
from lifagu.graph.evidence import Bearers
from lifagu.graph.ranges import Labels, Ranges
from lifagu.graph.tables import Tables
from lifagu.graph.views import Factor, Variable, View

if TYPE_CHECKING:
    from lifagu.graph.supports import Supports


@dataclass(frozen=True, eq=False, repr=False)
class GraphContents(Frozen):
    """What a factor graph holds; `FactorGraph` says what each field is."""

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
    support: Supports | None = None

    @property
    def variables(self) -> View[Variable]:
        """The variables as people see them, by number or by name."""
        return View(len(self.variable_names), self._variable, self.variable_names)

    @property
    def factors(self) -> View[Factor]:
        """The factors as people see them, by number or by name."""
        return View(len(self.factor_names), self._factor, self.factor_names)

    def variable(self, name: str) -> Variable:
        """The variable with this name.

        Parameters
        ----------
        name : str
            Its name; one that is not in the model is a `ModelError`.

        Returns
        -------
        Variable
        """
        return self._variable(self.variable_names.number(name))

    def factor(self, name: str) -> Factor:
        """The factor with this name.

        Parameters
        ----------
        name : str
            Its name; one that is not in the model is a `ModelError`.

        Returns
        -------
        Factor
        """
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
            table = table[np.ix_(*map(self.declared_order, scope))] if scope else table
        behind = self.declared_support
        return Factor(
            self.factor_names[number],
            tuple(self.variable_names[variable] for variable in scope),
            table,
            None if table is None or behind is None else behind[number],
        )

    @cached_property
    def declared_support(self) -> Supports | None:
        """The supports with the labels of arguments in their declared orders."""
        if self.support is None:
            return None
        orders = [(rows, self.variable_declared[matrix]) for rows, matrix in self.scopes]
        return self.support.in_label_orders(self.ranges, orders, canonical=False)

    def scope(self, factor: int) -> list[int]:
        """The arguments of a factor.

        Parameters
        ----------
        factor : int
            The number of the factor.

        Returns
        -------
        list of int
            The numbers of its variables, in order.
        """
        scope: list[int] = self.arguments[self.offsets[factor] : self.offsets[factor + 1]].tolist()
        return scope

    def table(self, factor: int) -> Floats | None:
        """The table of a factor as it is stored.

        Parameters
        ----------
        factor : int
            The number of the factor.

        Returns
        -------
        ndarray or None
            One axis per argument, labels in canonical order; None if unknown.
        """
        number = int(self.factor_table[factor])
        return self.tables[number] if number >= 0 else None

    def labels(self, variable: int) -> Labels:
        """The labels of a variable in its declared order.

        Parameters
        ----------
        variable : int
            The number of the variable.

        Returns
        -------
        tuple of str
        """
        return self.ranges.declared[self.variable_declared[variable]]

    def declared_order(self, variable: int) -> Ints:
        """The canonical values of a variable's labels.

        Parameters
        ----------
        variable : int
            The number of the variable.

        Returns
        -------
        ndarray of int
            For each label, as declared, its canonical value.
        """
        return self.ranges.to_declared(int(self.variable_declared[variable]))

    @cached_property
    def bearers(self) -> Bearers:
        """The variables as evidence knows them."""
        return Bearers(self.variable_names, self.ranges, self.variable_declared)

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
        """Per arity, ascending: the factors of that arity, and the matrix of their arguments."""
        return scopes_of(self.offsets, self.arguments)

    @property
    def summary(self) -> str:
        """What there is, counted, in words."""
        unknown = f" ({len(self.unknown)} unknown)" if len(self.unknown) else ""
        variables = counted(len(self.variable_names), "variable")
        factors = counted(len(self.factor_names), "factor")
        return f"{variables}, {factors}{unknown}, {counted(len(self.tables), 'distinct table')}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GraphContents):
            return NotImplemented
        return all(
            _same(getattr(self, field.name), getattr(other, field.name)) for field in fields(self)
        )

    __hash__ = None  # type: ignore[assignment]


def _same(mine: Any, theirs: Any) -> bool:
    return np.array_equal(mine, theirs) if isinstance(mine, np.ndarray) else bool(mine == theirs)


@dataclass(frozen=True, eq=False)
class Colouring(Frozen, Shown):
    """Which variables and which factors look alike: dense colours, numbered by first occurrence.

    Parameters
    ----------
    variable_colours : array_like of int, shape (n,)
        The colour of each variable.
    factor_colours : array_like of int, shape (m,)
        The colour of each factor.
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
        variables = counted(len(self.variable_groups), "variable group")
        return f"<Colouring: {variables}, {counted(len(self.factor_groups), 'factor group')}>"


def check_colouring(colouring: Any, graph: GraphContents) -> None:
    """The colouring must be one of this graph."""
    if not isinstance(colouring, Colouring):
        raise ModelError(
            f"colouring is a Colouring, as `colour` finds it, not {type(colouring).__name__}"
        )
    sizes = len(colouring.variable_colours), len(colouring.factor_colours)
    if sizes != (len(graph.variable_names), len(graph.factor_names)):
        raise ModelError("the colouring is one of another graph; give one of this graph, or none")
