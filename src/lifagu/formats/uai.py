"""UAI model files (``.uai``) and evidence files (``.evid``) of the UAI inference competitions.

Variables are named x0, x1, …, their values 0, 1, …, factors f0, f1, …. Tables are row-major, the
last variable of a scope fastest. MARKOV and BAYES files differ in nothing that matters here. The
format has no unknown factors.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import numpy as np

from lifagu.basics.arrays import Floats
from lifagu.errors import FormatError, listed
from lifagu.formats.budget import Budget
from lifagu.formats.files import number_text
from lifagu.formats.tokens import Tokens
from lifagu.graph.evidence import Evidence, Observation
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.validation import MOST_AXES


def parse_uai(text: str, place: str = "<text>", budget: Budget | None = None) -> FactorGraph:
    """A factor graph from the text of a UAI file.

    >>> parse_uai("MARKOV 2  2 3  1  2 0 1  6  1 2 3 4 5 6")
    <FactorGraph: 2 variables, 1 factor, 1 distinct table>
    """
    tokens = Tokens(text, place)
    header = tokens.take(1, "MARKOV or BAYES")[0]
    if header.upper() not in ("MARKOV", "BAYES"):
        tokens.fail(f"the file should begin with MARKOV or BAYES, not '{header}'")
    sizes = tokens.integers(tokens.integer("the number of variables"), "a range size")
    if 0 in sizes:
        tokens.fail(
            f"variable x{sizes.index(0)} has an empty range",
            tokens.next - len(sizes) + sizes.index(0),
        )
    start = tokens.next - len(sizes)
    pay_for_ranges(
        budget or Budget(len(text)),
        dict(enumerate(sizes)),
        lambda variable: tokens.at(start + variable),
    )
    scopes = [
        _scope(tokens, number, len(sizes))
        for number in range(tokens.integer("the number of factors"))
    ]
    tables = []
    for number, scope in enumerate(scopes):
        span = math.prod(sizes[variable] for variable in scope)
        given = tokens.integer(f"the number of potentials of factor f{number}")
        if given != span:
            tokens.fail(
                f"factor f{number} has {given} potentials but its {len(scope)} arguments "
                f"span {span} states"
            )
        tables.append(tokens.potentials(span, f"factor f{number}"))
        if not tables[-1].any():
            tokens.fail(f"factor f{number} has only zero potentials; at least one must be positive")
    tokens.end()
    return numbered_graph(sizes, scopes, tables)


def pay_for_ranges(budget: Budget, sizes: Mapping[int, int], at: Callable[[int], str]) -> None:
    """Pay for the ranges that `numbered_graph` will make, one of each size.

    sizes: by variable; at: where that of a variable is given.
    """
    first: dict[int, int] = {}
    for variable, size in sizes.items():
        first.setdefault(size, variable)
    for size, variable in first.items():
        budget.labels(partial(at, variable), f"variable x{variable}", size)


def numbered_graph(
    sizes: list[int],
    scopes: list[list[int]],
    tables: Sequence[Floats],
    variable_names: str | list[str] = "x",
) -> FactorGraph:
    """A graph whose values are called 0, 1, …; sizes are the variables' range sizes."""
    distinct = sorted(set(sizes))
    numbers = {size: number for number, size in enumerate(distinct)}
    return FactorGraph.from_arrays(
        ranges=[[str(value) for value in range(size)] for size in distinct],
        variable_ranges=[numbers[size] for size in sizes],
        offsets=np.cumsum([0, *map(len, scopes)]),
        arguments=[variable for scope in scopes for variable in scope],
        tables=tables,
        factor_tables=np.arange(len(scopes)),
        variable_names=variable_names,
    )


def _scope(tokens: Tokens, number: int, variables: int) -> list[int]:
    scope = tokens.integers(
        tokens.integer(f"the arity of factor f{number}"), f"an argument of factor f{number}"
    )
    for variable in scope:
        if variable >= variables:
            tokens.fail(
                f"factor f{number} has the argument {variable}, "
                f"but there are {variables} variables (from 0)"
            )
    check_scope(tokens, number, scope)
    return scope


def check_scope(tokens: Tokens, number: int, scope: list[int]) -> None:
    """A factor has each argument once, and not more of them than a table can have axes."""
    if len(set(scope)) < len(scope):
        variable = next(each for each, count in Counter(scope).items() if count > 1)
        tokens.fail(
            f"factor f{number} has the argument {variable} twice; "
            "give it once, with the table's diagonal"
        )
    if len(scope) > MOST_AXES:
        tokens.fail(
            f"factor f{number} has {len(scope)} arguments, more than the {MOST_AXES} a table may "
            "have; leave out those with a single value"
        )


def format_uai(graph: FactorGraph) -> str:
    """The text of a UAI file for a graph; names and labels become numbers.

    >>> build = FactorGraph.build().variables(["A", "B"])
    >>> print(format_uai(build.factor("f", ["B", "A"], [1, 2, 3, 4.5]).graph()), end="")
    MARKOV
    2
    2 2
    1
    2 1 0
    <BLANKLINE>
    4
    1 2 3 4.5
    """
    tables = known_tables(graph, "UAI")
    scopes = map(graph.scope, range(len(tables)))
    sizes = " ".join(map(str, graph.sizes))
    lines = ["MARKOV", str(len(graph.variable_names)), sizes, str(len(tables))]
    lines += [" ".join(map(str, [len(scope), *scope])) for scope in scopes]
    for table in tables:
        lines += ["", str(table.size), " ".join(map(number_text, table.reshape(-1).tolist()))]
    return "\n".join(lines) + "\n"


def known_tables(graph: FactorGraph, what: str) -> list[Floats]:
    """The tables of all factors; formats without unknown factors refuse a graph that has some."""
    if len(graph.unknown):
        raise unknown_error([graph.factor_names[factor] for factor in graph.unknown[:6]], what)
    return [factor.table for factor in graph.factors if factor.table is not None]


def unknown_error(names: Iterable[str], what: str) -> FormatError:
    """What a format without unknown factors says about some."""
    return FormatError(
        f"{what} has no unknown factors, but {listed(names)} are unknown; "
        "write .json, or give them tables"
    )


def parse_evidence(text: str, place: str = "<text>") -> dict[str, Observation]:
    """Evidence from the text of an ``.evid`` file, in any of its three dialects.

    An odd number of tokens is ``k v s v s …``; an even number begins with a sample count, which
    must be 1; a lone 0 (or nothing at all) means no evidence.

    >>> parse_evidence("2 0 1 5 0") == parse_evidence("1\\n2 0 1 5 0") == {"x0": "1", "x5": "0"}
    True
    """
    tokens = Tokens(text, place)
    numbers = tokens.integers(tokens.left, "an entry")
    if len(numbers) % 2 == 0 and numbers:
        if numbers[0] != 1:
            tokens.fail(
                f"evidence for {numbers[0]} samples; only files with one sample can be read", 0
            )
        numbers = numbers[1:]
    count, pairs = (numbers[0], numbers[1:]) if numbers else (0, [])
    if len(pairs) != 2 * count:
        tokens.fail(
            f"{count} observations are announced, "
            f"but {len(pairs) // 2} pairs of variable and value follow"
        )
    evidence: dict[str, Observation] = {}
    for variable, value in zip(pairs[::2], pairs[1::2], strict=True):
        if evidence.setdefault(f"x{variable}", str(value)) != str(value):
            tokens.fail(f"variable {variable} is observed twice, with different values")
    return evidence


def format_evidence(graph: FactorGraph, evidence: Evidence) -> str:
    """The text of an ``.evid`` file: count, then pairs of variable and value."""
    if len(evidence.soft_variables):
        name = graph.variable_names[int(evidence.soft_variables[0])]
        raise FormatError(
            f"UAI evidence files hold observed values only, but '{name}' has soft evidence; "
            "write .json"
        )
    pairs = [
        f"{variable} {graph.ranges.to_canonical(int(graph.variable_declared[variable]))[value]}"
        for variable, value in zip(evidence.variables, evidence.values, strict=True)
    ]
    return " ".join([str(len(pairs)), *pairs]) + "\n"
