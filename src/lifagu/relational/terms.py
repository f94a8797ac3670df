"""What stands in models: atoms ``Friends(X,eve)``, counting formulas ``#X[Com(X)]``, constraints.

Inside parentheses a word that begins with an upper-case letter is a logical variable; other words,
numbers and JSON-quoted texts are constants. Names of ground variables hold constants only, whatever
they begin with.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, count

from lifagu.errors import ModelError
from lifagu.relational.domains import ConstantRows, Row

WORD = r'[^\s,()\[\]#"=!<>]+'
SPAN = re.compile(r"([0-9]{1,19})\.\.([0-9]{1,19})")
RELATION_NAME = re.compile(r'[^()\[\]#"]+')


@dataclass(frozen=True)
class Logical:
    """A logical variable: it stands for every constant of its domain."""

    name: str

    def __str__(self) -> str:
        return self.name


Term = Logical | str  # a constant is its text


@dataclass(frozen=True)
class Atom:
    """A relation (or a variable, then without terms) and what stands in its parentheses.

    >>> print(Atom("Friends", (Logical("X"), "eve", "Eve")))
    Friends(X,eve,"Eve")
    """

    relation: str
    terms: tuple[Term, ...] = ()

    def __str__(self) -> str:
        terms = f"({','.join(map(term_text, self.terms))})" if self.terms else ""
        return f"{self.relation}{terms}"

    @property
    def logicals(self) -> tuple[Logical, ...]:
        """The logical variables, by first occurrence."""
        return tuple(dict.fromkeys(term for term in self.terms if isinstance(term, Logical)))


@dataclass(frozen=True)
class CountingFormula:
    """A counting formula: how many of the atom's members take each value of its range."""

    variable: Logical
    atom: Atom

    def __post_init__(self) -> None:
        if self.variable not in self.atom.terms:
            raise ModelError(
                f"'{self}' counts {self.variable}, which does not occur in {self.atom}"
            )

    def __str__(self) -> str:
        return f"#{self.variable}[{self.atom}]"


Argument = Atom | CountingFormula


@dataclass(frozen=True)
class Comparison:
    """``X != Y``, ``X != eve`` or, with `equal`, ``X = eve``."""

    left: Logical
    right: Term
    equal: bool = False

    def __post_init__(self) -> None:
        if self.left == self.right:
            raise ModelError(
                f"'{self}' compares {self.left} with itself; leave it out, or name another variable"
            )
        if self.equal and isinstance(self.right, Logical):
            raise ModelError(
                f"'{self}' sets two logical variables equal; "
                f"write {self.left} in both places instead"
            )

    def __str__(self) -> str:
        return f"{self.left} {'=' if self.equal else '!='} {term_text(self.right)}"


@dataclass(frozen=True)
class Membership:
    """The tuples of constants that logical variables may take, or if not `inside` may not."""

    variables: tuple[Logical, ...]
    rows: Sequence[Row]
    inside: bool = True

    def __post_init__(self) -> None:
        if not self.variables or len(set(self.variables)) < len(self.variables):
            raise ModelError("vars names one or more logical variables, each once")
        for row in self.rows[:1] if isinstance(self.rows, ConstantRows) else self.rows:
            if len(row) != len(self.variables):
                listed = ", ".join(map(str, self.variables))
                raise ModelError(
                    f"({', '.join(row)}) has {len(row)} constants for the variables {listed}"
                )

    def __str__(self) -> str:
        names = ", ".join(map(str, self.variables))
        return f"({names}) {'in' if self.inside else 'not in'} {len(self.rows)} tuples"


Constraint = Comparison | Membership


def constant_text(constant: str) -> str:
    """A constant as it stands in ground names, JSON-quoted where it would not read back.

    >>> [constant_text(each) for each in ("eve", "Eve", "7", "a,b", "1..3")]
    ['eve', 'Eve', '7', '"a,b"', '"1..3"']
    """
    if constant.isascii() and constant.isalnum():  # most are, and that is quickly seen
        return constant
    plain = re.fullmatch(WORD, constant) and not SPAN.fullmatch(constant)
    return constant if plain else json.dumps(constant, ensure_ascii=False)


def term_text(term: Term) -> str:
    """A term in arguments and constraints; constants that look like logicals are quoted."""
    if isinstance(term, Logical):
        return term.name
    return json.dumps(term, ensure_ascii=False) if term[:1].isupper() else constant_text(term)


def is_relation_name(name: str) -> bool:
    """Whether a name can stand before a parenthesis."""
    return RELATION_NAME.fullmatch(name) is not None and name == name.strip()


def check_relation_name(name: str) -> None:
    """Relations have names that can stand before a parenthesis."""
    if not isinstance(name, str) or not is_relation_name(name):
        raise ModelError(
            f'a relation has the name {name!r}; names are non-empty texts without ( ) [ ] # "'
        )


def logical_names(given: Iterable[str]) -> dict[str, Logical]:
    """Logical variables for foreign names: they begin in upper case, and stay apart.

    >>> {name: str(logical) for name, logical in logical_names(["X", "x", "_y", "X"]).items()}
    {'X': 'X', 'x': 'X2', '_y': 'V_y'}
    """
    names = list(dict.fromkeys(given))
    taken = {name for name in names if name[:1].isupper()}
    result = {name: Logical(name) for name in taken}
    for name in names:
        if name not in taken:
            stem = name[0].upper() + name[1:] if name[0].upper().isupper() else f"V{name}"
            names_left = chain([stem], (f"{stem}{number}" for number in count(2)))
            free = next(each for each in names_left if each not in taken)
            result[name] = Logical(free)
            taken.add(free)
    return {name: result[name] for name in names}


def logicals_of(arguments: Iterable[Argument]) -> tuple[tuple[Logical, ...], tuple[Logical, ...]]:
    """The free and the counted logical variables of some arguments, each by first occurrence.

    >>> formula = CountingFormula(Logical("X"), Atom("F", (Logical("X"), Logical("Y"))))
    >>> free, counted = logicals_of([formula])
    >>> [str(each) for each in free], [str(each) for each in counted]
    (['Y'], ['X'])
    """
    free: dict[Logical, None] = {}
    counted: dict[Logical, None] = {}
    for argument in arguments:
        bound = argument.variable if isinstance(argument, CountingFormula) else None
        atom = argument.atom if isinstance(argument, CountingFormula) else argument
        if bound is not None and bound in counted:
            raise ModelError(
                f"{bound} is counted twice; count another logical variable in {argument}"
            )
        free |= dict.fromkeys(each for each in atom.logicals if each != bound)
        counted |= {} if bound is None else {bound: None}
    both = next((each for each in free if each in counted), None)
    if both is not None:
        raise ModelError(
            f"{both} is counted and also stands outside its counting formula; "
            "use two logical variables"
        )
    return tuple(free), tuple(counted)
