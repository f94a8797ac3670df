"""The parfactor part of BLOG (``.blog``), as tools for lifted inference read it: its meaning.

A table is a flat list, the first argument slowest. Boolean values come true before false, counted
Boolean arguments from all true down to none, and a range that is a type has one more, last, entry
for null, which must be 0 here. Milch et al., "BLOG: Probabilistic Models with Unknown Objects",
IJCAI 2005, and "Lifted Probabilistic Inference with Counting Formulas", AAAI 2008.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any, NamedTuple, NoReturn

import numpy as np

from lifagu.basics.arrays import Floats
from lifagu.errors import FormatError, ModelError, did_you_mean, one_line
from lifagu.formats.budget import Budget
from lifagu.formats.contents import Contents
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
from lifagu.relational.terms import Argument, Atom, Comparison, CountingFormula, Logical, Term

POTENTIAL = "MultiArrayPotential"
KEYWORDS = ("type", "guaranteed", "random", "factor", "parfactor", "obs", "query")
NUMBER = r"(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
COMMENT = r"//[^\n]*|/\*(?s:.*?)\*/"
_PATTERN = re.compile(
    rf"(?P<skip>\s+|{COMMENT})|(?P<broken>/\*)|(?P<table>\[\[[^\[\]]*\]\])|(?P<word>[A-Za-z_][A-Za-z0-9_]*)"
    rf"|(?P<number>{NUMBER})|(?P<sign>!=|==|[-+~(){{}}\[\],;:.&=#|!<>@*/%])"
)


class Token(NamedTuple):
    """A piece of the text: its kind is the name of the group of the pattern that matched it."""

    kind: str
    text: str
    start: int


class _Tokens:
    """A cursor over the tokens of a text; after the last one comes one of kind "end"."""

    def __init__(self, text: str, place: str) -> None:
        self._text, self._place, self._position = text, place, 0
        self._tokens: list[Token] = []
        self._starts: dict[str, list[int]] = {keyword: [] for keyword in KEYWORDS}
        start, begins = 0, True
        while start < len(text):
            match = _PATTERN.match(text, start)
            if match is None:
                self.fail(f"{text[start]!r} cannot stand here", start)
            token = Token(str(match.lastgroup), match[0], start)
            start = match.end()
            if token.kind == "broken":
                self.fail("a comment begins with /* here and is never closed with */", token)
            if token.kind == "skip":
                continue
            if begins and token.text not in self._starts:
                close = f"{', '.join(KEYWORDS)}{did_you_mean(token.text, KEYWORDS)}"
                self.fail(
                    f"'{one_line(token.text, 40)}' begins no statement; known: {close}", token
                )
            if begins:
                self._starts[token.text].append(len(self._tokens))
            begins = token.text == ";"
            self._tokens.append(token)
        self._tokens.append(Token("end", "", len(text.rstrip())))

    def statements(self, *keywords: str) -> Iterator[Token]:
        """Go to each statement of some kinds; when it has been read, nothing may be left of it."""
        for position in sorted(each for keyword in keywords for each in self._starts[keyword]):
            self._position = position + 1
            yield self._tokens[position]
            self.expect(";", "at the end of the statement")

    @property
    def peek(self) -> Token:
        """The next token."""
        return self._tokens[self._position]

    def fail(self, message: str, at: Token | int | None = None) -> NoReturn:
        """Raise an error at a token or place (the next token by default)."""
        raise FormatError(f"{self.where(at)}: {message}")

    def where(self, at: Token | int | None = None) -> str:
        """The file and the line of a token or place."""
        start = at if isinstance(at, int) else (at or self.peek).start
        return f"{self._place}:{self._text.count(chr(10), 0, start) + 1}"

    def take(self, what: str, kind: str = "word") -> Token:
        """The next token, which must be of a kind."""
        if self.peek.kind != kind:
            self._miss(f"{what} should be")
        self._position += 1
        return self._tokens[self._position - 1]

    def expect(self, text: str, what: str) -> None:
        """Take the next token, which must have this text."""
        if not self.accept(text):
            self._miss(f"'{text}' should be, {what}")

    def _miss(self, what: str) -> NoReturn:
        stands = f"'{one_line(self.peek.text, 40)}' stands" if self.peek.text else "the file ends"
        self.fail(f"{stands} where {what}")

    def accept(self, text: str) -> bool:
        """Take the next token if it has this text."""
        found = self.peek.text == text
        self._position += found
        return found

    def several(self, part: Callable[[], Any]) -> list[Any]:
        """One or more parts, with commas between them."""
        found = [part()]
        while self.accept(","):
            found.append(part())
        return found

    def potentials(self, table: Token) -> list[float]:
        """The numbers of a table."""
        inner = re.sub(COMMENT, lambda match: " " * len(match[0]), table.text[2:-2])
        found, start = list[float](), table.start + 2
        for entry in inner.split(","):
            given = entry.strip()
            if not re.fullmatch(NUMBER, given):
                said = f"as in 1, .5 or 1e-3, not '{one_line(given, 40)}'"
                place = start + len(entry) - len(entry.lstrip())
                self.fail(f"a potential is a number, 0 or more, {said}", place)
            found.append(float(given))
            start += len(entry) + 1
        return found


class _Scope(NamedTuple):
    """What a factor has said so far, each with where it said it; declared: with the type."""

    declared: dict[str, tuple[Token, str]]
    where: list[tuple[Token, Comparison]]
    arguments: list[tuple[Token, Argument]]

    def term(self, name: str) -> Term:
        """A logical variable if it is declared, else an object."""
        return _logical(name) if name in self.declared else name


_NOTHING = _Scope({}, [], [])


def contents(text: str, place: str, budget: Budget | None = None) -> Contents:
    """All that a text says; its model is a factor graph where nothing in it is relational.

    >>> found = contents("random Boolean Epid; obs Epid = true; query Epid;", "<text>")
    >>> found.evidence(), found.queries()
    ({'Epid': 'true'}, ['Epid'])
    """
    blog = _Blog(text, place, budget or Budget(len(text)))
    return Contents(blog.model, blog.evidence, blog.queries)


class _Blog(_Tokens):
    """A file, in any order of its statements: types and random functions are read first."""

    def __init__(self, text: str, place: str, budget: Budget) -> None:
        super().__init__(text, place)
        self._potentials: dict[str, Floats] = {}  # of each table, by its text
        self._with_null: set[str] = set()  # the random functions whose range is a type
        self._objects = self._types(budget)
        self._words = self._vocabulary()

    def _types(self, budget: Budget) -> dict[str, list[str]]:
        """The objects of each type."""
        found, taken = dict[str, list[str]](), {"Boolean"}
        for _ in self.statements("type"):
            kind = self.take("the name of the type")
            self._once(taken, kind.text, kind)
            found[kind.text] = []
        taken.clear()
        for _ in self.statements("guaranteed"):
            objects = found[self._type(found).text]
            for names in self.several(partial(self._guaranteed, taken, budget)):
                objects += names
        return found

    def _guaranteed(self, taken: set[str], budget: Budget) -> list[str]:
        """An object, or with a number n those of the name with 1…n behind it."""
        name = self.take("the name of an object")
        names = [name.text]
        if self.accept("["):
            size = self.take("the number of objects", "number")
            if not size.text.isdigit() or len(size.text) > 18:
                self.fail(
                    f"'{one_line(size.text, 40)}' is not a number of objects below 10^18", size
                )
            self.expect("]", "after the number of objects")
            number = int(size.text)
            budget.objects(partial(self.where, size), f"{name.text}[{number}]", number)
            names = [f"{name.text}{each}" for each in range(1, number + 1)]
        for each in names:
            self._once(taken, each, name)
        return names

    def _once(self, taken: set[str], name: str, at: Token) -> None:
        if name in taken:
            self.fail(f"'{name}' is declared twice; give each a name of its own", at)
        taken.add(name)

    def _vocabulary(self) -> Vocabulary:
        """Types as domains, unless they are only ranges, and random functions as relations."""
        relations, ranges, taken = dict[str, Relation](), set[str](), set[str]()
        for _ in self.statements("random"):
            labels = self._type([*self._objects, "Boolean"])
            name = self.take("the name of a random function")
            of = self._in_parentheses(partial(self._type, self._objects))
            if self.peek.text in ("~", "=", "{"):
                self.fail(f"'{name.text}' has a dependency statement; say it with a factor")
            self._once(taken, name.text, name)
            if labels.text != "Boolean":
                ranges.add(labels.text)
                self._with_null.add(name.text)
            values = tuple(self._objects.get(labels.text, BOOLEAN))
            with self._at(labels):
                relations[name.text] = Relation(name.text, tuple(each.text for each in of), values)
        kept = self._objects.keys() - ranges
        kept |= {kind for each in relations.values() for kind in each.of}
        domains = [Domain.of(kind, names) for kind, names in self._objects.items() if kind in kept]
        return Vocabulary(tuple(domains), tuple(relations.values()))

    def _type(self, known: Collection[str]) -> Token:
        kind = self.take("a type")
        if kind.text not in known:
            self.fail(f"there is no type '{kind.text}'{did_you_mean(kind.text, known)}", kind)
        return kind

    def _in_parentheses(self, part: Callable[[], Token]) -> list[Token]:
        """Words with commas between them; none if there is no parenthesis."""
        if not self.accept("("):
            return []
        words = self.several(part)
        self.expect(")", "after the last of them")
        return words

    def model(self) -> FactorGraph | ParfactorGraph:
        """The factor graph or relational model."""
        factors = [self._factor(each) for each in self.statements("factor", "parfactor")]
        relations, builder = self._words.relations, FactorGraph.build()
        relational = any(is_lifted for _, is_lifted, _ in factors) or any(e.of for e in relations)
        for relation in () if relational else relations:
            builder.variable(relation.name, relation.range)
        known = set() if relational else {each.name for each in relations}
        variable = GroundArguments(builder, self._words, known)
        lifted, ground = list[Parfactor](), count(1)
        for start, is_lifted, each in factors:
            if is_lifted:
                lifted.append(replace(each, name=f"g{len(lifted) + 1}"))
                continue
            with self._at(start):
                names = [variable(_ground_name(atom)) for atom in each.arguments]
                builder.factor(f"f{next(ground)}", names, each.table)
        part = builder.graph()
        if not relational:
            return part
        return ParfactorGraph(self._words.domains, relations, tuple(lifted), part)

    def _factor(self, start: Token) -> tuple[Token, bool, Parfactor]:
        """A factor or parfactor, and whether it has a logical variable."""
        scope = _Scope({}, [], [])
        if start.text == "parfactor":
            self.several(partial(self._declared, scope))
            self._differences(scope)
            self.expect(".", f"before {POTENTIAL}")
        self.expect(POTENTIAL, "the only kind of potential that is read")
        table = self.take("a table as in [[1, 2]]", "table")
        self.expect("(", "before the arguments")
        self.several(partial(self._argument, scope))
        self.expect(")", "after the arguments")
        arguments = tuple(argument for _, argument in scope.arguments)
        where = tuple(comparison for _, comparison in scope.where)
        parfactor = Parfactor(start.text, arguments, None, where)
        with self._at(start, scope):
            bound = bind(0, parfactor, self._words, lambda _: None)
        domains = dict(zip(bound.logicals, bound.domains, strict=True))
        for name, kind in scope.declared.values():
            domain = domains.get(_logical(name.text).name)
            if domain is None or domain.name != kind:
                found = "stands in no argument" if domain is None else f"stands for {domain.name}"
                self.fail(f"{name.text} is declared as {kind}, but {found}", name)
        potentials = self._table(table, scope.arguments, bound.shape)
        return start, bool(scope.declared), replace(parfactor, table=potentials)

    def _declared(self, scope: _Scope) -> Logical:
        kind, name = self._type(self._objects), self.take("a logical variable")
        logical = _logical(name.text)
        if logical in map(_logical, scope.declared):
            self.fail(f"{logical} is declared twice; use two logical variables", name)
        scope.declared[name.text] = name, kind.text
        return logical

    def _argument(self, scope: _Scope) -> None:
        """``Sick(X)``, or counted ``#(Person X : X != Y)[Friends(X, Y)]``."""
        if not self.accept("#"):
            scope.arguments.append(self._atom(scope))
            return
        example = "as in #(Person X)[Sick(X)]"
        self.expect("(", example)
        counted = self._declared(scope)
        self._differences(scope)
        self.expect(")", example)
        self.expect("[", example)
        name, atom = self._atom(scope)
        with self._at(name):
            scope.arguments.append((name, CountingFormula(counted, atom)))
        if atom.relation in self._with_null:
            self.fail(f"{name.text} is counted, but its range is a type, not Boolean", name)
        self.expect("]", example)

    def _atom(self, scope: _Scope) -> tuple[Token, Atom]:
        """A random function with what stands in its parentheses."""
        name = self.take("a random function")
        terms = self._in_parentheses(lambda: self.take("a logical variable or an object"))
        known = self._words.relation_names
        if name.text not in known:
            close = did_you_mean(name.text, known)
            self.fail(f"there is no random function '{name.text}'{close}", name)
        return name, Atom(name.text, tuple(scope.term(each.text) for each in terms))

    def _differences(self, scope: _Scope) -> None:
        """The conjunction of inequalities behind a colon, if there is one."""
        sign = ":"
        while self.accept(sign):
            sign = "&"
            left = self.take("a logical variable or an object")
            self.expect("!=", "as in X != Y; for X = eve write eve instead of X")
            right = self.take("a logical variable or an object")
            one, two = scope.term(left.text), scope.term(right.text)
            if not isinstance(one, Logical):
                one, two = two, one
            if not isinstance(one, Logical):
                self.fail(f"'{left.text} != {right.text}' compares no logical variable", left)
            with self._at(left):
                scope.where.append((left, Comparison(one, two)))

    def _table(
        self, place: Token, arguments: Sequence[tuple[Token, Argument]], sizes: Sequence[int]
    ) -> Floats:
        """The potentials as lifagu lists them: false before true, and without those for null."""
        if place.text not in self._potentials:
            self._potentials[place.text] = np.array(self.potentials(place))
        given, shape, chosen = self._potentials[place.text], [], []
        for (name, argument), size in zip(arguments, sizes, strict=True):
            null = name.text in self._with_null
            keeps = null or isinstance(argument, CountingFormula)
            shape.append(size + null)
            chosen.append(slice(size) if keeps else slice(None, None, -1))
        if len(given) != math.prod(shape) or len(shape) > MOST_AXES:
            why = " (a range that is a type has one more, for null)" if shape != [*sizes] else ""
            spans = f"the arguments span {math.prod(shape)} states{why}"
            self.fail(f"there are {len(given)} potentials, but {spans}", place)
        table = given.reshape(shape)[tuple(chosen)].reshape(-1)
        if np.count_nonzero(table) < np.count_nonzero(given):
            self.fail("the table gives null a weight; write 0 there, null is no value here", place)
        if fault := potential_fault(table):
            self.fail(f"the table has {fault}", place)
        return table

    def evidence(self) -> dict[str, Observation]:
        """What is observed, by ground name."""
        found: dict[str, Observation] = {}
        for _ in self.statements("obs"):
            place, name, relation = self._ground()
            self.expect("=", f"as in: obs {name} = true;")
            value = self.take("a value")
            with self._at(value):
                value_of(value.text, relation.range, name)
            if found.setdefault(name, value.text) != value.text:
                self.fail(f"{name} is observed twice, with different values", place)
        return found

    def queries(self) -> list[str]:
        """What is asked about, by ground name."""
        return [self._ground()[1] for _ in self.statements("query")]

    def _ground(self) -> tuple[Token, str, Relation]:
        """A ground variable, whose arguments must be objects of its types."""
        place, atom = self._atom(_NOTHING)
        name, words = _ground_name(atom), self._words
        if words.find(name) is None:
            self.fail(str(words.why_not(name)), place)
        return place, name, words.relations[words.relation_names.number(atom.relation)]

    @contextmanager
    def _at(self, start: Token, scope: _Scope = _NOTHING) -> Iterator[None]:
        """Say on which line a mistake is: its argument's or constraint's, where it is in one."""
        try:
            yield
        except ParfactorError as error:
            said = scope.where if "where" in error.steps else scope.arguments
            self.fail(error.text, said[int(error.steps[1])][0] if error.steps[1:] else start)
        except ModelError as error:
            self.fail(str(error), start)


def _logical(name: str) -> Logical:
    """The logical variable of a name: here it begins with an upper-case letter."""
    return Logical(name[0].upper() + name[1:] if name[0].isalpha() else f"V{name}")


def _ground_name(argument: Argument) -> str:
    atom = argument.atom if isinstance(argument, CountingFormula) else argument
    return f"{atom.relation}({','.join(map(str, atom.terms))})" if atom.terms else atom.relation
