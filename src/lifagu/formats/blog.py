"""The parfactor part of BLOG (``.blog``), as tools for lifted inference read it: its meaning.

A table is a flat list, the first argument slowest. Boolean values come true before false, counted
Boolean arguments from all true down to none, and a range that is a type has one more, last, entry
for null, which must be 0 here. Milch et al., "BLOG: Probabilistic Models with Unknown Objects",
IJCAI 2005, and "Lifted Probabilistic Inference with Counting Formulas", AAAI 2008.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from lifagu.basics.arrays import Floats
from lifagu.basics.cached import cached_property
from lifagu.errors import ModelError, did_you_mean
from lifagu.formats.blog_statements import (
    Call,
    Declared,
    FactorArgument,
    FactorStatement,
    Statements,
    parse_statements,
)
from lifagu.formats.budget import Budget
from lifagu.formats.contents import Contents
from lifagu.formats.lexer import Token
from lifagu.graph.builder import GraphBuilder
from lifagu.graph.evidence import Observation
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.ranges import BOOLEAN, value_of
from lifagu.graph.tables import potential_fault
from lifagu.graph.validation import MOST_AXES
from lifagu.relational.bound_parfactors import bind
from lifagu.relational.builder import GroundArguments
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.relational.parfactors import Parfactor, ParfactorError
from lifagu.relational.relations import Domain, Relation, Vocabulary
from lifagu.relational.terms import (
    Argument,
    Atom,
    Comparison,
    CountingFormula,
    Logical,
    Term,
    logical_names,
)

_Axis = tuple[int, bool, bool]  # its size without null, whether it has null, whether it is counted


def parse_blog(text: str, place: str = "<text>") -> FactorGraph | ParfactorGraph:
    """The model in the text of a BLOG file; a factor graph where nothing in it is relational.

    Ground factors are named f1, f2, …, parfactors g1, g2, …, in the order of the file.

    >>> model = parse_blog('''
    ...     type Person; guaranteed Person alice, bob;
    ...     random Boolean Epid; random Boolean Sick(Person);
    ...     factor MultiArrayPotential[[0.6, 0.4]] (Epid);
    ...     parfactor Person X : X != bob. MultiArrayPotential[[8, 4, 2, 1]] (Sick(X), Epid);
    ... ''')
    >>> model
    <ParfactorGraph: 1 domain, 2 relations, 1 parfactor, 1 ground factor>
    >>> print(model.parfactors[0], model.parfactors[0].table)
    g1: Sick(X), Epid where X != bob [1. 2. 4. 8.]
    """
    return contents(text, place).model()


def contents(text: str, place: str, budget: Budget | None = None) -> Contents:
    """All that the text of a BLOG file says, parsed once.

    >>> found = contents("random Boolean Epid; obs Epid = true; query Epid;", "<text>")
    >>> found.evidence(), found.queries()
    ({'Epid': 'true'}, ['Epid'])
    """
    meaning = _BlogModel(parse_statements(text, place, budget))
    return Contents(meaning.model, meaning.evidence, meaning.queries)


class _BlogModel:
    """What the statements of a file mean; whatever does not fit is refused with its line."""

    def __init__(self, statements: Statements) -> None:
        self._statements, self._fail = statements, statements.lexer.fail
        self._tables: dict[tuple[str, tuple[_Axis, ...]], Floats] = {}

    def model(self) -> FactorGraph | ParfactorGraph:
        """The factor graph or relational model."""
        relations, builder = self.words.relations, FactorGraph.build()
        lifted = [each for each in self._statements.factors if each.is_lifted]
        plain = not lifted and not any(each.of for each in relations)
        for relation in relations if plain else ():
            builder.variable(relation.name, relation.range)
        arguments = GroundArguments(
            builder, self.words, {each.name for each in relations} if plain else set()
        )
        ground = [each for each in self._statements.factors if not each.is_lifted]
        for number, statement in enumerate(ground, 1):
            self._add_factor(statement, f"f{number}", builder, arguments)
        if plain:
            return builder.graph()
        parfactors = [
            self._parfactor(statement, f"g{number}") for number, statement in enumerate(lifted, 1)
        ]
        return ParfactorGraph(self.words.domains, relations, tuple(parfactors), builder.graph())

    def evidence(self) -> dict[str, Observation]:
        """What is observed, by ground name."""
        found: dict[str, Observation] = {}
        for call, value in self._statements.observations:
            relation = self._ground(call)
            with self._at(value):
                value_of(value.text, relation.range, call.text)
            if found.setdefault(call.text, value.text) != value.text:
                self._fail(f"{call.text} is observed twice, with different values", call.name)
        return found

    def queries(self) -> list[str]:
        """What is asked about, by ground name."""
        for call in self._statements.queries:
            self._ground(call)
        return [call.text for call in self._statements.queries]

    # ---- types, objects and random functions

    @cached_property
    def objects(self) -> dict[str, tuple[str, ...]]:
        """The objects of each type."""
        found: dict[str, list[str]] = {}
        for kind in self._statements.types:
            if kind.text in found or kind.text == "Boolean":
                self._fail(
                    f"type '{kind.text}' is declared twice; "
                    "Boolean is there without being declared",
                    kind,
                )
            found[kind.text] = []
        taken: set[str] = set()
        for kind, objects in self._statements.guaranteed:
            self._check_type(kind, found)
            for name, number in objects:
                names = [name.text]
                if number is not None:
                    names = [f"{name.text}{each}" for each in range(1, number + 1)]
                if not taken.isdisjoint(names):
                    twice = next(each for each in names if each in taken)
                    self._fail(
                        f"object '{twice}' is guaranteed twice; give each object a name of its own",
                        name,
                    )
                taken.update(names)
                found[kind.text] += names
        return {kind: tuple(names) for kind, names in found.items()}

    @cached_property
    def words(self) -> Vocabulary:
        """Types as domains, unless they are only ranges, and random functions as relations."""
        relations: dict[str, Relation] = {}
        for labels, name, types in self._statements.random:
            for kind in types:
                self._check_type(kind, self.objects)
            if labels.text != "Boolean":
                self._check_type(labels, self.objects)
            if name.text in relations:
                self._fail(
                    f"random function '{name.text}' is declared twice; give each a name of its own",
                    name,
                )
            with self._at(labels):
                of = tuple(kind.text for kind in types)
                relations[name.text] = Relation(
                    name.text, of, self.objects.get(labels.text, BOOLEAN)
                )
        ranges = {labels.text for labels, _, _ in self._statements.random}
        kept = [
            kind
            for kind in self.objects
            if kind not in ranges or any(kind in each.of for each in relations.values())
        ]
        return Vocabulary(
            tuple(Domain.of(kind, self.objects[kind]) for kind in kept), tuple(relations.values())
        )

    @cached_property
    def has_null(self) -> frozenset[str]:
        """The random functions whose range is a type."""
        return frozenset(
            name.text for labels, name, _ in self._statements.random if labels.text != "Boolean"
        )

    def _check_type(self, kind: Token, types: Mapping[str, object]) -> None:
        if kind.text not in types:
            self._fail(f"there is no type '{kind.text}'{did_you_mean(kind.text, types)}", kind)

    def _relation(self, call: Call) -> Relation:
        number = self.words.relation_names.find(call.name.text)
        if number is None:
            close = did_you_mean(call.name.text, self.words.relation_names)
            self._fail(f"there is no random function '{call.name.text}'{close}", call.name)
        return self.words.relations[number]

    def _ground(self, call: Call) -> Relation:
        """The relation of a ground variable, whose arguments must be objects of its types."""
        relation = self._relation(call)
        if (relation.of or call.terms) and self.words.find(call.text) is None:
            arity = self.words.arity_error(
                self.words.relation_names.number(relation.name), len(call.terms)
            )
            self._fail(self.words.why_not(call.text) or str(arity), call.name)
        return relation

    # ---- factors

    def _add_factor(
        self,
        statement: FactorStatement,
        name: str,
        builder: GraphBuilder[FactorGraph],
        arguments: GroundArguments,
    ) -> None:
        calls = [each.call for each in statement.arguments]
        table = self._table(statement, [len(self._ground(call).range) for call in calls])
        with self._at(statement.start):
            builder.factor(name, [arguments(call.text) for call in calls], table)

    def _parfactor(self, statement: FactorStatement, name: str) -> Parfactor:
        given = statement.arguments
        declared = [*statement.variables, *(each.counted for each in given if each.counted)]
        logicals = logical_names(each.name.text for each in declared)
        differences = [*statement.where, *(pair for each in given for pair in each.where)]
        tokens = [each.call.name for each in given]
        with self._at(statement.start, tokens, [left for left, _ in differences]):
            where = tuple(self._comparison(pair, logicals) for pair in differences)
            arguments = tuple(self._argument(each, logicals) for each in given)
            bound = bind(0, Parfactor(name, arguments, None, where), self.words, lambda _: None)
            domains = dict(zip(bound.logicals, bound.domains, strict=True))
            self._check_declared(declared, logicals, domains)
            table = self._table(statement, [axis.states for axis in bound.arguments])
            return Parfactor(name, arguments, table, where)

    def _argument(self, argument: FactorArgument, logicals: dict[str, Logical]) -> Argument:
        call, counted = argument.call, argument.counted
        self._relation(call)
        terms = tuple(logicals.get(each.text, each.text) for each in call.terms)
        atom = Atom(call.name.text, terms)
        return CountingFormula(logicals[counted.name.text], atom) if counted else atom

    def _comparison(self, pair: tuple[Token, Token], logicals: dict[str, Logical]) -> Comparison:
        left, right = pair
        one: Term = logicals.get(left.text, left.text)
        two: Term = logicals.get(right.text, right.text)
        if not isinstance(one, Logical):
            one, two = two, one
        if not isinstance(one, Logical):
            self._fail(
                f"'{left.text} != {right.text}' compares no logical variable of the parfactor", left
            )
        with self._at(left):
            return Comparison(one, two)

    def _check_declared(
        self, declared: Sequence[Declared], logicals: dict[str, Logical], domains: dict[str, Domain]
    ) -> None:
        """Every logical variable has its declared type, once, and stands in some argument."""
        seen: set[str] = set()
        for each in declared:
            name, domain = each.name.text, domains.get(logicals[each.name.text].name)
            if name in seen:
                self._fail(f"{name} is declared twice; use two logical variables", each.name)
            seen.add(name)
            self._check_type(each.type, self.objects)
            if domain is None:
                self._fail(f"{name} stands in no argument; leave it out", each.name)
            if domain.name != each.type.text:
                self._fail(
                    f"{name} is declared as {each.type.text}, but stands for {domain.name}",
                    each.name,
                )

    def _table(self, statement: FactorStatement, sizes: Sequence[int]) -> Floats:
        """The potentials as lifagu lists them: false before true, and without those for null."""
        axes = tuple(map(self._axis, statement.arguments, sizes))
        key = statement.table.text, axes
        if key not in self._tables:
            self._tables[key] = self._reordered(statement, axes)
        return self._tables[key]

    def _axis(self, argument: FactorArgument, size: int) -> _Axis:
        name, counted = argument.call.name, argument.counted is not None
        null = name.text in self.has_null
        if null and counted:
            self._fail(
                f"{name.text} is counted, but its range is a type; only Boolean ones are", name
            )
        return size, null, counted

    def _reordered(self, statement: FactorStatement, axes: Sequence[_Axis]) -> Floats:
        given, place = self._statements.tables[statement.table.text], statement.table
        shape = [size + null for size, null, _ in axes]
        if len(given) != math.prod(shape) or len(shape) > MOST_AXES:
            has_null = any(null for _, null, _ in axes)
            why = " (a range that is a type has one more, for null)" if has_null else ""
            self._fail(
                f"there are {len(given)} potentials, but the arguments span "
                f"{math.prod(shape)} states{why}",
                place,
            )
        chosen = [
            slice(size) if null or counted else slice(None, None, -1)
            for size, null, counted in axes
        ]
        table = given.reshape(shape)[tuple(chosen)].reshape(-1)
        if np.count_nonzero(table) < np.count_nonzero(given):
            self._fail("the table gives null a weight; write 0 there, null is no value here", place)
        if fault := potential_fault(table):
            self._fail(f"the table has {fault}", place)
        return table

    @contextmanager
    def _at(
        self, start: Token, arguments: Sequence[Token] = (), where: Sequence[Token] = ()
    ) -> Iterator[None]:
        """Say on which line a mistake is: its argument's or constraint's, where it is in one."""
        try:
            yield
        except ParfactorError as error:
            parts = {"args": arguments, "where": where}
            inside = len(error.steps) == 2
            token = parts[str(error.steps[0])][int(error.steps[1])] if inside else start
            self._fail(error.text, token)
        except ModelError as error:
            self._fail(str(error), start)
