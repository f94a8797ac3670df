"""Relational models answered over cells, at growing sizes, beside closed forms summed here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

import lifagu
from lifagu import Domain, Parfactor, ParfactorGraph, Relation
from research.apart import run_apart
from research.bench.measure import Tables, best_time, duration, sized

ABOUT = (
    "One query on a model that is built already. Error: the largest relative difference of the "
    "log odds to a closed form. Ground: the same model grounded and asked, while there are at most "
    "100,000 ground factors."
)
HEAD = ["model", "individuals", "ground factors", "over cells", "ground graph", "error"]
GROUND_UP_TO = 100_000
TRAVEL = [[[5.0, 2.0], [3.0, 6.0]], [[4.0, 3.0], [7.0, 8.0]]]
TREAT = [[[3.0, 2.0], [2.0, 3.0]], [[2.0, 3.0], [3.0, 2.0]]]
PAIR, ALONE = [[1.0, 1.01], [1.02, 0.99]], [1.0, 3.0]


def tables(small: bool, limit: float) -> Tables:
    """What is measured."""
    yield "Growth", HEAD, _rows(small, limit)


def _rows(small: bool, limit: float) -> Iterator[list[str]]:
    families: list[tuple[str, Callable[[int], ParfactorGraph], str, Callable[[int], float]]] = [
        ("epidemic, two treatments", epidemic, "Epid", epidemic_odds),
        ("pairs with a table, X ≠ Y", pairs, "A(1)", pairs_odds),
    ]
    for title, make, asked, closed in families:
        for n in (10, 100) if small else (10, 100, 1_000, 10_000, 100_000, 1_000_000):
            model = make(n)
            factors = 1 + 3 * n if make is epidemic else n * n
            seconds = run_apart(partial(_seconds, model, asked), limit)
            if isinstance(seconds, str):
                yield [title, sized(n), sized(factors), seconds, "–", "–"]
                break
            found = lifagu.query(model, asked).log_probabilities.reshape(-1)
            odds, expected = float(found[1] - found[0]), closed(n)
            error = abs(odds - expected) / max(abs(expected), 1)
            ground: float | str = "–"
            if factors <= GROUND_UP_TO:
                ground = run_apart(partial(_ground, model, asked), limit)
            told = ground if isinstance(ground, str) else duration(ground)
            yield [title, sized(n), sized(factors), duration(seconds), told, f"{error:.0e}"]


def _seconds(model: ParfactorGraph, asked: str) -> float:
    return best_time(lambda: lifagu.query(model, asked))


def _ground(model: ParfactorGraph, asked: str) -> float:
    graph = lifagu.ground(model)
    return best_time(lambda: lifagu.query(graph, asked))


def epidemic(n: int) -> ParfactorGraph:
    """Figure 2 of the paper for n persons and two treatments."""
    return ParfactorGraph(
        (Domain("Person", n), Domain("Drug", 2)),
        (
            _relation("Epid"),
            _relation("Travel", "Person"),
            _relation("Sick", "Person"),
            _relation("Treat", "Person", "Drug"),
        ),
        (
            Parfactor.of("g0", ["Epid"], [0.3, 0.7]),
            Parfactor.of("g1", ["Travel(X)", "Sick(X)", "Epid"], TRAVEL),
            Parfactor.of("g2", ["Treat(X,M)", "Sick(X)", "Epid"], TREAT),
        ),
    )


def epidemic_odds(n: int) -> float:
    """Σ over Travel and Treat for each person, to the power of n."""
    travel, treat = np.array(TRAVEL).sum(axis=0), np.array(TREAT).sum(axis=0)  # Sick × Epid
    person = np.log((travel * treat**2).sum(axis=0).astype(np.longdouble))
    return float(np.log(np.longdouble(7) / 3) + n * (person[1] - person[0]))


def pairs(n: int) -> ParfactorGraph:
    """One table on A(X), A(Y) for all X ≠ Y, and one on each A(X)."""
    return ParfactorGraph(
        (Domain("Person", n),),
        (_relation("A", "Person"),),
        (
            Parfactor.of("pair", ["A(X)", "A(Y)"], PAIR, ["X != Y"]),
            Parfactor.of("alone", ["A(X)"], ALONE),
        ),
    )


def pairs_odds(n: int) -> float:
    """Σ over how many others are of the second label, for each label of one."""
    pair, alone = np.log(np.array(PAIR, dtype=np.longdouble)), np.log(np.array(ALONE))
    others = np.arange(n, dtype=np.longdouble)
    ways = np.cumsum(np.log(np.r_[1, (n - others[1:]) / others[1:]]))
    weights = []
    for label in (0, 1):
        second = others + label
        first = n - second
        total = second * (second - 1) * pair[1, 1] + first * (first - 1) * pair[0, 0]
        total = total + first * second * (pair[0, 1] + pair[1, 0])
        weights.append(np.logaddexp.reduce(ways + total + second * alone[1] + first * alone[0]))
    return float(weights[1] - weights[0])


def _relation(name: str, *of: str) -> Relation:
    return Relation(name, of, ("true", "false"))
