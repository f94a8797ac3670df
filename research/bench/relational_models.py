"""Relational models of any size, and closed forms of some of their answers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from lifagu import ParfactorGraph
from lifagu.relational.parfactor_graph import Domain, Parfactor, Relation

BOOLEAN = ("true", "false")
Logs = np.ndarray[Any, np.dtype[np.longdouble]]


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


TRAVEL = [[[5.0, 2.0], [3.0, 6.0]], [[4.0, 3.0], [7.0, 8.0]]]
TREAT = [[[3.0, 2.0], [2.0, 3.0]], [[2.0, 3.0], [3.0, 2.0]]]


def epidemic_closed(n: int) -> Logs:
    """Σ over Travel and Treat for each person, to the power of n."""
    travel, treat = np.array(TRAVEL).sum(axis=0), np.array(TREAT).sum(axis=0)  # Sick × Epid
    person = (travel * treat**2).sum(axis=0).astype(np.longdouble)
    return np.asarray(np.log(np.array([0.3, 0.7], dtype=np.longdouble)) + n * np.log(person))


ATTRIBUTES = [[0.501, 0.499], [0.4995, 0.5005]]
SERIES = [[0.6, 0.4], [0.55, 0.45]]


def attributes(n: int) -> ParfactorGraph:
    """Six attributes of a workshop, each with everybody's attendance, which makes a series."""
    names = [f"attr{number}" for number in range(1, 7)]
    return ParfactorGraph(
        (Domain("Person", n),),
        (*map(_relation, names), _relation("series"), _relation("attends", "Person")),
        (
            *(Parfactor.of(f"g{name}", [name, "attends(X)"], ATTRIBUTES) for name in names),
            Parfactor.of("g", ["attends(X)", "series"], SERIES),
        ),
    )


def attributes_closed(n: int) -> Logs:
    """Σ over how many of the six attributes are true; attendance summed out for each person."""
    table, series = (
        np.log(np.array(ATTRIBUTES, dtype=np.longdouble)),
        np.log(np.array(SERIES, dtype=np.longdouble)),
    )
    ways = log_choose(6)
    terms = []
    for true in range(7):
        attends = true * table[0] + (6 - true) * table[1]
        terms.append(ways[true] + n * np.logaddexp(attends[0] + series[0], attends[1] + series[1]))
    return np.array([log_sum(np.array(terms)[:, value]) for value in range(2)])


COMPETING = [[1.0, 1.0001], [1.0002, 0.9999]]


def competing(people: int, workshops: int) -> ParfactorGraph:
    """Hot workshops compete for persons; attendance makes a series."""
    return ParfactorGraph(
        (Domain("Person", people), Domain("Workshop", workshops)),
        (_relation("hot", "Workshop"), _relation("attends", "Person"), _relation("series")),
        (
            Parfactor.of("g1", ["hot(W)", "attends(X)"], COMPETING),
            Parfactor.of("g2", ["attends(X)", "series"], SERIES),
        ),
    )


def competing_closed(people: int, workshops: int) -> Logs:
    """Σ over how many workshops are hot; attendance summed out for each person."""
    table, series = (
        np.log(np.array(COMPETING, dtype=np.longdouble)),
        np.log(np.array(SERIES, dtype=np.longdouble)),
    )
    hot = np.arange(workshops + 1, dtype=np.longdouble)
    attends = hot[:, None] * table[0] + (workshops - hot)[:, None] * table[1]
    person = np.stack(
        [
            np.logaddexp(attends[:, 0] + series[0, v], attends[:, 1] + series[1, v])
            for v in range(2)
        ],
        1,
    )
    return np.array(
        [log_sum(log_choose(workshops) + people * person[:, value]) for value in range(2)]
    )


FRIENDS = [[[1.00002, 1.0], [1.0, 1.00001]], [[1.0, 1.0], [1.0, 1.0]]]  # friends, smokes, smokes
HARM = [[4.0, 1.0], [1.0, 3.0]]


def smokers(n: int, apart: bool) -> ParfactorGraph:
    """Friends have similar habits, smoking makes ill."""
    return ParfactorGraph(
        (Domain("Person", n),),
        (
            _relation("smokes", "Person"),
            _relation("cancer", "Person"),
            _relation("friends", "Person", "Person"),
        ),
        (
            Parfactor.of("g0", ["smokes(X)"], [1.0, 1.2]),
            Parfactor.of("g1", ["smokes(X)", "cancer(X)"], HARM),
            Parfactor.of(
                "g2",
                ["friends(X,Y)", "smokes(X)", "smokes(Y)"],
                FRIENDS,
                ["X != Y"] if apart else [],
            ),
        ),
    )


def smokers_closed(n: int, apart: bool, observed: int = 0) -> Logs:
    """Σ over how many of the others smoke, for each value of the one who is asked."""
    own = np.log(np.array([1.0, 1.2], dtype=np.longdouble)) + np.log(
        np.array(HARM, dtype=np.longdouble).sum(axis=1)
    )
    pair = _relative_logs(
        [[Fraction(FRIENDS[0][a][b]) + Fraction(FRIENDS[1][a][b]) for b in (0, 1)] for a in (0, 1)]
    )
    own = own if apart else own + np.diag(pair)
    free = n - observed - 1
    others = np.arange(free + 1, dtype=np.longdouble)
    weights = []
    for asked in range(2):
        true, false = others + observed + (asked == 0), free - others + (asked == 1)
        total = log_choose(free) + true * own[0] + false * own[1]
        total = total + true * (true - 1) * pair[0, 0] + false * (false - 1) * pair[1, 1]
        weights.append(log_sum(total + true * false * (pair[0, 1] + pair[1, 0])))
    return np.array(weights)


def pairs(n: int) -> ParfactorGraph:
    """Competence with three values, compared for all pairs, and a review."""
    return ParfactorGraph(
        (Domain("Employee", n),),
        (Relation("comp", ("Employee",), ("low", "medium", "high")), _relation("rev")),
        (
            Parfactor.of("g0", ["comp(E)"], [1, 2, 3]),
            Parfactor.of(
                "g1",
                ["comp(E)", "comp(F)"],
                [1, 1.01, 0.98, 1, 0.99, 1.02, 1.01, 0.99, 1],
                ["E != F"],
            ),
            Parfactor.of("g2", ["comp(E)", "rev"], [1, 1.02, 1.01, 1, 1, 0.97]),
        ),
    )


ASTHMA = [[[1.003, 1.0], [1.0, 1.0]], [[1.001, 1.0], [1.0, 1.0]]]  # asthma, friends, smokes


def asthma(n: int) -> ParfactorGraph:
    """Those with asthma have fewer friends who smoke, themselves included."""
    return ParfactorGraph(
        (Domain("Person", n),),
        (
            _relation("asthma", "Person"),
            _relation("smokes", "Person"),
            _relation("friends", "Person", "Person"),
        ),
        (
            Parfactor.of("g0", ["asthma(X)"], [1.0, 3.0]),
            Parfactor.of("g1", ["smokes(X)"], [1.0, 2.0]),
            Parfactor.of("g2", ["friends(X,Y)"], [1.0, 4.0]),
            Parfactor.of("g3", ["asthma(X)", "smokes(X)"], [1.0, 2.0, 2.0, 1.0]),
            Parfactor.of("g4", ["asthma(X)", "friends(X,Y)", "smokes(Y)"], ASTHMA),
        ),
    )


def asthma_closed(n: int) -> Logs:
    """Σ over how many smoke; given that, persons are independent of each other."""
    friends = np.array([1.0, 4.0], dtype=np.longdouble)
    # asthma × smokes
    link = np.log((np.array(ASTHMA, dtype=np.longdouble) * friends[None, :, None]).sum(axis=1))
    own = np.log(
        np.array([[1.0, 2.0], [2.0, 1.0]], dtype=np.longdouble)
        * np.array([[1.0], [3.0]])
        * np.array([1.0, 2.0])
    )
    smoke = np.arange(n + 1, dtype=np.longdouble)
    # count × asthma
    everybody = smoke[:, None] * link[None, :, 0] + (n - smoke)[:, None] * link[None, :, 1]
    person = everybody[:, :, None] + own[None]  # count × asthma × smokes
    both = np.logaddexp(person[:, 0], person[:, 1])  # count × smokes
    weights = []
    logs = log_factorials(n)
    for asked in range(2):
        parts = []
        for habit in range(2):
            true, false = smoke - (habit == 0), n - smoke - (habit == 1)
            possible = (true >= 0) & (false >= 0)
            ways = (
                logs[n - 1]
                - logs[np.maximum(true, 0).astype(int)]
                - logs[np.maximum(false, 0).astype(int)]
            )
            total = ways + true * both[:, 0] + false * both[:, 1] + person[:, asked, habit]
            parts.append(log_sum(total[possible]))
        weights.append(np.logaddexp(*parts))
    return np.array(weights)


def _relation(name: str, *of: str) -> Relation:
    return Relation(name, of, BOOLEAN)


def _relative_logs(exact: list[list[Fraction]]) -> Logs:
    """Logs relative to the last entry, without cancelling: 10^12 pairs multiply every error."""
    return np.array([[np.log1p(_long(each / exact[-1][-1] - 1)) for each in row] for row in exact])


def _long(value: Fraction) -> np.longdouble:
    return np.longdouble(value.numerator) / np.longdouble(value.denominator)


def log_factorials(n: int) -> Logs:
    """log k! for k = 0…n."""
    return np.cumsum(np.log(np.maximum(np.arange(n + 1, dtype=np.longdouble), 1)))


def log_choose(n: int) -> Logs:
    """log of n over k for k = 0…n."""
    logs = log_factorials(n)
    return np.asarray(logs[n] - logs - logs[::-1])


def log_sum(values: Logs) -> np.longdouble:
    """log Σ exp."""
    highest = values.max()
    return np.longdouble(highest + np.log(np.exp(values - highest).sum()))


def logs_of(table: Any) -> Logs:
    """Logs in extended precision, those of zeros included."""
    with np.errstate(divide="ignore"):
        return np.log(np.asarray(table, dtype=np.longdouble))
