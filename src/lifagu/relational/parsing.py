"""From text to terms: ``Friends(X,eve)``, ``#X[Com(X)]``, ``X != eve``, ``Smokes(2..3)``."""

from __future__ import annotations

import json
import re

from lifagu.basics.inputs import is_text
from lifagu.errors import ModelError
from lifagu.relational.spans import Span
from lifagu.relational.terms import (
    RELATION_NAME,
    SPAN,
    WORD,
    Argument,
    Atom,
    Comparison,
    CountingFormula,
    Logical,
    Term,
)

_TERM = rf'"(?:[^"\\]|\\.)*+"|{WORD}'
_LIST = re.compile(rf"\s*(?:(?:{_TERM})\s*(?:,\s*(?:{_TERM})\s*)*+)?")
_ATOM = re.compile(r'\s*+([^()\[\]#"]*[^()\[\]#"\s])\s*\((.*)\)\s*', re.DOTALL)
_COUNT = re.compile(r"\s*#\s*([^\s\[\]]+)\s*\[(.*)\]\s*", re.DOTALL)
_COMPARISON = re.compile(rf"\s*({_TERM})\s*(!=|=)\s*({_TERM})\s*")


def parse_argument(text: str) -> Argument:
    """An argument of a parfactor from its text.

    >>> parse_argument("Friends(X, eve)")
    Atom(relation='Friends', terms=(Logical(name='X'), 'eve'))
    >>> print(parse_argument("#X[Com(X)]"), parse_argument("Epid"))
    #X[Com(X)] Epid
    """
    if not text.lstrip().startswith("#"):
        return _atom(text)
    match = _COUNT.fullmatch(text)
    variable = parse_term(match[1]) if match else ""
    if match is None or not isinstance(variable, Logical):
        raise ModelError(f"'{text}' is not a counting formula; write it as #X[Com(X)]")
    return CountingFormula(variable, _atom(match[2]))


def _atom(text: str) -> Atom:
    match = _ATOM.fullmatch(text)
    if match:
        return Atom(match[1], tuple(map(parse_term, _split(match[2], text))))
    if not RELATION_NAME.fullmatch(text.strip()):
        raise ModelError(
            f"'{text}' cannot be read; write a variable's name, Friends(X,eve) or #X[Com(X)]"
        )
    return Atom(text.strip())


def _split(inner: str, whole: str) -> list[str]:
    if not _LIST.fullmatch(inner):
        raise ModelError(
            f"'{whole}' cannot be read; between the parentheses stand logical variables and "
            "constants with commas between them, unusual constants in quotes as in "
            'Sick("Eve, the first")'
        )
    return re.findall(_TERM, inner)


def parse_term(text: str) -> Term:
    """A logical variable or a constant from its text.

    >>> parse_term("X"), parse_term("eve"), parse_term('"Eve"')
    (Logical(name='X'), 'eve', 'Eve')
    """
    if text.startswith('"'):
        return _unquoted(text)
    return Logical(text) if text[:1].isupper() else text


def _unquoted(text: str) -> str:
    try:
        found = str(json.loads(text))
    except json.JSONDecodeError:
        found = "\0"
    if not is_text(found):
        raise ModelError(f"{text} is not a text in JSON's quotes")
    return found


def parse_comparison(text: str) -> Comparison:
    """An inequality or equality from its text; the constant may stand on either side.

    >>> parse_comparison("eve != X")
    Comparison(left=Logical(name='X'), right='eve', equal=False)
    """
    match = _COMPARISON.fullmatch(text)
    if match is None:
        raise ModelError(f"'{text}' cannot be read; write X != Y, X != eve or X = eve")
    left, right = parse_term(match[1]), parse_term(match[3])
    if not isinstance(left, Logical):
        left, right = right, left
    if not isinstance(left, Logical):
        raise ModelError(
            f"'{text}' compares two constants; "
            "a word in lower case is a constant, X a logical variable"
        )
    return Comparison(left, right, match[2] == "=")


def parse_ground(text: str) -> tuple[str, tuple[str | Span, ...]] | None:
    """The relation and constants, or ranges of constants, of a ground name; None if it is none.

    >>> parse_ground("Friends(Eve, 1..3)"), parse_ground("Epid")
    (('Friends', ('Eve', (1, 3))), None)
    """
    match = _ATOM.fullmatch(text)
    if match is None or not _LIST.fullmatch(match[2]):
        return None
    return match[1], tuple(map(_constant_or_span, re.findall(_TERM, match[2])))


def _constant_or_span(text: str) -> str | Span:
    if text.startswith('"'):
        return _unquoted(text)
    span = SPAN.fullmatch(text)
    return (int(span[1]), int(span[2])) if span else text
