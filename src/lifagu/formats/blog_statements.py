"""The statements of a BLOG file: what is written where, before it is asked what it means."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from lifagu.basics.arrays import Floats
from lifagu.errors import did_you_mean
from lifagu.formats.budget import Budget
from lifagu.formats.lexer import Lexer, Token, shortened

KEYWORDS = ("type", "guaranteed", "random", "factor", "parfactor", "obs", "query")
POTENTIAL = "MultiArrayPotential"
_NUMBER = r"(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_COMMENT = r"//[^\n]*|/\*(?s:.*?)\*/"
_PATTERN = re.compile(
    rf"(?P<skip>\s+|{_COMMENT})|(?P<broken>/\*)|(?P<table>\[\[[^\[\]]*\]\])|(?P<word>[A-Za-z_][A-Za-z0-9_]*)"
    rf"|(?P<number>{_NUMBER})|(?P<sign>!=|==|[-+~(){{}}\[\],;:.&=#|!<>@*/%])"
)


@dataclass(frozen=True)
class Call:
    """``Friends(X, eve)`` or ``Epid``: a random function and what stands in its parentheses."""

    name: Token
    terms: tuple[Token, ...]

    @property
    def text(self) -> str:
        """As a ground name."""
        terms = ",".join(each.text for each in self.terms)
        return f"{self.name.text}({terms})" if terms else self.name.text


@dataclass(frozen=True)
class Declared:
    """``Person X``: a logical variable and its type."""

    type: Token
    name: Token


Difference = tuple[Token, Token]  # X != Y


@dataclass(frozen=True)
class FactorArgument:
    """``Sick(X)``, or counted ``#(Person X : X != Y)[Friends(X, Y)]``, perhaps unconstrained."""

    call: Call
    counted: Declared | None = None
    where: tuple[Difference, ...] = ()


@dataclass(frozen=True)
class FactorStatement:
    """A factor, or with logical variables a parfactor; its table as written."""

    start: Token
    variables: tuple[Declared, ...]
    where: tuple[Difference, ...]
    table: Token
    arguments: tuple[FactorArgument, ...]

    @property
    def is_lifted(self) -> bool:
        """Whether it has a logical variable, perhaps only a counted one."""
        return bool(self.variables) or any(each.counted for each in self.arguments)


@dataclass
class Statements:
    """All statements of a file, by kind.

    guaranteed: the type, and its objects by name, or with a number n those of the name with 1…n
    behind it. random: the range, the name, the types of the arguments. observations: the variable
    and its value. tables: the numbers of each table, by its text.
    """

    lexer: Lexer
    types: list[Token] = field(default_factory=list)
    guaranteed: list[tuple[Token, list[tuple[Token, int | None]]]] = field(default_factory=list)
    random: list[tuple[Token, Token, tuple[Token, ...]]] = field(default_factory=list)
    factors: list[FactorStatement] = field(default_factory=list)
    observations: list[tuple[Call, Token]] = field(default_factory=list)
    queries: list[Call] = field(default_factory=list)
    tables: dict[str, Floats] = field(default_factory=dict)


def parse_statements(text: str, place: str, budget: Budget | None = None) -> Statements:
    """The statements of a text.

    >>> found = parse_statements("type Person; guaranteed Person p[3]; query Sick(p1);", "m.blog")
    >>> found.types[0].text, found.queries[0].text
    ('Person', 'Sick(p1)')
    """
    lexer, budget = Lexer(text, place, _PATTERN), budget or Budget(len(text))
    found = Statements(lexer)
    while lexer.peek.kind != "end":
        keyword = lexer.take("a statement")
        if keyword.text == "type":
            found.types.append(_word(lexer, "the name of the type"))
        elif keyword.text == "guaranteed":
            found.guaranteed.append(_guaranteed(lexer, budget))
        elif keyword.text == "random":
            found.random.append(_random(lexer))
        elif keyword.text in ("factor", "parfactor"):
            found.factors.append(_factor(lexer, keyword, found.tables))
        elif keyword.text == "obs":
            found.observations.append(_observation(lexer))
        elif keyword.text == "query":
            found.queries.append(_call(lexer, "a random variable"))
        else:
            close = did_you_mean(keyword.text, KEYWORDS)
            lexer.fail(
                f"'{shortened(keyword.text)}' begins no statement that is read here "
                f"({', '.join(KEYWORDS)}){close}",
                keyword,
            )
        lexer.expect(";", "at the end of the statement")
    return found


def _word(lexer: Lexer, what: str) -> Token:
    return lexer.take(what, "word")


def _words(lexer: Lexer, what: str) -> tuple[Token, ...]:
    """Words in parentheses, with commas between them; none if there is no parenthesis."""
    if not lexer.accept("("):
        return ()
    words = [_word(lexer, what)]
    while lexer.accept(","):
        words.append(_word(lexer, what))
    lexer.expect(")", "after the last of them")
    return tuple(words)


def _guaranteed(lexer: Lexer, budget: Budget) -> tuple[Token, list[tuple[Token, int | None]]]:
    kind = _word(lexer, "a type")
    objects: list[tuple[Token, int | None]] = []
    while not objects or lexer.accept(","):
        name, number = _word(lexer, "the name of an object"), None
        if lexer.accept("["):
            size = lexer.take("the number of objects", "number")
            number = lexer.whole(size, "a number of objects")
            budget.objects(partial(lexer.where, size), f"{name.text}[{number}]", number)
            lexer.expect("]", "after the number of objects")
        objects.append((name, number))
    return kind, objects


def _random(lexer: Lexer) -> tuple[Token, Token, tuple[Token, ...]]:
    labels = _word(lexer, "the range of a random function")
    name = _word(lexer, "the name of a random function")
    types = _words(lexer, "a type")
    if lexer.peek.text in ("~", "=", "{"):
        lexer.fail(
            f"'{name.text}' has a dependency statement, which is not read; say it with a factor"
        )
    return labels, name, types


def _observation(lexer: Lexer) -> tuple[Call, Token]:
    call = _call(lexer, "a random variable")
    lexer.expect("=", f"as in: obs {call.text} = true;")
    return call, _word(lexer, "a value")


def _call(lexer: Lexer, what: str) -> Call:
    return Call(_word(lexer, what), _words(lexer, "an object or a logical variable"))


def _factor(lexer: Lexer, keyword: Token, tables: dict[str, Floats]) -> FactorStatement:
    variables: list[Declared] = []
    where: tuple[Difference, ...] = ()
    if keyword.text == "parfactor":
        while not variables or lexer.accept(","):
            variables.append(_declared(lexer))
        where = _differences(lexer)
        lexer.expect(".", f"before {POTENTIAL}")
    lexer.expect(POTENTIAL, "the only kind of potential that is read")
    table = lexer.take("a table as in [[1, 2]]", "table")
    if table.text not in tables:
        tables[table.text] = _potentials(lexer, table)
    lexer.expect("(", "before the arguments")
    arguments = [_argument(lexer)]
    while lexer.accept(","):
        arguments.append(_argument(lexer))
    lexer.expect(")", "after the arguments")
    return FactorStatement(keyword, tuple(variables), where, table, tuple(arguments))


def _declared(lexer: Lexer) -> Declared:
    return Declared(_word(lexer, "a type"), _word(lexer, "a logical variable"))


def _argument(lexer: Lexer) -> FactorArgument:
    if not lexer.accept("#"):
        return FactorArgument(_call(lexer, "an argument"))
    example = "as in #(Person X)[Sick(X)]"
    lexer.expect("(", example)
    counted, where = _declared(lexer), _differences(lexer)
    lexer.expect(")", example)
    lexer.expect("[", example)
    call = _call(lexer, "a random function")
    lexer.expect("]", example)
    return FactorArgument(call, counted, where)


def _differences(lexer: Lexer) -> tuple[Difference, ...]:
    """The conjunction of inequalities behind a colon, if there is one."""
    found: list[Difference] = []
    while lexer.accept("&" if found else ":"):
        left = _word(lexer, "a logical variable or an object")
        if lexer.peek.text in ("=", "=="):
            lexer.fail("a constraint of a parfactor is X != Y; for X = eve write eve instead of X")
        lexer.expect("!=", "as in X != Y")
        found.append((left, _word(lexer, "a logical variable or an object")))
    return tuple(found)


def _potentials(lexer: Lexer, table: Token) -> Floats:
    """The numbers of a table."""
    inner = re.sub(_COMMENT, lambda match: " " * len(match[0]), table.text[2:-2])
    entries = inner.split(",")
    if not re.fullmatch(rf"\s*{_NUMBER}\s*(?:,\s*{_NUMBER}\s*)*+", inner):
        _refuse_entry(lexer, entries, table.start + 2)
    # float knows fewer kinds of blanks than a pattern does
    return np.array([float(entry.strip()) for entry in entries])


def _refuse_entry(lexer: Lexer, entries: Sequence[str], start: int) -> None:
    """Refuse the first entry of a table that is no number where it stands."""
    for entry in entries:
        given = entry.strip()
        if not re.fullmatch(_NUMBER, given):
            hint = f"; write {given}0" if re.fullmatch(rf"{_NUMBER}\.", given) else ""
            lexer.fail(
                "a potential is a number, 0 or more, as in 1, .5 or 1e-3, "
                f"not '{shortened(entry)}'{hint}",
                start + len(entry) - len(entry.lstrip()),
            )
        start += len(entry) + 1
