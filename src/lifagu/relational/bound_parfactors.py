"""Parfactors bound to a vocabulary: terms and constraints as numbers, axes with sizes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from lifagu.basics.arrays import Floats, Ints, frozen
from lifagu.errors import ModelError, did_you_mean
from lifagu.graph.given_supports import fitting
from lifagu.graph.table_support import TableSupport
from lifagu.graph.validation import table_size_error
from lifagu.relational.domains import ConstantRows, Domain
from lifagu.relational.parfactors import Parfactor, ParfactorError
from lifagu.relational.relations import Vocabulary
from lifagu.relational.terms import (
    Argument,
    Atom,
    Comparison,
    CountingFormula,
    Logical,
    Membership,
    logicals_of,
)


@dataclass(frozen=True, eq=False)
class BoundArgument:
    """One argument: the number of its relation (-1: of its variable) and a code for each term.

    A code c ≥ 0 is logical variable c, a code c < 0 the constant with the number ~c. counted: the
    logical variable that is counted, -1 if none. size: of its range; states: of its axis.
    """

    relation: int
    variable: int
    codes: tuple[int, ...]
    counted: int
    size: int
    states: int


@dataclass(frozen=True, eq=False)
class BoundParfactor:
    """A parfactor in numbers; logical variables are numbered, the free ones before the counted.

    domains: the domain of each logical variable; comparisons: (variable, code of the other side,
    equal); memberships: (variables, rows × variables matrix of constants, inside); support: of the
    table, with the arguments that are given; None if the table is exact or unknown.
    """

    name: str
    logicals: tuple[str, ...]
    free: int
    domains: tuple[Domain, ...]
    arguments: tuple[BoundArgument, ...]
    comparisons: tuple[tuple[int, int, bool], ...]
    memberships: tuple[tuple[tuple[int, ...], Ints, bool], ...]
    table: Floats | None
    support: TableSupport | None

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each axis of the table."""
        return tuple(argument.states for argument in self.arguments)

    def is_constrained(self, variable: int) -> bool:
        """Whether a constraint concerns this logical variable alone."""
        return any(left == variable and code < 0 for left, code, _ in self.comparisons) or any(
            variables == (variable,) for variables, _, _ in self.memberships
        )

    def candidates(self, variable: int) -> Ints:
        """The constants that the constraints on this logical variable alone admit, ascending."""
        chosen = np.arange(self.domains[variable].size)
        for left, code, equal in self.comparisons:
            if left == variable and code < 0:
                chosen = chosen[(chosen == ~code) == equal]
        for variables, rows, inside in self.memberships:
            if variables == (variable,):
                chosen = chosen[np.isin(chosen, rows[:, 0]) == inside]
        return chosen

    def partners(self, variable: int) -> tuple[int, ...]:
        """The logical variables that this one must differ from."""
        others: dict[int, None] = {}
        for left, code, _ in self.comparisons:
            if code >= 0 and variable in (left, code):
                others[code if left == variable else left] = None
        return tuple(others)


def bind(
    number: int,
    parfactor: Parfactor,
    words: Vocabulary,
    plain: Callable[[str], tuple[int, int] | None],
) -> BoundParfactor:
    """A parfactor in numbers; whatever does not fit is a `ParfactorError`.

    plain: the number and the range size of a variable that is not of a relation, None if there is
    none of that name.
    """
    part = partial(_part, number, parfactor.name)
    with part("args"):
        free, counted = logicals_of(parfactor.arguments)
    logicals = (*free, *counted)
    domains: dict[Logical, tuple[Domain, Atom]] = {}
    resolved = []
    for place, argument in enumerate(parfactor.arguments):
        with part("args", place):
            atom = argument.atom if isinstance(argument, CountingFormula) else argument
            resolved.append(_resolve(atom, words, plain, logicals, domains))
    comparisons, memberships = [], []
    for place, constraint in enumerate(parfactor.where):
        with part("where", place):
            if isinstance(constraint, Membership):
                memberships.append(_membership(constraint, logicals, domains))
            else:
                comparisons.append(_comparison(constraint, logicals, domains))
    bound = BoundParfactor(
        parfactor.name,
        tuple(map(str, logicals)),
        len(free),
        tuple(domains[logical][0] for logical in logicals),
        (),
        tuple(comparisons),
        tuple(memberships),
        parfactor.table,
        None if parfactor.table is None else parfactor.support,
    )
    with part("where"):
        _refuse_contradictions(bound)
    with part():
        return _with_arguments(bound, parfactor.arguments, resolved)


@contextmanager
def _part(number: int, name: str, *steps: str | int) -> Iterator[None]:
    """Say which part of which parfactor a mistake is in."""
    try:
        yield
    except ModelError as error:
        raise ParfactorError(number, name, steps, str(error)) from None


_Resolved = tuple[int, int, tuple[int, ...], int]


def _resolve(
    atom: Atom,
    words: Vocabulary,
    plain: Callable[[str], tuple[int, int] | None],
    logicals: Sequence[Logical],
    domains: dict[Logical, tuple[Domain, Atom]],
) -> _Resolved:
    """Relation, variable, codes and range size of an atom; its logicals get their domains."""
    variable = None if atom.terms else plain(atom.relation)
    if variable is not None:
        return -1, variable[0], (), variable[1]
    relation = words.relation_names.find(atom.relation)
    if relation is None:
        original = words.find(str(atom))
        if original is None:
            close = did_you_mean(atom.relation, words.relation_names)
            raise ModelError(f"there is no relation '{atom.relation}' in the model{close}")
        size = len(words.relations[original[0]].range)
        return original[0], -1, tuple(~each for each in original[1]), size
    if len(atom.terms) != len(words.domains_of[relation]):
        raise words.arity_error(relation, len(atom.terms))
    codes = []
    for term, number in zip(atom.terms, words.domains_of[relation], strict=True):
        domain = words.domains[number]
        if not isinstance(term, Logical):
            codes.append(~domain.number(term))
            continue
        other, where = domains.setdefault(term, (domain, atom))
        if other != domain:
            raise ModelError(
                f"{term} is of domain {other.name} in {where} and of domain {domain.name} "
                f"in {atom}; use two logical variables"
            )
        codes.append(logicals.index(term))
    return relation, -1, tuple(codes), len(words.relations[relation].range)


def _domain(logical: Logical, domains: dict[Logical, tuple[Domain, Atom]]) -> Domain:
    if logical not in domains:
        close = did_you_mean(str(logical), map(str, domains))
        raise ModelError(f"{logical} occurs in no argument, so its domain is unknown{close}")
    return domains[logical][0]


def _comparison(
    constraint: Comparison, logicals: Sequence[Logical], domains: dict[Logical, tuple[Domain, Atom]]
) -> tuple[int, int, bool]:
    left = _domain(constraint.left, domains)
    if not isinstance(constraint.right, Logical):
        return logicals.index(constraint.left), ~left.number(constraint.right), constraint.equal
    right = _domain(constraint.right, domains)
    if left != right:
        raise ModelError(
            f"'{constraint}' compares domain {left.name} with domain {right.name}; "
            "constants of different domains always differ, so leave it out"
        )
    return logicals.index(constraint.left), logicals.index(constraint.right), constraint.equal


def _membership(
    constraint: Membership, logicals: Sequence[Logical], domains: dict[Logical, tuple[Domain, Atom]]
) -> tuple[tuple[int, ...], Ints, bool]:
    of = tuple(_domain(each, domains) for each in constraint.variables)
    if constraint.inside and not len(constraint.rows) and all(domain.size for domain in of):
        raise ModelError(
            f"'{constraint}' admits nothing; list what it admits, or leave the parfactor out"
        )
    if isinstance(constraint.rows, ConstantRows) and constraint.rows.domains == of:
        matrix = constraint.rows.numbers
    else:
        rows = [
            [domain.number(each) for domain, each in zip(of, row, strict=True)]
            for row in constraint.rows
        ]
        matrix = np.array(rows, dtype=np.int64).reshape(len(rows), len(of))
    variables = tuple(logicals.index(each) for each in constraint.variables)
    return variables, frozen(np.unique(matrix, axis=0)), constraint.inside


def _refuse_contradictions(bound: BoundParfactor) -> None:
    """Constraints on one variable may exclude whole domains, but not contradict each other."""
    for variable, (name, domain) in enumerate(zip(bound.logicals, bound.domains, strict=True)):
        listed = [
            ({~code}, equal)
            for left, code, equal in bound.comparisons
            if left == variable and code < 0
        ]
        listed += [
            (set(rows[:, 0].tolist()), inside)
            for variables, rows, inside in bound.memberships
            if variables == (variable,)
        ]
        admitted = [constants for constants, inside in listed if inside]
        excluded = [constants for constants, inside in listed if not inside]
        if admitted and domain.size and not set.intersection(*admitted).difference(*excluded):
            raise ModelError(
                f"the constraints on {name} contradict each other; "
                "no constant satisfies all of them"
            )


def _with_arguments(
    bound: BoundParfactor, arguments: Sequence[Argument], resolved: Sequence[_Resolved]
) -> BoundParfactor:
    """Give each argument its axis, and check that the table fits."""
    axes = []
    for argument, (relation, variable, codes, size) in zip(arguments, resolved, strict=True):
        counted, states = -1, size
        if isinstance(argument, CountingFormula):
            counted = bound.logicals.index(argument.variable.name)
            states = math.comb(counted_members(bound, counted) + size - 1, size - 1)
        axes.append(BoundArgument(relation, variable, codes, counted, size, states))
    span = math.prod(axis.states for axis in axes)
    if bound.table is not None and len(bound.table) != span:
        raise table_size_error(bound.name, len(bound.table), list(map(str, arguments)), span)
    with_axes = replace(bound, arguments=tuple(axes))
    return replace(with_axes, support=_fitting_support(with_axes))


def _fitting_support(bound: BoundParfactor) -> TableSupport | None:
    """The support, which must fit the table; a parfactor that counts has a single number."""
    support, table = bound.support, bound.table
    if support is None or table is None:
        return None
    counts = any(argument.counted >= 0 for argument in bound.arguments)
    if counts and (len(support.records) > 1 or support.given or support.prior):
        raise ModelError(
            "support of a parfactor that counts is a single number, without given and prior"
        )
    return fitting("it", support, table, bound.shape)


def counted_members(bound: BoundParfactor, variable: int) -> int:
    """How many constants a counted variable takes, whatever the substitution of the others."""
    name = bound.logicals[variable]
    partners = bound.partners(variable)
    together = [variables for variables, _, _ in bound.memberships if len(variables) > 1]
    if any(variable in each for each in together) or any(each >= bound.free for each in partners):
        raise ModelError(
            f"{name} is counted; constrain it alone, or by {name} != Y where Y is not counted"
        )
    if not partners and not bound.is_constrained(variable):
        return bound.domains[variable].size  # which need not be listed
    apart = all(two in bound.partners(one) for one in partners for two in partners if one < two)
    mine = bound.candidates(variable)
    if not apart or any(len(np.setdiff1d(bound.candidates(each), mine)) for each in partners):
        raise ModelError(
            f"how many {name} are counted depends on the substitution of "
            f"{', '.join(bound.logicals[each] for each in partners)}; split the parfactor"
        )
    return len(mine) - len(partners)
