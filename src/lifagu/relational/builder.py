"""A builder for relational models in words, with mistakes reported where they are made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from lifagu.basics.cached import cached_property
from lifagu.basics.inputs import items, text
from lifagu.errors import ModelError
from lifagu.graph.builder import GraphBuilder, TableLike, arguments_of, declared, refuse_again
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.ranges import BOOLEAN, Labels, check_labels
from lifagu.relational.bound_parfactors import bind
from lifagu.relational.parfactors import Parfactor
from lifagu.relational.parsing import parse_argument, parse_comparison, parse_term
from lifagu.relational.relations import Domain, Relation, Vocabulary
from lifagu.relational.terms import Argument, Atom, Constraint, Logical, Membership

_Model = TypeVar("_Model")
ConstraintLike = str | Constraint | Mapping[str, Any]


class RelationalBuilder(Generic[_Model]):
    """Collects domains, relations, parfactors and ground factors; `model` freezes them.

    Parameters
    ----------
    finish : callable
        Makes the model of what was collected, as `ParfactorGraph` does.

    Examples
    --------
    >>> from lifagu import ParfactorGraph
    >>> model = (
    ...     ParfactorGraph.build()
    ...     .domain("Person", 1_000_000)
    ...     .relation("Epid")
    ...     .relation("Sick", "Person")
    ...     .relation("Friends", "Person", "Person")
    ...     .parfactor("g1", ["Sick(X)", "Epid"], [[4, 1], [1, 3]], where="X != 7")
    ...     .parfactor("g2", ["Friends(X,Y)", "Sick(X)", "Sick(Y)"], [1] * 7 + [2], where="X != Y")
    ...     .factor("f7", ["Sick(7)", "Epid"], None)
    ...     .model()
    ... )
    >>> model
    <ParfactorGraph: 1 domain, 3 relations, 2 parfactors, 1 ground factor>
    """

    def __init__(self, finish: Callable[..., _Model]) -> None:
        self._finish = finish
        self._ranges: dict[str, Labels] = {}
        self._tables: dict[str, Any] = {}
        self._domains: dict[str, Domain] = {}
        self._relations: dict[str, Relation] = {}
        self._parfactors: dict[str, Parfactor] = {}
        self._part = FactorGraph.build()
        self._plain: dict[str, int] = {}
        self._known: set[str] = set()

    def domain(self, name: str, constants: int | Iterable[str | int]) -> RelationalBuilder[_Model]:
        """Add a domain.

        Parameters
        ----------
        name : str
            Its name.
        constants : int or iterable of str
            A number n for the constants 1…n, which are never listed, or the constants.

        Returns
        -------
        RelationalBuilder
        """
        refuse_again("domain", name, self._domains)
        self._domains[name] = domain_of(name, constants)
        return self._changed()

    def range(self, name: str, labels: Iterable[str]) -> RelationalBuilder[_Model]:
        """Name a range, for use by its name in `relation` and `variable`.

        Parameters
        ----------
        name : str
            Its name.
        labels : iterable of str
            Its labels, in order.

        Returns
        -------
        RelationalBuilder
        """
        self._part.range(name, labels := check_labels(labels, f"range '{name}'"))
        self._ranges[name] = labels
        return self

    def table(self, name: str, potentials: Sequence[Any]) -> RelationalBuilder[_Model]:
        """Name a table, for use by its name in `parfactor` and `factor`.

        Parameters
        ----------
        name : str
            Its name.
        potentials : array_like
            Numbers, 0 or more, nested or flat.

        Returns
        -------
        RelationalBuilder
        """
        self._part.table(name, potentials)
        self._tables[name] = potentials
        return self

    def relation(
        self,
        name: str,
        *of: str,
        range: str | Iterable[str] = BOOLEAN,
        names: Iterable[Sequence[str]] = (),
    ) -> RelationalBuilder[_Model]:
        """Add a relation over domains, or without any a variable like others.

        Parameters
        ----------
        name : str
            Its name.
        *of : str
            The names of its domains.
        range : iterable of str, or str
            Its labels, or the name of a range; Boolean if not given.
        names : iterable of sequence of str
            For some ground variables the constants and, last, the name to use instead.

        Returns
        -------
        RelationalBuilder
        """
        refuse_again("relation", name, self._relations)
        labels = self._labels(name, range)
        expected = f"names of relation '{name}' are lists of constants with a name at the end"
        rows = tuple(
            tuple(map(constant_of, items(expected, row))) for row in items(expected, names)
        )
        relation = Relation(name, of, labels, rows)
        Vocabulary(tuple(self._domains.values()), (relation,))
        self._relations[name] = relation
        return self._changed()

    def variable(
        self,
        name: str,
        range: str | Iterable[str] = BOOLEAN,
        *,
        kind: str | None = None,
        individual: str | Iterable[str] = (),
    ) -> RelationalBuilder[_Model]:
        """Add a plain variable, as in a factor graph.

        Parameters
        ----------
        name : str
            Its name.
        range : iterable of str, or str
            Its labels, or the name of a range; Boolean if not given.
        kind : str, optional
            What kind of variable it is.
        individual : str or iterable of str
            Whom it is about.

        Returns
        -------
        RelationalBuilder
        """
        refuse_relational(name, self._words)
        labels = range if isinstance(range, str) else check_labels(range, f"variable '{name}'")
        self._part.variable(name, labels, kind=kind, individual=individual)
        self._plain[name] = len(self._ranges[labels] if isinstance(labels, str) else labels)
        self._known.add(name)
        return self

    def parfactor(
        self,
        name: str,
        arguments: Iterable[str | Argument],
        table: TableLike,
        where: ConstraintLike | Iterable[ConstraintLike] = (),
        *,
        support: Any = None,
        given: Any = None,
        prior: Any = None,
    ) -> RelationalBuilder[_Model]:
        """Add a parfactor: a ground factor with this table for every admitted substitution.

        Parameters
        ----------
        name : str
            Its name.
        arguments : iterable of str
            ``Sick(X)``, ``Epid``, ``#X[Sick(X)]``.
        table : array_like, str or None
            Potentials, row-major with the last argument fastest; the name of a table; or None if
            unknown.
        where : str, mapping, or iterable of these
            ``X != Y``, ``X != eve``, ``X = eve``, or
            ``{"vars": ["X", "Y"], "in": [("eve", "bob")]}`` (or ``"not_in"``).
        support, given, prior : optional
            How many records stand behind the table, what it is conditional on, and what was added
            to every count, as for factors of a graph (`GraphBuilder.factor`).

        Returns
        -------
        RelationalBuilder
        """
        refuse_again("parfactor", name, self._parfactors)
        read = GroundArguments(self._part, self._words, self._known)
        listed = arguments_of(name, arguments)
        single = isinstance(where, str | Mapping | Constraint)
        expected = f"constraints of '{name}' are texts in a list"
        constraints = [where] if single else items(expected, where)
        parfactor = Parfactor.of(
            name,
            [read.argument(each) if isinstance(each, str) else each for each in listed],
            self._table(name, table),
            [constraint_of(each) for each in constraints],
            support=support,
            given=given,
            prior=prior,
        )
        bind(len(self._parfactors), parfactor, self._words, self._place)
        self._parfactors[name] = parfactor
        return self

    def factor(
        self,
        name: str,
        arguments: Iterable[str],
        table: TableLike,
        *,
        support: Any = None,
        given: Any = None,
        prior: Any = None,
    ) -> RelationalBuilder[_Model]:
        """Add a ground factor.

        Parameters
        ----------
        name : str
            Its name.
        arguments : iterable of str
            Plain variables, or ground variables such as ``Sick(eve)``.
        table : array_like, str or None
            As in `parfactor`.
        support, given, prior : optional
            As in `parfactor`.

        Returns
        -------
        RelationalBuilder
        """
        read = GroundArguments(self._part, self._words, self._known)
        listed = arguments_of(text("a factor", name), arguments)
        if given is not None:
            given = [read(each) for each in arguments_of(name, given)]
        read_arguments = [read(each) for each in listed]
        self._part.factor(name, read_arguments, table, support=support, given=given, prior=prior)
        return self

    def model(self) -> _Model:
        """Freeze what was collected into a model.

        Returns
        -------
        ParfactorGraph
        """
        return self._finish(
            tuple(self._domains.values()),
            tuple(self._relations.values()),
            tuple(self._parfactors.values()),
            self._part.graph(),
        )

    @cached_property
    def _words(self) -> Vocabulary:
        return Vocabulary(tuple(self._domains.values()), tuple(self._relations.values()))

    def _changed(self) -> RelationalBuilder[_Model]:
        """The vocabulary is made anew when it is asked for next."""
        self.__dict__.pop("_words", None)
        return self

    def _place(self, name: str) -> tuple[int, int] | None:
        return (0, self._plain[name]) if name in self._plain else None

    def _labels(self, relation: str, given: str | Iterable[str]) -> Labels:
        if not isinstance(given, str):
            return check_labels(given, f"relation '{relation}'")
        return declared("range", given, self._ranges, f"relation '{relation}'")

    def _table(self, parfactor: str, table: TableLike) -> Any:
        if not isinstance(table, str):
            return table
        return declared("table", table, self._tables, f"parfactor '{parfactor}'")


class GroundArguments:
    """Arguments by name; those of ground factors become variables of the ground part on demand.

    known: the names that are variables of the ground part already; it is kept up to date.
    """

    def __init__(
        self, builder: GraphBuilder[FactorGraph], words: Vocabulary, known: set[str]
    ) -> None:
        self._builder, self._words, self._known = builder, words, known

    def __call__(self, argument: str) -> str:
        """The name of the variable that an argument of a ground factor means."""
        if not isinstance(argument, str) or argument in self._known:
            return argument
        found = self._words.find(argument)
        if found is None:
            if remark := self._words.why_not(argument):
                raise ModelError(remark)
            return argument
        relation, numbers = found
        name = self._words.ground_name(relation, numbers)
        if name not in self._known:
            self._known.add(name)
            owners = map(self._words.individual, self._words.domains_of[relation], numbers)
            kind = self._words.relations[relation]
            individuals = list(dict.fromkeys(owners))
            self._builder.variable(name, kind.range, kind=kind.name, individual=individuals)
        return name

    def argument(self, text: str) -> Argument:
        """An argument of a parfactor; names of plain variables and original names stand as is."""
        words = self._words
        plain = text in self._known and words.find(text) is None
        original = text not in words.relation_names and words.is_original(text)
        return Atom(text) if plain or original else parse_argument(text)


def refuse_relational(name: str, words: Vocabulary) -> None:
    """A plain variable must not have the name of a relation's ground variable."""
    found = words.find(name) if isinstance(name, str) else None
    if found is not None:
        relation = words.relations[found[0]].name
        raise ModelError(
            f"variable '{name}' has the name of a ground variable of relation '{relation}'; "
            "leave it out"
        )


def domain_of(name: str, given: Any) -> Domain:
    """A domain from its size or from its constants.

    >>> domain_of("Floor", [1, 2, "roof"]).constants
    ('1', '2', 'roof')
    """
    if isinstance(given, Domain):
        return given
    if isinstance(given, int) and not isinstance(given, bool):
        return Domain.of(name, given)
    constants = items(f"domain '{name}' is given as a whole number or a list of constants", given)
    return Domain.of(name, [constant_of(each) for each in constants])


def constant_of(value: Any) -> str:
    """A constant as its text; numbers are read as their text."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ModelError(f"a constant is a text or a number, not {value!r}")
    return str(value)


def constraint_of(given: Any) -> Constraint:
    """A constraint from its text, or from an object with ``vars`` and ``in`` or ``not_in``.

    >>> print(constraint_of({"vars": ["X", "Y"], "in": [["eve", 1], ["bob", 2]]}))
    (X, Y) in 2 tuples
    """
    if isinstance(given, Constraint):
        return given
    if isinstance(given, str):
        return parse_comparison(given)
    if not isinstance(given, Mapping):
        raise ModelError(
            f'a constraint is a text as in "X != Y", or an object with vars and in, not {given!r}'
        )
    for key in given:
        if key not in ("vars", "in", "not_in", "comment"):
            raise ModelError(f"a constraint has no '{key}'; it has vars, and in or not_in")
    if "vars" not in given or ("in" in given) == ("not_in" in given):
        raise ModelError("a constraint with vars has either in or not_in")
    names = items("vars is a list of logical variables", given["vars"])
    variables = [parse_term(name) if isinstance(name, str) else "" for name in names]
    logicals = tuple(each for each in variables if isinstance(each, Logical))
    if len(logicals) < len(variables):
        raise ModelError(
            "vars holds something that is not a logical variable; "
            "those begin with an upper-case letter"
        )
    expected = "in and not_in are lists of lists of constants"
    rows = items(expected, given.get("in", given.get("not_in")))
    constants = tuple(tuple(map(constant_of, items(expected, row))) for row in rows)
    return Membership(logicals, constants, "in" in given)
