"""Parfactors with inequalities alone, as in BLOG: equalities and listed tuples become constants."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np

from lifagu.basics.arrays import Floats
from lifagu.errors import FormatError
from lifagu.graph.tables import potential_fault
from lifagu.relational.bound_parfactors import BoundParfactor
from lifagu.relational.ground_tables import diagonal
from lifagu.relational.parfactors import Parfactor
from lifagu.relational.relations import Domain
from lifagu.relational.terms import (
    Argument,
    Atom,
    Comparison,
    CountingFormula,
    Logical,
    Membership,
    Term,
)

MOST_TUPLES = 1000  # listed tuples of one parfactor: each becomes a statement

Values = dict[Logical, str]


class PlainParfactor(NamedTuple):
    """A known parfactor with no constraints but inequalities."""

    name: str
    arguments: tuple[Argument, ...]
    table: Floats
    where: tuple[Comparison, ...]


def with_inequalities(
    parfactor: Parfactor, bound: BoundParfactor, table: Floats
) -> Iterator[PlainParfactor]:
    """Parfactors that together mean the same and have no constraints but inequalities.

    What ``X = eve`` or listed tuples determine is written into the arguments, one parfactor per
    tuple; arguments that then are the same become one, with the diagonal of the table. Refused
    where that would be too many.

    >>> from lifagu import ParfactorGraph
    >>> build = ParfactorGraph.build().domain("Person", ["eve", "bob", "al"])
    >>> where = ["X != Y", "Y != al", {"vars": ["X"], "in": [["eve"], ["bob"]]}]
    >>> build = build.relation("Likes", "Person", "Person")
    >>> model = build.parfactor("g", ["Likes(X,Y)"], [1, 2], where).model()
    >>> for each in with_inequalities(model.parfactors[0], model.bound[0], np.array([1.0, 2])):
    ...     print(*each.arguments, "where", *each.where)
    Likes(eve,Y) where Y != eve Y != al
    Likes(bob,Y) where Y != bob Y != al
    """
    domains = {
        Logical(name): domain for name, domain in zip(bound.logicals, bound.domains, strict=True)
    }
    counted = {Logical(name) for name in bound.logicals[bound.free :]}
    inequalities: list[Comparison] = []
    choices: list[Values] = [{}]
    for constraint in parfactor.where:
        if isinstance(constraint, Comparison) and not constraint.equal:
            inequalities.append(constraint)
            continue
        variables, rows = _rows(parfactor, constraint, domains)
        if isinstance(constraint, Membership) and not constraint.inside and len(variables) == 1:
            inequalities += [Comparison(variables[0], row[0]) for row in rows]
            continue
        if not counted.isdisjoint(variables):
            raise FormatError(
                f"{_owner(parfactor)} lists what it counts in '{constraint}', which BLOG cannot say"
            )
        listed = [dict(zip(variables, row, strict=True)) for row in rows]
        choices = _joined(parfactor, choices, listed)
    for values in choices:
        where = _substituted(inequalities, values)
        if where is not None:
            arguments = _arguments(parfactor.arguments, values)
            yield _collapsed(PlainParfactor(parfactor.name, arguments, table, where), bound)


def _owner(parfactor: Parfactor | PlainParfactor) -> str:
    return f"parfactor '{parfactor.name}'"


def _rows(
    parfactor: Parfactor, constraint: Comparison | Membership, domains: Mapping[Logical, Domain]
) -> tuple[tuple[Logical, ...], list[tuple[str, ...]]]:
    """The logical variables a constraint binds, and its tuples: admitted, or of one excluded."""
    if isinstance(constraint, Comparison):
        return (constraint.left,), [(str(constraint.right),)]
    rows = list(dict.fromkeys(constraint.rows))
    if not constraint.inside and len(constraint.variables) > 1:
        of = [domains[each] for each in constraint.variables]
        if math.prod(domain.size for domain in of) > MOST_TUPLES:
            raise _too_many(parfactor, f"'{constraint}' excludes tuples among")
        excluded = set(rows)
        rows = [
            row
            for row in product(*(map(domain.constant, range(domain.size)) for domain in of))
            if row not in excluded
        ]
    if len(rows) > MOST_TUPLES:
        raise _too_many(parfactor, f"'{constraint}' lists")
    return constraint.variables, rows


def _too_many(parfactor: Parfactor, what: str) -> FormatError:
    return FormatError(
        f"{_owner(parfactor)}: {what} more than {MOST_TUPLES} tuples; BLOG has no listed tuples, "
        "and each would become a statement; write .json"
    )


def _joined(parfactor: Parfactor, choices: list[Values], others: list[Values]) -> list[Values]:
    """All combinations that agree on what they share."""
    found = [
        {**one, **two}
        for one in choices
        for two in others
        if all(two.get(each, one[each]) == one[each] for each in one)
    ]
    if len(found) > MOST_TUPLES:
        raise _too_many(parfactor, "its constraints together list")
    return found


def _substituted(
    inequalities: Iterable[Comparison], values: Values
) -> tuple[Comparison, ...] | None:
    """The inequalities that are left to hold, each once; None if one of them does not hold."""
    left: dict[Comparison, None] = {}
    for each in inequalities:
        one, two = values.get(each.left, each.left), _value(each.right, values)
        if isinstance(one, Logical):
            left[Comparison(one, two)] = None
        elif isinstance(two, Logical):
            left[Comparison(two, one)] = None
        elif one == two:
            return None
    return tuple(left)


def _value(term: Term, values: Values) -> Term:
    return values.get(term, term) if isinstance(term, Logical) else term


def _arguments(arguments: Iterable[Argument], values: Values) -> tuple[Argument, ...]:
    def atom(given: Atom) -> Atom:
        return Atom(given.relation, tuple(_value(term, values) for term in given.terms))

    return tuple(
        replace(each, atom=atom(each.atom)) if isinstance(each, CountingFormula) else atom(each)
        for each in arguments
    )


def _collapsed(parfactor: PlainParfactor, bound: BoundParfactor) -> PlainParfactor:
    """Arguments that are the same become one."""
    arguments = parfactor.arguments
    first = [arguments.index(each) for each in arguments]
    if first == list(range(len(first))):
        return parfactor
    table = diagonal(parfactor.table, list(bound.shape), np.array(first))
    if fault := potential_fault(table):
        raise FormatError(f"{_owner(parfactor)} has {fault} where its arguments are the same")
    return parfactor._replace(arguments=tuple(dict.fromkeys(arguments)), table=table)
