"""Relational models with counting formulas, each with the closed form of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifagu import ParfactorGraph
from research.bench.checked import Asked, drawn
from research.bench.relational_models import Logs, log_choose, log_sum, logs_of

Table = NDArray[np.float64]
Line = tuple[list[str], Any, list[str]]  # arguments, table, constraints


def modelled(
    domains: Mapping[str, int], relations: Mapping[str, str], lines: list[Line]
) -> ParfactorGraph:
    """A model of relations with two values, given as name: "Domain Domain"."""
    building = ParfactorGraph.build()
    for name, size in domains.items():
        building = building.domain(name, size)
    for name, of in relations.items():
        building = building.relation(name, *of.split())
    for number, (arguments, table, where) in enumerate(lines):
        building = building.parfactor(f"g{number}", arguments, table, where=where)
    return building.model()


def one_of(total: Logs) -> Logs:
    """Log weights of one individual's values, given those of how many of all are true."""
    ways = log_choose(len(total) - 2)
    return np.array([log_sum(ways + total[:-1]), log_sum(ways + total[1:])])


def ordered_pairs(n: int, table: Any) -> Logs:
    """Log weight of so many true ones under a table on all ordered pairs of individuals."""
    pair, true = logs_of(table), np.arange(n + 1, dtype=np.longdouble)
    false = n - true
    both = true * (true - 1) * pair[1, 1] + false * (false - 1) * pair[0, 0]
    return np.asarray(both + true * false * (pair[0, 1] + pair[1, 0]))


def _beside(n: int, random: np.random.Generator, pairs: bool) -> tuple[list[Line], Logs]:
    """A parfactor A(X), A(Y) for all X ≠ Y, or none, and what it weighs."""
    if not pairs:
        return [], np.zeros(n + 1, dtype=np.longdouble)
    table = drawn(random, 2, 2, strength=1 / n)
    return [(["A(X)", "A(Y)"], table, ["X != Y"])], ordered_pairs(n, table)


def counted(n: int, random: np.random.Generator, pairs: bool = False) -> Asked:
    """#X[A(X)] alone: a table for how many are true; the first entry is for all of them."""
    (more, weight), table = _beside(n, random, pairs), drawn(random, n + 1)
    model = modelled({"P": n}, {"A": "P"}, [(["#X[A(X)]"], table, []), *more])
    return Asked(model, ("A(1)",), lambda: one_of(logs_of(table[::-1]) + weight))


def counted_with(n: int, random: np.random.Generator, pairs: bool = False) -> Asked:
    """#X[A(X)], E: how many are true decides about something common."""
    (more, weight), table = _beside(n, random, pairs), drawn(random, n + 1, 2)
    model = modelled({"P": n}, {"A": "P", "E": ""}, [(["#X[A(X)]", "E"], table, []), *more])
    total = log_choose(n) + weight
    return Asked(
        model, ("E",), lambda: np.array([log_sum(total + logs_of(table[::-1, e])) for e in (0, 1)])
    )


def others_counted(n: int, random: np.random.Generator, pairs: bool = False) -> Asked:
    """#Y[A(Y)], S(X) for all Y ≠ X: how many of the others are true decides about each."""
    (more, weight), table = _beside(n, random, pairs), drawn(random, n, 2)
    model = modelled(
        {"P": n}, {"A": "P", "S": "P"}, [(["#Y[A(Y)]", "S(X)"], table, ["Y != X"]), *more]
    )
    return Asked(model, ("S(1)",), partial(others_counted_closed, n, table, weight))


def others_counted_closed(n: int, table: Table, weight: Logs) -> Logs:
    """Σ over how many are true, and over whether the one who is asked is."""
    by_true = logs_of(table[::-1])  # of the others
    either, true = np.logaddexp(by_true[:, 0], by_true[:, 1]), np.arange(n, dtype=np.longdouble)
    # by how many of all are true, of one who is not; the last is unused
    sees = np.concatenate([either, either[-1:]])
    seen = np.concatenate([either[:1], either])  # and of one who is
    weights = []
    for value in (0, 1):
        if_false = weight[:-1] + by_true[:, value] + (n - 1 - true) * sees[:-1] + true * seen[:-1]
        if_true = weight[1:] + by_true[:, value] + (n - 1 - true) * sees[1:] + true * seen[1:]
        weights.append(
            np.logaddexp(
                log_sum(log_choose(n - 1) + if_false), log_sum(log_choose(n - 1) + if_true)
            )
        )
    return np.array(weights)


def rows_counted(n: int, random: np.random.Generator, exactly: bool, two_domains: bool) -> Asked:
    """#Y[F(X,Y)] for every X: for some Y, or for exactly one, F(X,Y) is true."""
    length = n // 2 if two_domains else n
    own, table = drawn(random, 2), np.zeros(length + 1)
    table[length - 1 if exactly else slice(0, length)] = 1
    domains, of = ({"P": n, "D": length}, "P D") if two_domains else ({"P": n}, "P P")
    model = modelled(domains, {"F": of}, [(["#Y[F(X,Y)]"], table, []), (["F(X,Y)"], own, [])])
    return Asked(model, ("F(1,2)",), partial(rows_counted_closed, n, table, own))


def rows_counted_closed(n: int, table: Table, own: Table) -> Logs:
    """Σ over how many in a row are true, to the power of how many rows there are."""
    length, ones = len(table) - 1, logs_of(own)
    true = np.arange(length + 1, dtype=np.longdouble)
    row = one_of(logs_of(table[::-1]) + true * ones[1] + (length - true) * ones[0])
    return np.asarray(row + (n - 1) * log_sum(row))


def many_labels(labels: int, random: np.random.Generator) -> Asked:
    """Three individuals with many labels, counted; two are observed with the first label."""
    names = [f"l{number}" for number in range(labels)]
    histograms = sorted(  # by counts: what has more of the first label comes last
        combinations_with_replacement(range(labels), 3),
        key=lambda held: np.bincount(held, minlength=labels).tolist(),
    )
    table = drawn(random, len(histograms))
    model = (
        ParfactorGraph.build()
        .domain("P", 3)
        .relation("A", "P", range=names)
        .parfactor("g", ["#X[A(X)]"], table)
        .model()
    )
    closed = lambda: logs_of([table[histograms.index((0, 0, label))] for label in range(labels)])  # noqa: E731
    return Asked(model, ("A(1)",), closed, {"A(2)": "l0", "A(3)": "l0"})
