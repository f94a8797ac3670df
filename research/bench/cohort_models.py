"""Individuals in hidden cohorts with holes, and the same with all tables known, by arrays.

Each individual has Age, Travel, Sick, Treat and Stay, and all share Epid. A place has a few tables,
and a cohort has one of them: none but that of Age is free of it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lifagu import FactorGraph
from lifagu.graph.supports import Supports
from lifagu.graph.tables import GivenTables

COHORTS = np.array([0.3, 0.2, 0.15, 0.15, 0.1, 0.1])
SIZES = {"Age": 3, "Travel": 2, "Sick": 2, "Treat": 2, "Stay": 3}
OWN, SHARED = list(SIZES), "Epid"
RECORDS = 50  # behind each row of an estimated table
DEPENDENCE = 1.5  # of all individuals together on Epid


class Place(NamedTuple):
    """Arguments of a factor, the last being what it is about, and how many tables there are."""

    arguments: tuple[str, ...]
    tables: int


PLACES = (
    Place(("Age",), 4),
    Place(("Age", "Travel"), 3),
    Place(("Travel", SHARED, "Sick"), 3),
    Place(("Sick", "Treat"), 3),
    Place(("Sick", "Stay"), 3),
)
DISTRACTOR = Place(("Stay",), 0)


class Whole(NamedTuple):
    """A graph with all tables, and the same with holes."""

    known: FactorGraph
    holes: FactorGraph


def individuals(n: int, share: float, sort: str = "exact", seed: int = 0) -> Whole:
    """n individuals of whose tables a share is unknown.

    sort: "exact" has a few tables in each place, not normalised; "own" also a table of one's own
    each, never unknown; "estimated" has tables that are counted from records, with their support.

    >>> individuals(100, 0.1).holes
    <FactorGraph: 501 variables, 501 factors (50 unknown), 17 distinct tables>
    """
    rng = np.random.default_rng(seed)
    cohort = rng.choice(len(COHORTS), n, p=COHORTS)
    places = (*PLACES, DISTRACTOR) if sort == "own" else PLACES
    drawn = [_tables(place, cohort, n, rng) for place in places]
    if sort == "estimated":
        drawn = [_estimated(each, rng) for each in drawn]
    hidden = [place.tables > 0 and rng.random(n) < share for place in places]
    holes = np.concatenate([np.broadcast_to(each, n) for each in hidden])
    arguments = [_scopes(place, n) for place in places]
    # the factor of Epid comes last, with the last table
    lengths = np.repeat([len(place.arguments) for place in places], n)
    counts = np.concatenate([[0], np.cumsum([len(each[0]) for each in drawn])])
    flat = np.concatenate([*(each[0].reshape(-1) for each in drawn), [0.6, 0.4]])
    sizes = np.repeat([each[0][0].size for each in drawn], np.diff(counts))
    numbers = np.concatenate(
        [first + each[1] for first, each in zip(counts, drawn, strict=False)] + [counts[-1:]]
    )
    unknown = np.append(holes, False)
    common: dict[str, Any] = {
        "offsets": np.concatenate([[0], np.cumsum(np.append(lengths, 1))]),
        "arguments": np.concatenate([*(each.reshape(-1) for each in arguments), [0]]),
        "tables": GivenTables(flat, np.concatenate([[0], np.cumsum(np.append(sizes, 2))])),
        **_background(n),
    }
    graphs = [
        FactorGraph.from_arrays(factor_tables=each, support=_supports(sort, n, each < 0), **common)
        for each in (numbers, np.where(unknown, -1, numbers))
    ]
    return Whole(*graphs)


def _tables(
    place: Place, cohort: np.ndarray, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Tables of a place, and which each individual has."""
    shape = tuple(SIZES.get(name, 2) for name in place.arguments)
    count = place.tables or n
    logs = rng.normal(size=(count, *shape))
    if SHARED in place.arguments:
        axis = 1 + place.arguments.index(SHARED)
        apart = (logs - logs.mean(axis=axis, keepdims=True)) * DEPENDENCE / np.sqrt(n)
        logs = logs.mean(axis=axis, keepdims=True) + apart
    tables = np.exp(logs)
    if SHARED in place.arguments:  # else it would depend on how many there are
        tables /= tables.sum(axis=-1, keepdims=True)
    if not place.tables:
        return tables, np.arange(n)
    if place is PLACES[0]:
        return tables, rng.choice(count, n, p=[0.4, 0.3, 0.2, 0.1])
    return tables, rng.permutation(np.arange(len(COHORTS)) % count)[cohort]


def _estimated(
    drawn: tuple[np.ndarray, np.ndarray], rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Everybody's table as counted from records of it, given all arguments but the last."""
    tables, which = drawn
    true = tables / tables.sum(axis=-1, keepdims=True)
    counts = rng.multinomial(RECORDS, true[which]) + 1.0
    return counts / counts.sum(axis=-1, keepdims=True), np.arange(len(which))


def _supports(sort: str, n: int, unknown: np.ndarray) -> Supports | None:
    """The records behind all tables; nothing behind unknown ones, and that of Epid."""
    if sort != "estimated":
        return None
    rows = [np.prod([SIZES.get(each, 2) for each in place.arguments[:-1]]) for place in PLACES]
    given = [2 ** (len(place.arguments) - 1) - 1 for place in PLACES]
    estimated = ~unknown & (np.arange(len(unknown)) < len(PLACES) * n)
    lengths = np.append(np.repeat(np.array(rows, dtype=np.int64), n), 0) * estimated
    masks = np.append(np.repeat(given, n), 0) * estimated
    priors = np.cumsum(np.append(0, estimated))
    ends = np.cumsum(np.append(0, lengths))
    return Supports(ends, np.full(ends[-1], RECORDS), masks, priors, np.ones(priors[-1]))


def _scopes(place: Place, n: int) -> np.ndarray:
    """The variables of everybody's factor in a place; Epid is the first of all."""
    columns = [
        np.zeros(n, dtype=np.int64)
        if name == SHARED
        else 1 + len(OWN) * np.arange(n) + OWN.index(name)
        for name in place.arguments
    ]
    return np.column_stack(columns)


def _background(n: int) -> dict[str, Any]:
    """Ranges, kinds and individuals of all variables."""
    three = [SIZES[name] == 3 for name in OWN]
    return {
        "ranges": [["false", "true"], ["low", "middle", "high"]],
        "variable_ranges": np.append(0, np.tile(three, n)),
        "kinds": [SHARED, *OWN],
        "variable_kinds": np.append(0, np.tile(1 + np.arange(len(OWN)), n)),
        "individuals": [f"p{person}" for person in range(n)],
        "individual_offsets": np.append(0, np.arange(len(OWN) * n + 1)),
        "variable_individuals": np.repeat(np.arange(n), len(OWN)),
    }
