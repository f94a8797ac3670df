"""libDAI factor graph files (``.fg``).

Blocks of: number of arguments, their labels, their range sizes, number of listed entries, lines
``index value``. The first argument is fastest; entries that are not listed are zero; ``#`` begins a
comment. Variables are named by their labels (x0, x7, …), values 0, 1, …. The format has no unknown
factors and knows variables only through factors.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from lifagu.basics.arrays import Floats
from lifagu.formats.budget import Budget
from lifagu.formats.files import number_text
from lifagu.formats.tokens import Tokens
from lifagu.formats.uai import check_scope, known_tables, numbered_graph, pay_for_ranges
from lifagu.graph.factor_graph import FactorGraph


def parse_fg(text: str, place: str = "<text>", budget: Budget | None = None) -> FactorGraph:
    """A factor graph from the text of a libDAI file; variables in ascending order of their labels.

    >>> graph = parse_fg("1\\n\\n2\\n4 9\\n2 3\\n2\\n1 5\\n2 7  # entry (1, 0) and entry (0, 1)\\n")
    >>> graph.factors[0].arguments, graph.factors[0].table.tolist()
    (('x4', 'x9'), [[0.0, 7.0, 0.0], [5.0, 0.0, 0.0]])
    """
    tokens, budget = Tokens(text, place, comment="#"), budget or Budget(len(text))
    sizes: dict[int, int] = {}
    scopes, tables = [], []
    for number in range(tokens.integer("the number of factors")):
        arity = tokens.integer(f"the number of arguments of factor f{number}")
        labels = tokens.integers(arity, f"an argument of factor f{number}")
        given = tokens.integers(arity, f"a range size of factor f{number}")
        for label, size in zip(labels, given, strict=True):
            if size == 0 or sizes.setdefault(label, size) != size:
                known = f", but elsewhere {sizes[label]}" if size else "; it must be at least 1"
                tokens.fail(f"variable x{label} has range size {size} in factor f{number}{known}")
        check_scope(tokens, number, labels)
        scopes.append(labels)
        tables.append(_table(tokens, number, given, budget))
    tokens.end()
    pay_for_ranges(budget, sizes, lambda _: place)
    order = sorted(sizes)
    place_of = {label: variable for variable, label in enumerate(order)}
    return numbered_graph(
        [sizes[label] for label in order],
        [[place_of[label] for label in labels] for labels in scopes],
        tables,
        [f"x{label}" for label in order],
    )


def _table(tokens: Tokens, number: int, sizes: list[int], budget: Budget) -> Floats:
    """The listed entries of one factor as a row-major table."""
    where = partial(tokens.at, tokens.next - 1)
    listed = tokens.integer(f"the number of entries of factor f{number}")
    span = budget.table(where, f"factor f{number}", sizes, min(listed, tokens.left // 2))
    flat = np.zeros(span)
    for _ in range(listed):
        index = tokens.integer(f"an index of factor f{number}")
        if index >= span:
            tokens.fail(
                f"factor f{number} lists entry {index}, "
                f"but its arguments span {span} states (from 0)"
            )
        flat[index] = tokens.potentials(1, f"factor f{number}")[0]
    if not flat.any():
        tokens.fail(f"factor f{number} has only zero potentials; at least one must be positive")
    return flat.reshape(sizes, order="F")


def format_fg(graph: FactorGraph) -> str:
    """The text of a libDAI file for a graph; a variable without factors gets a uniform one."""
    blocks = [
        _block(graph, graph.scope(number), table.reshape(-1, order="F"))
        for number, table in enumerate(known_tables(graph, "libDAI's .fg"))
    ]
    for variable in np.flatnonzero(graph.degrees == 0).tolist():
        blocks.append(_block(graph, [variable], np.ones(graph.sizes[variable])))
    return "\n\n".join([str(len(blocks)), *blocks]) + "\n"


def _block(graph: FactorGraph, scope: list[int], potentials: Floats) -> str:
    listed = np.flatnonzero(potentials)
    lines = [
        str(len(scope)),
        " ".join(map(str, scope)),
        " ".join(str(graph.sizes[variable]) for variable in scope),
        str(len(listed)),
        *(f"{index} {number_text(float(potentials[index]))}" for index in listed),
    ]
    return "\n".join(lines)
