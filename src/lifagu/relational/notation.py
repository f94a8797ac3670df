"""Relational models as people read them: the paper's notation, in sections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from lifagu.basics.arrays import Floats, Ints
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.ranges import Labels
from lifagu.relational.domains import Domain
from lifagu.relational.parfactors import Parfactor
from lifagu.relational.relations import Relation
from lifagu.relational.terms import Constraint, Membership

MOST_LINES = 40  # of one section
MOST_SHOWN = 8  # names or tuples in one line
MOST_POTENTIALS = 32


def some(items: Iterable[str], total: int, limit: int = MOST_SHOWN) -> str:
    """The first few of many.

    >>> some(["a", "b", "c"], 3, limit=2)
    'a, b, … (3 in all)'
    """
    return ", ".join(islice(items, limit)) + (f", … ({total} in all)" if total > limit else "")


def domain_lines(domains: Sequence[Domain]) -> Iterator[str]:
    """``|X| = 2: alice, bob``; numbered domains by their size alone."""
    for each in domains:
        constants = f": {some(each.constants, each.size)}" if each.constants else ""
        yield f"|{each.name}| = {each.size}{constants}"


def relation_lines(relations: Sequence[Relation]) -> list[str]:
    """``Epid, Sick(X) ∈ {true, false}``, relations with one range together."""
    by_range: dict[Labels, list[str]] = {}
    for each in relations:
        name = f"{each.name}({','.join(each.of)})" if each.of else each.name
        by_range.setdefault(each.range, []).append(name)
    return [
        f"{some(names, len(names), MOST_LINES)} ∈ {{{some(labels, len(labels))}}}"
        for labels, names in by_range.items()
    ]


def parfactor_lines(parfactors: Sequence[Parfactor]) -> tuple[list[str], list[str]]:
    """``g1 = φ1(Travel(X), Epid)``, constraints behind a bar, and tables ``φ1 = …``, each once."""
    number: dict[bytes, int] = {}
    lines: list[str] = []
    tables: list[str] = []
    for each in parfactors:
        key = b"" if each.table is None else each.table.tobytes()
        if key not in number:
            number[key] = len(tables)
            shown = "unknown" if each.table is None else _potentials(each.table)
            tables.append(f"φ{len(tables)} = {shown}")
        where = f" | {', '.join(map(_constraint, each.where))}" if each.where else ""
        lines.append(f"{each.name} = φ{number[key]}({', '.join(map(str, each.arguments))}){where}")
    return lines, tables


def _potentials(table: Floats) -> str:
    return some((f"{value:.6g}" for value in table.tolist()), len(table), MOST_POTENTIALS)


def _constraint(constraint: Constraint) -> str:
    """X ≠ Y, X = eve, or a list of tuples, the first of many.

    >>> from lifagu.relational.terms import Logical
    >>> _constraint(Membership((Logical("X"), Logical("Y")), (("1", "2"), ("2", "1"))))
    '(X,Y) ∈ {(1,2), (2,1)}'
    """
    if not isinstance(constraint, Membership):
        return str(constraint).replace("!=", "≠")
    names = ",".join(map(str, constraint.variables))
    single = len(constraint.variables) == 1
    rows = (row[0] if single else f"({','.join(row)})" for row in constraint.rows[:MOST_SHOWN])
    sign = "∈" if constraint.inside else "∉"
    return f"{names if single else f'({names})'} {sign} {{{some(rows, len(constraint.rows))}}}"


def ground_lines(part: FactorGraph, plain: Ints) -> Iterator[str]:
    """The variables that are of no relation, together, and the ground factors."""
    if len(plain):
        names = (part.variable_names[each] for each in plain[:MOST_SHOWN].tolist())
        yield some(names, len(plain))
    for each in part.factors:
        yield f"{each.name}({', '.join(each.arguments)})" + ("" if each.known else " unknown")


def sections(parts: Iterable[tuple[str, Iterable[str], int]]) -> str:
    """Sections (title, lines, how many) below one another, titles on the left, long ones cut."""
    shown = []
    for title, lines, total in parts:
        for place, line in enumerate(islice(lines, MOST_LINES)):
            shown.append(f"{title if place == 0 else '':13}{line}")
        shown += [f"{'':13}… and {total - MOST_LINES} more"] if total > MOST_LINES else []
    return "\n".join(shown)
