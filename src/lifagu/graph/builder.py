"""A builder for people: variables by name, nested lists, mistakes reported where they are made."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from lifagu.basics.arrays import Floats
from lifagu.basics.inputs import items, shown, text
from lifagu.errors import ModelError, did_you_mean
from lifagu.graph.ranges import BOOLEAN, LONG, Labels, check_labels
from lifagu.graph.tables import as_floats, not_numbers, potential_fault
from lifagu.graph.validation import repeated_argument_error, table_size_error

if TYPE_CHECKING:
    from lifagu.graph.supports import Supports
    from lifagu.graph.table_support import TableSupport

_Graph = TypeVar("_Graph")
_Given = TypeVar("_Given")
TableLike = str | Sequence[Any] | np.ndarray[Any, Any] | None


class GraphBuilder(Generic[_Graph]):
    """Collects variables and factors; `graph` freezes them. Every other method returns itself.

    Parameters
    ----------
    finish : callable
        Makes the graph of what was collected, as `FactorGraph.from_arrays` does.

    Examples
    --------
    >>> from lifagu import FactorGraph
    >>> graph = (
    ...     FactorGraph.build()
    ...     .variable("Epid")
    ...     .variables(["Sick.alice", "Sick.bob"], kind="Sick")
    ...     .table("phi", [[3, 1], [1, 2]])
    ...     .factors({"f.alice": ["Sick.alice", "Epid"], "f.bob": ["Sick.bob", "Epid"]}, "phi")
    ...     .graph()
    ... )
    """

    def __init__(self, finish: Callable[..., _Graph]) -> None:
        self._finish = finish
        self._named_ranges: dict[str, Labels] = {}
        self._named_tables: dict[str, int] = {}
        self._ranges: dict[Labels, int] = {}
        self._long_ranges: dict[int, tuple[Labels, int]] = {}  # by identity, which is kept
        self._tables: list[Floats] = []
        self._variables: dict[str, int] = {}
        self._variable_ranges: list[int] = []
        self._variable_sizes: list[int] = []
        self._kinds: dict[str, int] = {}
        self._variable_kinds: list[int] = []
        self._individuals: dict[str, int] = {}
        self._individual_offsets: list[int] = [0]
        self._variable_individuals: list[int] = []
        self._factors: dict[str, None] = {}
        self._factor_tables: list[int] = []
        self._supports: dict[int, TableSupport] = {}
        self._offsets: list[int] = [0]
        self._arguments: list[int] = []

    def range(self, name: str, labels: Iterable[str]) -> GraphBuilder[_Graph]:
        """Name a range, for use by its name in `variable`.

        Parameters
        ----------
        name : str
            Its name.
        labels : iterable of str
            Its labels, in order.

        Returns
        -------
        GraphBuilder
        """
        refuse_again("range", name, self._named_ranges)
        self._named_ranges[name] = check_labels(labels, f"range '{name}'")
        return self

    def table(
        self, name: str, potentials: Sequence[Any] | np.ndarray[Any, Any]
    ) -> GraphBuilder[_Graph]:
        """Name a table, for use by its name in `factor`.

        Parameters
        ----------
        name : str
            Its name.
        potentials : array_like
            Numbers, 0 or more, nested or flat.

        Returns
        -------
        GraphBuilder
        """
        refuse_again("table", name, self._named_tables)
        self._named_tables[name] = self._add_table(potentials, f"table '{name}'")
        return self

    def variable(
        self,
        name: str,
        range: str | Iterable[str] = BOOLEAN,
        *,
        kind: str | None = None,
        individual: str | Iterable[str] = (),
    ) -> GraphBuilder[_Graph]:
        """Add a variable.

        Parameters
        ----------
        name : str
            Its name.
        range : iterable of str, or str
            Its labels, or the name of a range; Boolean if not given.
        kind : str, optional
            What kind of variable it is; those of one kind play the same role.
        individual : str or iterable of str
            Whom it is about.

        Returns
        -------
        GraphBuilder

        Examples
        --------
        >>> from lifagu import FactorGraph
        >>> builder = FactorGraph.build().range("degree", ["low", "high"])
        >>> builder.variable("Fever", "degree", individual="eve").graph().variable("Fever").range
        ('low', 'high')
        """
        refuse_again("variable", name, self._variables)
        labels = self._labels(name, range)
        individuals = individuals_of(f"'{name}'", individual)
        if kind is not None:
            text(f"the kind of '{name}'", kind)
        self._variables[name] = len(self._variables)
        self._variable_ranges.append(self._range_number(labels))
        self._variable_sizes.append(len(labels))
        self._variable_kinds.append(
            -1 if kind is None else self._kinds.setdefault(kind, len(self._kinds))
        )
        for each in individuals:
            self._variable_individuals.append(
                self._individuals.setdefault(each, len(self._individuals))
            )
        self._individual_offsets.append(len(self._variable_individuals))
        return self

    def variables(
        self,
        names: Iterable[str],
        range: str | Iterable[str] = BOOLEAN,
        *,
        kind: str | None = None,
        individual: str | Iterable[str] = (),
    ) -> GraphBuilder[_Graph]:
        """Add several variables that share a range (and kind and individuals, where given).

        Parameters
        ----------
        names : iterable of str
            Their names.
        range : iterable of str, or str
            Their labels, or the name of a range; Boolean if not given.
        kind : str, optional
            Their kind.
        individual : str or iterable of str
            Whom they are about.

        Returns
        -------
        GraphBuilder
        """
        if isinstance(names, str):
            raise ModelError(
                f"variables takes a list of names; for the single variable '{names}' use variable"
            )
        labels = range if isinstance(range, str) else check_labels(range, "the variables")
        if not isinstance(individual, str):
            individual = individuals_of("the variables", individual)
        for name in items("variables takes a list of names", names):
            self.variable(name, labels, kind=kind, individual=individual)
        return self

    def factor(
        self,
        name: str,
        arguments: Iterable[str],
        table: TableLike,
        *,
        support: Any = None,
        given: str | Iterable[str] | None = None,
        prior: Any = None,
    ) -> GraphBuilder[_Graph]:
        """Add a factor.

        Parameters
        ----------
        name : str
            Its name.
        arguments : iterable of str
            The names of its variables, each once.
        table : array_like, str or None
            Potentials, row-major over the arguments as listed, the last one fastest; the name of a
            table; or None if unknown.
        support : float or array_like, optional
            How many records stand behind the table, in all or for each combination of the given
            arguments; without it the table is exact. It says nothing beside an unknown table.
        given : str or iterable of str, optional
            The arguments that the table is conditional on. If missing, beside several numbers, the
            table tells: those for whose combinations it sums to the same.
        prior : float or array_like, optional
            What was added to every count, one number or one for each potential.

        Returns
        -------
        GraphBuilder

        Raises
        ------
        ModelError
            If an argument is no variable of the model, or table or support do not fit them.

        Examples
        --------
        >>> from lifagu import FactorGraph
        >>> builder = FactorGraph.build().variables(["A", "B"])
        >>> builder.factor("f", ["A", "B"], [[1, 2], [3, 4]]).factor("g", ["A"], None).graph()
        <FactorGraph: 2 variables, 2 factors (1 unknown), 1 distinct table>
        >>> builder.factor("h", ["A", "B"], [0.9, 0.1, 0.5, 0.5], support=[20, 4], prior=1)
        ...     # doctest: +ELLIPSIS
        <lifagu.graph.builder.GraphBuilder ...>
        >>> builder.graph().factor("h").support
        TableSupport(records=(20.0, 4.0), given=(0,), prior=(1.0,))
        """
        refuse_again("factor", name, self._factors)
        arguments = arguments_of(name, arguments)
        scope = [self._argument(name, argument) for argument in arguments]
        for argument in arguments if len(set(scope)) < len(scope) else ():
            if arguments.count(argument) > 1:
                raise repeated_argument_error(name, argument)
        number = self._table(name, table)
        shape = [self._variable_sizes[variable] for variable in scope]
        span = math.prod(shape)
        if number >= 0 and len(self._tables[number]) != span:
            raise table_size_error(name, len(self._tables[number]), arguments, span)
        if not (support is given is prior is None):
            self._add_support(f"factor '{name}'", arguments, number, shape, (support, given, prior))
        self._factors[name] = None
        self._factor_tables.append(number)
        self._arguments.extend(scope)
        self._offsets.append(len(self._arguments))
        return self

    def factors(
        self, scopes: Mapping[str, Iterable[str]], table: TableLike
    ) -> GraphBuilder[_Graph]:
        """Add several factors that share one table, or are all unknown.

        Parameters
        ----------
        scopes : mapping
            The arguments of each factor, by its name.
        table : array_like, str or None
            As in `factor`.

        Returns
        -------
        GraphBuilder
        """
        if not isinstance(scopes, Mapping):
            raise ModelError(f"factors takes a mapping from name to arguments, not {shown(scopes)}")
        if table is not None and not isinstance(table, str):
            self._named_tables[""] = self._add_table(table, "the table")
            table = ""
        for name, arguments in scopes.items():
            self.factor(name, arguments, table)
        return self

    def graph(self) -> _Graph:
        """Freeze what was collected into a graph.

        Returns
        -------
        FactorGraph
        """
        return self._finish(
            ranges=list(self._ranges),
            variable_ranges=self._variable_ranges,
            offsets=self._offsets,
            arguments=self._arguments,
            tables=self._tables,
            factor_tables=self._factor_tables,
            variable_names=list(self._variables),
            factor_names=list(self._factors),
            kinds=list(self._kinds),
            variable_kinds=self._variable_kinds,
            individuals=list(self._individuals),
            individual_offsets=self._individual_offsets,
            variable_individuals=self._variable_individuals,
            support=self._support(),
        )

    def _add_support(
        self, owner: str, arguments: list[Any], table: int, shape: list[int], said: tuple[Any, ...]
    ) -> None:
        """Take note of what stands behind the table of the next factor."""
        from lifagu.graph.given_supports import fitting, given_positions, support_of

        support, given, prior = said
        found = support_of(owner, support, given_positions(owner, arguments, given), prior)
        if found is not None and table >= 0:
            fits = fitting(owner, found, self._tables[table], shape)
            self._supports[len(self._factors)] = fits

    def _support(self) -> Supports | None:
        if not self._supports:
            return None
        from lifagu.graph.supports import Supports

        return Supports.of([self._supports.get(place) for place, _ in enumerate(self._factors)])

    def _labels(self, variable: str, given: str | Iterable[str]) -> Labels:
        if isinstance(given, tuple) and (self._is_known(given) or given in self._ranges):
            return given
        if not isinstance(given, str):
            return check_labels(given, f"variable '{variable}'")
        return declared("range", given, self._named_ranges, f"variable '{variable}'")

    def _is_known(self, labels: Labels) -> bool:
        return id(labels) in self._long_ranges

    def _range_number(self, labels: Labels) -> int:
        """The number of a range; a long one is compared with others once, and kept."""
        if not self._is_known(labels):
            number = self._ranges.setdefault(labels, len(self._ranges))
            if len(labels) <= LONG:
                return number
            self._long_ranges[id(labels)] = labels, number
        return self._long_ranges[id(labels)][1]

    def _argument(self, factor: str, variable: str) -> int:
        number = self._variables.get(variable) if isinstance(variable, str) else None
        if number is None:
            raise ModelError(
                f"factor '{factor}' has the argument '{variable}', which is not a variable of the "
                f"model{did_you_mean(str(variable), self._variables)}"
            )
        return number

    def _table(self, factor: str, table: TableLike) -> int:
        if table is None:
            return -1
        if not isinstance(table, str):
            return self._add_table(table, f"factor '{factor}'")
        return declared("table", table, self._named_tables, f"factor '{factor}'")

    def _add_table(self, potentials: Sequence[Any] | np.ndarray[Any, Any], owner: str) -> int:
        values = as_floats(potentials)
        if values is None:
            raise not_numbers(owner)
        if fault := potential_fault(values):
            raise ModelError(f"{owner} has {fault}")
        self._tables.append(values)
        return len(self._tables) - 1


def refuse_again(what: str, name: str, known: Collection[str]) -> None:
    """A name must be a text that is not taken yet."""
    if text(f"a {what}", name) in known:
        raise ModelError(f"{what} '{name}' is declared twice; give each {what} a name of its own")


def declared(what: str, name: str, known: Mapping[str, _Given], owner: str) -> _Given:
    """What was declared by this name; a missing one is an error that suggests a close one."""
    if name not in known:
        close = did_you_mean(name, known)
        raise ModelError(f"{owner} has the {what} '{name}', which is not declared{close}")
    return known[name]


def individuals_of(variable: str, given: str | Iterable[str]) -> tuple[str, ...]:
    """The individuals of a variable, given as one name or several."""
    expected = f"the individuals of {variable} are names in a list"
    names = [given] if isinstance(given, str) else items(expected, given)
    return tuple(text(f"an individual of {variable}", name) for name in names)


def arguments_of(factor: str, given: str | Iterable[Any]) -> list[Any]:
    """The arguments of a factor, given as one name or several."""
    expected = f"the arguments of '{factor}' are names in a list"
    return [given] if isinstance(given, str) else items(expected, given)
