"""PFL, the Prolog Factor Language of YAP and HORUS (``.pfl``).

A model is ``bayes`` and ``markov`` clauses over listed facts.

By its manual the first term of a clause is the most significant one: a table is row-major, the
first formula slowest, values in the order of the range. HORUS's indexers run the same way, and its
examples agree: complex.pfl with its twin complex.fg, and the textbook numbers of
burglary-alarm.pfl, the child before its parents. Ranges must be declared, as in
``smokes(X)::[t,f]``: by default t has come before f in some versions and after it in others.

Logical variables have no types in PFL. Places of predicates and formulas that a variable connects
share a domain, whose constants are those listed there. Gomes & Santos Costa, "Evaluating Inference
Algorithms for the Prolog Factor Language", ILP 2012.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from lifagu.basics.cached import cached_property
from lifagu.errors import ModelError, listed
from lifagu.formats.budget import Budget
from lifagu.formats.contents import Contents
from lifagu.formats.lexer import Token
from lifagu.formats.pfl_clauses import Clause, Clauses, Term, parse_clauses
from lifagu.formats.pfl_domains import Node, SharedDomains
from lifagu.formats.pfl_goals import (
    Conditions,
    Key,
    Predicates,
    conditions,
    is_constant,
    variables_of,
)
from lifagu.graph.evidence import Observation
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.ranges import Labels, check_labels, value_of
from lifagu.relational.builder import GroundArguments
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.relational.parfactors import Parfactor, ParfactorError, potentials
from lifagu.relational.relations import Domain, Relation, Vocabulary
from lifagu.relational.terms import (
    Atom,
    Comparison,
    Constraint,
    Logical,
    Membership,
    constant_text,
    logical_names,
)


def parse_pfl(text: str, place: str = "<text>") -> FactorGraph | ParfactorGraph:
    """The model in the text of a PFL file; a factor graph where no random variable has arguments.

    Ground factors are named f1, f2, …, parfactors g1, g2, …, in the order of the file.

    >>> model = parse_pfl('''
    ...     person @ 3.
    ...     markov smokes(X)::[t,f], ill(X)::[t,f] ; [4, 1, 2, 3] ; [person(X)].
    ... ''')
    >>> model
    <ParfactorGraph: 1 domain, 2 relations, 1 parfactor>
    >>> print(model.parfactors[0], model.domains[0].constants)
    g1: smokes(X), ill(X) ('p1', 'p2', 'p3')
    """
    return contents(text, place).model()


def contents(text: str, place: str, budget: Budget | None = None) -> Contents:
    """All that the text of a PFL file says, parsed once.

    Evidence are the facts for random variables, those with one more argument: the value.

    >>> text = "p(eve). markov smokes(X)::[t,f] ; [4, 1] ; [p(X)]. smokes(eve,t)."
    >>> contents(text, "<text>").evidence()
    {'smokes(eve)': 't'}
    """
    meaning = _Program(parse_clauses(text, place, budget))
    return Contents(meaning.model, meaning.evidence)


class _Program:
    """What the clauses of a file mean; whatever does not fit is refused with its line."""

    def __init__(self, clauses: Clauses) -> None:
        self._clauses, self._fail = clauses, clauses.lexer.fail
        self._predicates = Predicates(clauses)

    def model(self) -> FactorGraph | ParfactorGraph:
        """The factor graph or relational model."""
        builder = FactorGraph.build()
        plain = not any(arity for _, arity in self.functions)
        for name, _ in self.functions if plain else ():
            builder.variable(name, self.ranges[name])
        arguments = GroundArguments(
            builder, self.words, {name for name, _ in self.functions} if plain else set()
        )
        parfactors: list[Parfactor] = []
        lifted = [clause for clause in self._clauses.parfactors if variables_of(clause.formulas)]
        for number, clause in enumerate(self._clauses.parfactors):
            with self._at(clause.start, [clause]):
                if variables_of(clause.formulas):
                    parfactors.append(self._parfactor(number, f"g{len(parfactors) + 1}"))
                else:
                    formulas = clause.formulas
                    names = [
                        arguments(_ground_name(each.text, each.arguments)) for each in formulas
                    ]
                    builder.factor(f"f{number - len(parfactors) + 1}", names, self._table(clause))
        if plain:
            return builder.graph()
        with self._at(lifted[0].start if lifted else None, lifted):
            return ParfactorGraph(
                self.words.domains, self.words.relations, tuple(parfactors), builder.graph()
            )

    def evidence(self) -> dict[str, Observation]:
        """What is observed, by ground name."""
        found: dict[str, Observation] = {}
        for fact in self._clauses.facts:
            if fact.key in self.functions:
                self._fail(
                    f"{fact.text} is a random variable; observe its value, as one more argument",
                    fact.token,
                )
            first = self.functions.get((fact.text, len(fact.arguments) - 1))
            if first is None:
                continue
            if first.start > fact.token.start:
                self._fail(
                    f"this observation stands before the first parfactor with {fact.text}; "
                    "move it behind",
                    fact.token,
                )
            if not all(map(is_constant, fact.arguments)):
                self._fail("an observation holds constants only", fact.token)
            *terms, value = fact.arguments
            name = _ground_name(fact.text, terms)
            with self._at(fact.token):
                if self.words.find(name) is None:
                    raise ModelError(self.words.why_not(name) or f"there is no variable '{name}'")
                value_of(value.text, self.ranges[fact.text], name)
            if found.setdefault(name, value.text) != value.text:
                self._fail(f"{name} is observed twice, with different values", fact.token)
        return found

    # ---- random variables

    @cached_property
    def functions(self) -> dict[Key, Token]:
        """The random variables by name and arity, with the place where each first occurs."""
        found: dict[Key, Token] = {}
        arity: dict[str, int] = {}
        for term in (each for clause in self._clauses.parfactors for each in clause.formulas):
            if arity.setdefault(term.text, len(term.arguments)) != len(term.arguments):
                self._fail(
                    f"{term.text} has {len(term.arguments)} arguments here "
                    f"and {arity[term.text]} above",
                    term.token,
                )
            found.setdefault(term.key, term.token)
            if term.text in self._clauses.unread:
                raise self._clauses.unread[term.text]
        return found

    @cached_property
    def ranges(self) -> dict[str, Labels]:
        """The range of each random variable, declared once or always the same."""
        found: dict[str, Labels] = {}
        for clause in self._clauses.parfactors:
            for term, labels in zip(clause.formulas, clause.ranges, strict=True):
                if labels is None:
                    continue
                if labels.kind != "list" or not all(map(is_constant, labels.arguments)):
                    self._fail("a range is a list of constants as in ::[t,f]", labels.token)
                with self._at(labels.token):
                    given = check_labels((each.text for each in labels.arguments), f"'{term.text}'")
                if found.setdefault(term.text, given) != given:
                    self._fail(
                        f"{term.text} has another range above: [{', '.join(found[term.text])}]",
                        labels.token,
                    )
        missing = [name for name, _ in self.functions if name not in found]
        if missing:
            self._fail(
                f"no range is declared for {listed(missing)}; versions of PFL differ on whether "
                f"t or f comes first, so write {missing[0]}…::[t,f] (or ::[f,t]) once for each",
                next(token for (name, _), token in self.functions.items() if name == missing[0]),
            )
        return found

    # ---- domains

    @cached_property
    def conditions(self) -> list[Conditions]:
        """What each parfactor's constraint demands."""
        for clause in self._clauses.parfactors:
            for goal in self._predicates.unfolded(clause.goals):
                key = goal.term.key
                if not goal.sign and (
                    key in self.functions or (key[0], key[1] - 1) in self.functions
                ):
                    self._fail(
                        f"{goal.term.text} is a random variable; a constraint calls listed facts",
                        goal.term.token,
                    )
        return [conditions(clause, self._predicates) for clause in self._clauses.parfactors]

    @cached_property
    def _domains(self) -> SharedDomains:
        """SharedDomains that a variable connects, with the constants found there."""
        found = SharedDomains()
        for number, (clause, each) in enumerate(
            zip(self._clauses.parfactors, self.conditions, strict=True)
        ):
            for term in clause.formulas:
                for place, argument in enumerate(term.arguments):
                    node = ("formula", *term.key, place)
                    if is_constant(argument):
                        found.add(node, [argument.text])
                    elif argument.kind == "variable":
                        found.join(node, _variable(argument.text, number))
                    else:
                        self._fail(
                            "a random variable has variables and constants as arguments",
                            argument.token,
                        )
            for rows in each.listed:
                for place, (variable, (key, where)) in enumerate(
                    zip(rows.variables, rows.places, strict=True)
                ):
                    found.join(_variable(variable, number), ("predicate", *key, where))
                    found.add(_variable(variable, number), (row[place] for row in rows.rows))
            for variable, constant in each.equal:
                found.add(_variable(variable, number), [constant])
            for variable, other in each.different:
                if other.kind == "variable":
                    found.join(_variable(variable, number), _variable(other.text, number))
        return found

    @cached_property
    def words(self) -> Vocabulary:
        """Domains and relations."""
        names = self._domains.names()
        domains = [
            Domain.of(name, list(self._domains.constants(node))) for node, name in names.items()
        ]
        relations = []
        for key, token in self.functions.items():
            roots = [self._domains.root(("formula", *key, place)) for place in range(key[1])]
            of = tuple(names[root] for root in roots)
            with self._at(token):  # a name in quotes may be one that relations cannot have
                relations.append(Relation(key[0], of, self.ranges[key[0]]))
        return Vocabulary(tuple(domains), tuple(relations))

    # ---- parfactors

    def _parfactor(self, number: int, name: str) -> Parfactor:
        clause = self._clauses.parfactors[number]
        logicals = logical_names(variables_of(clause.formulas))

        def atom(formula: Term) -> Atom:
            given = formula.arguments
            terms = (
                logicals[each.text] if each.kind == "variable" else each.text for each in given
            )
            return Atom(formula.text, tuple(terms))

        arguments = tuple(map(atom, clause.formulas))
        table = potentials(name, self._table(clause))
        return Parfactor(name, arguments, table, self._constraints(number, logicals))

    def _constraints(self, number: int, logicals: Mapping[str, Logical]) -> tuple[Constraint, ...]:
        """Constraints that say something: tuples unless all there are, and comparisons."""
        found = self.conditions[number]
        constants = {name: self._domains.constants(_variable(name, number)) for name in logicals}
        where: list[Constraint] = []
        for each in found.listed:
            if len(each.rows) < math.prod(len(constants[name]) for name in each.variables):
                variables = tuple(logicals[name] for name in each.variables)
                where.append(Membership(variables, each.rows))
        for name, constant in found.equal:
            where.append(Comparison(logicals[name], constant, equal=True))
        for name, other in found.different:
            if other.kind == "variable":
                where.append(Comparison(logicals[name], logicals[other.text]))
            elif other.text in constants[name]:
                where.append(Comparison(logicals[name], other.text))
        return tuple(dict.fromkeys(where))

    def _table(self, clause: Clause) -> list[float]:
        """The numbers of a table, listed in the clause or by a fact."""
        table = clause.table
        if table.kind == "atom":
            table = self._listed_table(table)
        if table.kind != "list":
            self._fail(f"'{table.text}' stands where a table should be, as in [1, 2]", table.token)
        for each in table.arguments:
            if each.kind != "number":
                self._fail(f"a potential is a number, 0 or more, not '{each.text}'", each.token)
        return [float(each.text) for each in table.arguments]

    def _listed_table(self, call: Term) -> Term:
        if call.text in self._clauses.unread:
            raise self._clauses.unread[call.text]
        given = [each.text for each in call.arguments]
        for fact in self._clauses.facts:
            *first, table = fact.arguments or (fact,)
            same = fact.text == call.text and [each.text for each in first] == given
            if same and table.kind == "list":
                return table
        self._fail(f"there is no fact {call.text}([…]) with the table", call.token)

    @contextmanager
    def _at(self, start: Token | None, clauses: Sequence[Clause] = ()) -> Iterator[None]:
        """Say on which line a mistake is."""
        try:
            yield
        except ParfactorError as error:
            clause = clauses[error.number]
            is_argument = error.steps[:1] == ("args",) and len(error.steps) == 2
            token = clause.formulas[int(error.steps[1])].token if is_argument else clause.start
            self._fail(error.text, token)
        except ModelError as error:
            self._fail(str(error), start)


def _variable(name: str, clause: int) -> Node:
    return ("variable", name, clause, 0)


def _ground_name(name: str, terms: Sequence[Term]) -> str:
    return f"{name}({','.join(constant_text(each.text) for each in terms)})" if terms else name
