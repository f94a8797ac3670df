"""What the goals of a PFL constraint say: rules unfolded, calls of listed facts as tuples.

A constraint admits a substitution of the variables in the formulas if all goals succeed for it,
however often; what else occurs in a goal only has to exist.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lifagu.basics.cached import cached_property
from lifagu.formats.pfl_clauses import Clause, Clauses, Goal, Term

Key = tuple[str, int]  # name and arity
MOST_UNFOLDED = 1000  # goals of one parfactor


@dataclass(frozen=True)
class AdmittedTuples:
    """The tuples that a call admits for its variables, and their places in the predicate."""

    variables: tuple[str, ...]
    places: tuple[tuple[Key, int], ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass
class Conditions:
    """What must hold for the variables of a parfactor's formulas."""

    listed: list[AdmittedTuples] = field(default_factory=list)
    equal: list[tuple[str, str]] = field(default_factory=list)
    different: list[tuple[str, Term]] = field(default_factory=list)


@dataclass(frozen=True)
class Predicates:
    """The facts and rules of a file."""

    clauses: Clauses

    @cached_property
    def facts(self) -> dict[Key, dict[tuple[str, ...], None]]:
        """The tuples of constants that are listed for each predicate, in order, each once."""
        found: dict[Key, dict[tuple[str, ...], None]] = {}
        for head, number in self.clauses.entities:
            if head.kind != "atom" or head.arguments:
                self.clauses.lexer.fail("entities are listed as in: person @ 10.", head.token)
            names = ((f"p{each}",) for each in range(1, number + 1))
            found.setdefault((head.text, 1), {}).update(dict.fromkeys(names))
        for fact in self.clauses.facts:
            if all(map(is_constant, fact.arguments)):
                found.setdefault(fact.key, {})[tuple(each.text for each in fact.arguments)] = None
        return found

    @cached_property
    def _rules(self) -> dict[Key, list[tuple[Term, tuple[Goal, ...]]]]:
        found: dict[Key, list[tuple[Term, tuple[Goal, ...]]]] = {}
        for head, body in self.clauses.rules:
            found.setdefault(head.key, []).append((head, body))
        return found

    @cached_property
    def _open(self) -> dict[Key, Term]:
        """For each predicate a fact that holds something else than constants."""
        facts = self.clauses.facts
        return {fact.key: fact for fact in facts if not all(map(is_constant, fact.arguments))}

    def rows(self, call: Term) -> Iterable[tuple[str, ...]]:
        """The tuples listed for the predicate that a goal calls."""
        fail = self.clauses.lexer.fail
        if call.text in self.clauses.unread:
            raise self.clauses.unread[call.text]
        if call.key in self._open:
            fail(
                f"this fact for {call.shown} holds more than constants; list what is meant",
                self._open[call.key].token,
            )
        if call.key not in self.facts:
            fail(f"there are no facts for {call.shown}; list them in this file", call.token)
        return self.facts[call.key]

    def unfolded(self, goals: Sequence[Goal]) -> list[Goal]:
        """The goals with calls of rules replaced by their bodies, variables renamed apart."""
        result: list[Goal] = []
        waiting: list[tuple[Goal, tuple[Key, ...]]] = [(goal, ()) for goal in reversed(goals)]
        number = 0
        while waiting:
            goal, inside = waiting.pop()
            if goal.sign or goal.term.key not in self._rules:
                result.append(goal)
                continue
            number += 1
            head, body = self._rule(goal.term, inside, len(result) + len(waiting))
            names = [each.text for each in head.arguments]
            values = dict(zip(names, goal.term.arguments, strict=True))
            instances = [_instance(each, values, f" of rule {number}") for each in reversed(body)]
            waiting += [(each, (*inside, goal.term.key)) for each in instances]
        return result

    def _rule(self, call: Term, inside: Sequence[Key], goals: int) -> tuple[Term, tuple[Goal, ...]]:
        """The one rule that defines a predicate."""
        (head, body), *others = self._rules[call.key]
        listed = call.key in self.facts or call.key in self._open
        too_deep = call.key in inside or goals > MOST_UNFOLDED
        if others or listed or too_deep or call.text in self.clauses.unread:
            self.clauses.lexer.fail(
                f"{call.shown} has several rules, facts beside a rule, "
                "or a rule that comes back to it; list facts",
                head.token,
            )
        variables = [each.text for each in head.arguments if each.kind == "variable"]
        names = set(variables) - {"_"}
        if len(names) < len(head.arguments):
            self.clauses.lexer.fail(
                f"the rule for {call.shown} needs a variable of its own in each place", head.token
            )
        return head, body


def is_constant(term: Term) -> bool:
    """Whether a term is an atom without arguments, or a number."""
    return term.kind in ("atom", "number") and not term.arguments


def variables_of(terms: Iterable[Term]) -> list[str]:
    """The variables among the arguments of some terms, by first occurrence."""
    found = (each.text for term in terms for each in term.arguments if each.kind == "variable")
    return list(dict.fromkeys(found))


def _instance(goal: Goal, values: Mapping[str, Term], mark: str = "") -> Goal:
    """A goal with values for some of its variables; the names of others are marked."""

    def value(term: Term) -> Term:
        if term.kind == "variable" and term.text != "_":
            return values.get(term.text) or replace(term, text=term.text + mark)
        return replace(term, arguments=tuple(map(value, term.arguments)))

    return Goal(value(goal.term), goal.sign, value(goal.right) if goal.right else None)


def conditions(clause: Clause, predicates: Predicates) -> Conditions:
    """What the constraint of a parfactor demands; what cannot be said so is refused."""
    return _Reading(clause, predicates).conditions()


class _Reading:
    """Reads the goals of one parfactor from left to right, as Prolog runs them."""

    def __init__(self, clause: Clause, predicates: Predicates) -> None:
        self._clause, self._predicates = clause, predicates
        self._fail = predicates.clauses.lexer.fail
        self._formula = variables_of(clause.formulas)
        goals = predicates.unfolded(clause.goals)
        values = self._own_values(goals)
        self._goals = [_instance(goal, values) for goal in goals]
        self._uses = Counter(name for goal in self._goals for name in set(_names(goal)))
        self._bound: set[str] = set()
        self._found = Conditions()

    def conditions(self) -> Conditions:
        """Go through all goals."""
        for goal in self._goals:
            if not goal.sign:
                self._call(goal.term)
            elif goal.right:
                (self._equal if goal.sign == "=" else self._different)(goal.term, goal.right)
        for name in self._formula:
            if name not in self._bound or name == "_":
                self._fail(f"{name} is bound by no goal of the constraint", self._clause.start)
        return self._found

    def _own_values(self, goals: Iterable[Goal]) -> dict[str, Term]:
        """The constants of variables that are not in the formulas and are set equal to one."""
        pairs = [(goal.term, goal.right) for goal in goals if goal.sign == "=" and goal.right]
        pairs += [(right, left) for left, right in pairs]
        return {
            left.text: right
            for left, right in reversed(pairs)
            if left.kind == "variable" and left.text not in self._formula and is_constant(right)
        }

    def _call(self, call: Term) -> None:
        """A call admits the listed tuples that fit it, each once."""
        for each in call.arguments:
            self._check_argument(each)
        arguments = list(enumerate(call.arguments))
        first = {each.text: place for place, each in reversed(arguments) if each.kind == "variable"}
        kept = {name: place for name, place in first.items() if name in self._formula}
        names = tuple(name for name in self._formula if name in kept)
        rows: dict[tuple[str, ...], None] = {}
        for row in self._predicates.rows(call):
            if all(self._fits(row, place, each, first) for place, each in arguments):
                rows[tuple(row[kept[name]] for name in names)] = None
        if not rows:
            self._fail(
                f"no fact for {call.shown} fits this goal, so the parfactor stands for nothing",
                call.token,
            )
        self._bound.update(names)
        if names:
            places = tuple((call.key, kept[name]) for name in names)
            self._found.listed.append(AdmittedTuples(names, places, tuple(rows)))

    def _check_argument(self, term: Term) -> None:
        if not is_constant(term) and term.kind != "variable":
            self._fail("a goal is called with variables and constants", term.token)
        own = term.kind == "variable" and term.text != "_" and term.text not in self._formula
        if own and self._uses[term.text] > 1:
            self._fail(
                f"{term.text} joins goals, but is in no formula; "
                "list the tuples they have in common",
                term.token,
            )

    def _fits(self, row: tuple[str, ...], place: int, term: Term, first: dict[str, int]) -> bool:
        if term.kind == "variable":
            return term.text == "_" or row[place] == row[first[term.text]]
        return row[place] == term.text

    def _equal(self, left: Term, right: Term) -> None:
        if left.kind != "variable":
            left, right = right, left
        if left.kind == "variable" and is_constant(right):
            self._found.equal.append((left.text, right.text))
            self._bound.add(left.text)
        elif not (is_constant(left) and left.text == right.text and is_constant(right)):
            self._fail("an equality is X = eve; for X = Y write X in both places", left.token)

    def _different(self, left: Term, right: Term) -> None:
        if left.kind != "variable":
            left, right = right, left
        for each in (left, right):
            if not is_constant(each) and each.text not in self._bound:
                self._fail(
                    f"{each.text} is not bound before this inequality, or is in no formula",
                    each.token,
                )
        if left.kind == "variable":
            self._found.different.append((left.text, right))
        elif left.text == right.text:
            self._fail(
                f"{left.text} never differs from itself, so the parfactor stands for nothing",
                left.token,
            )


def _names(goal: Goal) -> list[str]:
    """The variables in a goal."""
    sides = [goal.term, goal.right] if goal.right else [goal.term]
    return [each.text for each in sides if each.kind == "variable"] + variables_of(sides)
