"""The factor graph: frozen flat arrays inside, names at the edge, tables interned, None = unknown.

Every way in ends in `FactorGraph.from_arrays`: the builder for people, the readers for files, and
arrays for millions of factors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from lifagu.basics.arrays import Ints, as_ids, first_places, frozen
from lifagu.basics.cached import cached_property
from lifagu.basics.html import Shown
from lifagu.graph.assembly import (
    declared_ranges,
    given_factors,
    individual_lists,
    known_scopes,
    names_of,
    scopes_of,
    used_names,
)
from lifagu.graph.builder import GraphBuilder
from lifagu.graph.contents import Colouring as Colouring
from lifagu.graph.contents import GraphContents
from lifagu.graph.contents import check_colouring as check_colouring
from lifagu.graph.copies import with_copies
from lifagu.graph.evidence import (
    Evidence,
    EvidenceLike,
    NamedEvidence,
    Observation,
    bind_evidence,
    by_name,
)
from lifagu.graph.tables import GivenTables, intern_tables
from lifagu.graph.validation import check_offsets

if TYPE_CHECKING:
    from lifagu.graph.supports import Supports

_Made = TypeVar("_Made")


@dataclass(frozen=True, eq=False, repr=False)
class FactorGraph(GraphContents, Shown):
    """A factor graph with n variables, m factors and e arguments; all arrays are read-only.

    Make one with `FactorGraph.build` or `FactorGraph.from_arrays`, which check what they are given.

    Parameters
    ----------
    ranges : Ranges
        The label orders in which ranges were declared.
    variable_names : Names
        The names of the variables.
    variable_declared : ndarray of int, shape (n,)
        Which label order in `ranges.declared` each variable has.
    kinds : tuple of str
        The kinds of variables.
    variable_kind : ndarray of int, shape (n,)
        Number of each variable's kind in `kinds`, -1 without one.
    individuals : tuple of str
        The individuals.
    individual_offsets : ndarray of int, shape (n + 1,)
        Variable v lists ``individual_ids[individual_offsets[v]:individual_offsets[v+1]]``.
    individual_ids : ndarray of int
        Numbers of individuals.
    factor_names : Names
        The names of the factors.
    tables : Tables
        The distinct tables.
    factor_table : ndarray of int, shape (m,)
        Number of each factor's table in `tables`, -1 = unknown.
    offsets : ndarray of int, shape (m + 1,)
        Factor f has the arguments ``arguments[offsets[f]:offsets[f+1]]``, in order.
    arguments : ndarray of int, shape (e,)
        Numbers of variables.
    support : Supports, optional
        How many records stand behind each table; None where all are exact.

    Examples
    --------
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

    @staticmethod
    def build() -> GraphBuilder[FactorGraph]:
        """Start a graph by hand: ``.variables(…).factor(…).graph()``.

        Returns
        -------
        GraphBuilder
            Its methods add variables and factors; `graph` ends it.

        Examples
        --------
        >>> FactorGraph.build().variable("A").factor("f", "A", [1, 2]).graph()
        <FactorGraph: 1 variable, 1 factor, 1 distinct table>
        """
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
        support: Supports | Sequence[float] | np.ndarray[Any, Any] | None = None,
    ) -> FactorGraph:
        """A graph from flat arrays; no Python object per node, near-linear cost.

        Parameters
        ----------
        ranges : list of list of str
            The labels of each range.
        variable_ranges : array_like of int, shape (n,)
            Which range each variable has.
        offsets : array_like of int, shape (m + 1,)
            Factor f has the arguments ``arguments[offsets[f]:offsets[f+1]]``.
        arguments : array_like of int, shape (e,)
            Numbers of variables.
        tables : list of array_like, or array_like of shape (t, s)
            Potentials, row-major with the last argument fastest.
        factor_tables : array_like of int, shape (m,)
            Which table each factor has, -1 = unknown.
        variable_names : str or list of str
            Names, or a prefix from which they are made on demand.
        factor_names : str or list of str
            The same for factors.
        kinds : list of str
            Kinds of variables, optional background knowledge.
        variable_kinds : array_like of int, shape (n,), optional
            Which kind each variable has, -1 = none.
        individuals : list of str
            Individuals, optional background knowledge.
        individual_offsets : array_like of int, shape (n + 1,), optional
            Where the list of each variable begins in `variable_individuals`.
        variable_individuals : array_like of int, optional
            Numbers of individuals.
        support : Supports, or array_like of float, shape (m,), optional
            How many records stand behind each factor's table, nan if it is exact; as `Supports`
            also by combination of given arguments, in the orders of `ranges`.

        Returns
        -------
        FactorGraph

        Raises
        ------
        ModelError
            If the arrays do not fit together; the message says where.

        Examples
        --------
        >>> graph = FactorGraph.from_arrays(
        ...     ranges=[["false", "true"]], variable_ranges=[0, 0, 0],
        ...     offsets=[0, 2, 4], arguments=[0, 1, 2, 1],
        ...     tables=[[1, 2, 3, 4]], factor_tables=[0, -1],
        ... )
        >>> graph.factor("f1")
        Factor(name='f1', arguments=('x2', 'x1'), table=None, support=None)
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
        sizes = declared.sizes[declared.range_of[variable_declared]]
        given, scopes = given_factors(
            offsets, arguments, tables, factor_given, sizes, names, factors
        )
        if support is None:
            scopes = known_scopes(scopes, factor_given)
        orders = [(rows, variable_declared[matrix]) for rows, matrix in scopes]
        interned, factor_table = intern_tables(given, factor_given, orders, declared)
        kinds, variable_kind = used_names("kind", kinds, variable_kinds, count)
        lists = individual_lists(individuals, individual_offsets, variable_individuals, count)
        held = None
        if support is not None:
            from lifagu.graph.given_supports import checked_supports

            held = checked_supports(support, interned, factor_table, orders, declared, factors)
        flat = frozen(factor_table), frozen(offsets), frozen(arguments)
        variables = declared, names, frozen(variable_declared), kinds, frozen(variable_kind)
        return cls(*variables, *lists, factors, interned, *flat, held)

    def refilled(
        self, given: GivenTables, factor_given: Ints, arguments: Ints | None = None
    ) -> FactorGraph:
        """The same graph with other tables, and perhaps the arguments of factors in another order.

        A factor that had a table and still has one keeps its support.

        Parameters
        ----------
        given : GivenTables
            Potentials in canonical label order.
        factor_given : ndarray of int, shape (m,)
            Which of them each factor has, -1 = unknown.
        arguments : ndarray of int, shape (e,), optional
            The arguments, each factor's in another order.

        Returns
        -------
        FactorGraph
        """
        arguments = self.arguments if arguments is None else frozen(arguments)
        canonical = first_places(self.ranges.range_of)[self.variable_range]
        scopes = scopes_of(self.offsets, arguments)
        tables, factor_table = intern_tables(
            given, factor_given, [(rows, canonical[matrix]) for rows, matrix in scopes], self.ranges
        )
        return replace(
            self,
            tables=tables,
            factor_table=frozen(factor_table),
            arguments=arguments,
            support=self.support and self.support.following(self, factor_given, arguments),
        )

    def with_individual(self, name: str, like: str) -> FactorGraph:
        """The graph with a new individual: another's variables and factors copied, tables unknown.

        Variables that do not list the other individual stay shared. In names, the other's name is
        replaced by the new one's, or the new one's is added where it does not occur.

        Parameters
        ----------
        name : str
            The new individual.
        like : str
            The individual to copy.

        Returns
        -------
        FactorGraph

        Examples
        --------
        >>> graph = FactorGraph.build().variable("Epid").variable("Sick.bob", individual="bob")
        >>> graph = graph.factor("f.bob", ["Sick.bob", "Epid"], [4, 1, 1, 3]).graph()
        >>> graph.with_individual("eve", like="bob").factor("f.eve")
        Factor(name='f.eve', arguments=('Sick.eve', 'Epid'), table=None, support=None)
        """
        return with_copies(self, [(name, like)])[0]

    def evidence(self, evidence: EvidenceLike) -> Evidence:
        """Observations by name as numbers.

        Parameters
        ----------
        evidence : mapping, Evidence or None
            The label of each observed variable, or the likelihood of each of its labels.

        Returns
        -------
        Evidence

        Raises
        ------
        ModelError
            If the graph lacks a variable or a label.

        Examples
        --------
        >>> FactorGraph.build().variable("A").graph().evidence({"A": "true"}).values.tolist()
        [1]
        """
        if isinstance(evidence, NamedEvidence):
            evidence = evidence.bound
        bearers = self.bearers
        if isinstance(evidence, Evidence):
            return evidence.bound_to(bearers)
        bound = bind_evidence(by_name(evidence), bearers.names, bearers.labels_and_values)
        return replace(bound, of=bearers)

    def observations(self, evidence: EvidenceLike) -> NamedEvidence:
        """The same by name, bound once for all.

        Parameters
        ----------
        evidence : mapping, Evidence or None
            As in `evidence`.

        Returns
        -------
        NamedEvidence
            A mapping.

        Examples
        --------
        >>> dict(FactorGraph.build().variable("A").graph().observations({"A": "true"}))
        {'A': 'true'}
        """
        return NamedEvidence(self.evidence(evidence), self.bearers)

    def layered(self, layers: Sequence[Mapping[str, Observation]]) -> Mapping[str, Observation]:
        """Several layers of evidence as one.

        Parameters
        ----------
        layers : sequence of mapping
            Evidence by name; what a later layer observes, an earlier one no longer does.

        Returns
        -------
        mapping

        Examples
        --------
        >>> FactorGraph.build().variable("A").graph().layered([{"A": "true"}, {"A": "false"}])
        {'A': 'false'}
        """
        if not any(isinstance(layer, NamedEvidence) for layer in layers):
            return {name: observed for layer in layers for name, observed in layer.items()}
        return self.observations(
            reduce(Evidence.overridden, map(self.evidence, layers), Evidence())
        )

    def once(self, make: Callable[[FactorGraph], _Made]) -> _Made:
        """What a function makes of this graph alone, made on first use and kept with the graph.

        Parameters
        ----------
        make : callable
            A function of the graph.

        Returns
        -------
        object
            What it returns.
        """
        if make not in self._made:
            self._made[make] = make(self)
        made: _Made = self._made[make]
        return made

    @cached_property
    def _made(self) -> dict[Callable[[FactorGraph], Any], Any]:
        return {}

    def __repr__(self) -> str:
        return f"<FactorGraph: {self.summary}>"
