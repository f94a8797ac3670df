"""The clauses of a PFL file: as much of Prolog as models are written in, not yet their meaning."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from lifagu.errors import FormatError
from lifagu.formats.budget import Budget
from lifagu.formats.lexer import Lexer, Token

MOST_NESTED = 50
DECLARES = ("multifile", "dynamic", "discontiguous")
HARMLESS = (
    *("set_solver", "set_em_solver", "set_pfl_flag", "set_clpbn_flag", "set_horus_flag"),
    *("yap_flag", "set_prolog_flag", "style_check"),
)
_PATTERN = re.compile(
    r"(?P<skip>\s+|%[^\n]*|/\*(?s:.*?)\*/)|(?P<broken>/\*)|(?P<stop>\.(?=\s|%|\Z))"
    r"|(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)|(?P<atom>[a-z][A-Za-z0-9_]*)"
    r"|(?P<variable>[A-Z_][A-Za-z0-9_]*)|(?P<quoted>'(?:[^'\\\n]|\\.|'')*+')|(?P<string>\"(?:[^\"\\\n]|\\.)*+\")"
    r"|(?P<sign>[()\[\]{},|!;]|[-+*/\\^<>=~:.?@#&$]+)"
)


@dataclass(frozen=True)
class Term:
    """A variable, number, constant, structure (with arguments), or list (its items)."""

    kind: Literal["variable", "number", "atom", "list"]
    text: str
    token: Token
    arguments: tuple[Term, ...] = ()

    @property
    def key(self) -> tuple[str, int]:
        """Name and arity."""
        return self.text, len(self.arguments)

    @property
    def shown(self) -> str:
        """As in error messages."""
        return f"{self.text}/{len(self.arguments)}"


@dataclass(frozen=True)
class Goal:
    """A call of a predicate, or with a sign (``=``, ``\\=``, ``\\==``) a comparison of terms."""

    term: Term
    sign: str = ""
    right: Term | None = None


@dataclass(frozen=True)
class Clause:
    """A parfactor: formulas, ranges where declared, and its table or the call that gives it."""

    start: Token
    formulas: tuple[Term, ...]
    ranges: tuple[Term | None, ...]
    table: Term
    goals: tuple[Goal, ...]


@dataclass
class Clauses:
    """All clauses of a file, by kind; unread ones with the reason, by the name they define."""

    lexer: Lexer
    parfactors: list[Clause] = field(default_factory=list)
    facts: list[Term] = field(default_factory=list)
    entities: list[tuple[Term, int]] = field(default_factory=list)
    rules: list[tuple[Term, tuple[Goal, ...]]] = field(default_factory=list)
    unread: dict[str, FormatError] = field(default_factory=dict)


def parse_clauses(text: str, place: str, budget: Budget | None = None) -> Clauses:
    """The clauses of a text; questions (``?-``) and harmless directives are left out.

    >>> found = parse_clauses("p @ 3. markov smokes(X)::[t,f] ; [1, 4] ; [p(X)]. % all", "m.pfl")
    >>> found.entities[0][1], found.parfactors[0].formulas[0].shown
    (3, 'smokes/1')
    """
    lexer, budget = Lexer(text, place, _PATTERN), budget or Budget(len(text))
    found = Clauses(lexer)
    while lexer.peek.kind != "end":
        start = lexer.peek
        if start.text == "?-":
            _skip(lexer)
        elif start.text == ":-":
            _directive(lexer)
        elif start.text in ("bayes", "markov"):
            found.parfactors.append(_parfactor(lexer))
        else:
            _definition(lexer, found, budget)
    return found


def _skip(lexer: Lexer) -> None:
    """Go behind the end of the clause."""
    while lexer.take("the dot at the end of the clause").kind != "stop":
        pass


def _stop(lexer: Lexer) -> None:
    lexer.take("the dot at the end of the clause", "stop")


def _directive(lexer: Lexer) -> None:
    """Skip what does not change the model; refuse the rest."""
    start, goals, depth = lexer.take("a directive"), [list[str]()], 0
    while lexer.peek.kind != "stop":
        text = lexer.take("the dot at the end of the directive").text
        depth += (text in "([{") - (text in ")]}")
        if text == "," and not depth:
            goals.append([])
        else:
            goals[-1].append(text)
    _stop(lexer)
    for goal in goals:
        called = goal[2:] if goal[1:2] == [":"] else goal
        name = called[0] if called else ""
        if name in DECLARES:
            return
        loads = name in ("use_module", "ensure_loaded") and called[2:3] == ["library"]
        if not loads and name not in HARMLESS:
            lexer.fail(
                f"the directive '{' '.join(called)[:60]}' is not read; "
                "put into this file what it would give",
                start,
            )


def _parfactor(lexer: Lexer) -> Clause:
    start = lexer.take("bayes or markov")
    formulas: list[Term] = []
    ranges: list[Term | None] = []
    while not formulas or lexer.accept(","):
        term = _term(lexer)
        if term.kind != "atom":
            lexer.fail(
                f"'{term.text}' is not a random variable; aggregates are not read", term.token
            )
        formulas.append(term)
        ranges.append(_term(lexer) if lexer.accept("::") else None)
    lexer.expect(";", "between the formulas and the table")
    table = _term(lexer)
    goals = _goals(lexer) if lexer.accept(";") else ()
    _stop(lexer)
    return Clause(start, tuple(formulas), tuple(ranges), table, goals)


def _goals(lexer: Lexer) -> tuple[Goal, ...]:
    """The constraint: a list of goals."""
    lexer.expect("[", "before the goals of the constraint")
    goals: list[Goal] = []
    while lexer.peek.text != "]" or goals:
        goals.append(_goal(lexer))
        if not lexer.accept(","):
            break
    lexer.expect("]", "after the goals of the constraint")
    return tuple(goals)


def _goal(lexer: Lexer) -> Goal:
    term = _term(lexer)
    for sign in ("=", "\\=", "\\=="):
        if lexer.accept(sign):
            return Goal(term, sign, _term(lexer))
    if term.kind != "atom" or lexer.peek.text not in (",", "]", "."):
        lexer.fail("a goal is a call as in person(X), or X = eve, X \\= Y or X \\== Y")
    return Goal(term)


def _definition(lexer: Lexer, found: Clauses, budget: Budget) -> None:
    """A fact, a rule, or entities; what cannot be read is kept for those who refer to it."""
    start, name = lexer.position, lexer.peek.text
    try:
        head = _term(lexer)
        if lexer.accept("@"):
            found.entities.append((head, _entities(lexer, head.text, budget)))
        elif lexer.accept(":-"):
            body = [_goal(lexer)]
            while lexer.accept(","):
                body.append(_goal(lexer))
            found.rules.append((head, tuple(body)))
        else:
            found.facts.append(head)
        _stop(lexer)
    except FormatError as error:
        lexer.position = start
        found.unread.setdefault(name, error)
        _skip(lexer)


def _entities(lexer: Lexer, name: str, budget: Budget) -> int:
    token = lexer.take("the number of entities", "number")
    number = lexer.whole(token, "a number of entities")
    budget.objects(partial(lexer.where, token), f"{name} @ {number}", number)
    return number


def _term(lexer: Lexer, depth: int = 0) -> Term:
    """A variable, number, atom, structure or list."""
    token = lexer.take("a term")
    if depth > MOST_NESTED:
        lexer.fail("this is nested too deeply to be a model", token)
    if token.kind == "variable":
        return Term("variable", token.text, token)
    if token.kind == "number":
        return Term("number", token.text, token)
    if token.text == "[":
        return Term("list", "[]", token, _terms(lexer, "]", depth))
    if token.kind not in ("atom", "quoted"):
        lexer.fail(f"'{token.text}' stands where a term should be", token)
    if "\\" in token.text or token.text == "''":
        lexer.fail(f"{token.text} is empty or has an escape sequence, which is not read", token)
    text = token.text if token.kind == "atom" else token.text[1:-1].replace("''", "'")
    return Term("atom", text, token, _terms(lexer, ")", depth) if lexer.accept("(") else ())


def _terms(lexer: Lexer, close: str, depth: int) -> tuple[Term, ...]:
    """Terms with commas between them, up to a closing sign; a list may be empty."""
    terms: list[Term] = []
    while terms or close == ")" or lexer.peek.text != close:
        terms.append(_term(lexer, depth + 1))
        if not lexer.accept(","):
            break
    lexer.expect(close, "after the last of them")
    return tuple(terms)
