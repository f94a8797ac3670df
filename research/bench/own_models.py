"""Models whose rows have their own tables: individuals around something, in wards, apart; a chain.

Each comes with what is known about it, computed here in plain numpy: each individual by visiting
all states of its six variables for each value of what it shares with others, the chain by walking
along it forward and backward.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifagu import Evidence, FactorGraph
from lifagu.graph.tables import GivenTables
from research.bench.relational_models import Logs

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]
SIZES = (2, 3, 4, 2, 3, 2)  # of an individual's variables
EDGES = ((0, 1), (1, 2), (1, 3), (3, 4), (3, 5), (2, 3))  # a tree, and one edge more
SHARING = (0, 2, 5)  # the variables that are tied to what is shared
# values of what is shared, wards of a hospital, values along a chain
SHARED, WARDS, LINK = (3, 100, 3)
CHUNK = 2_000  # individuals whose states are visited at once


@dataclass(frozen=True)
class Tie:
    """Rows of variables, and their tables: one for each row, or one that all rows have."""

    rows: Rows
    tables: Floats


@dataclass(frozen=True)
class Model:
    """The range size of each variable, what ties them, and what was observed (-1: nothing)."""

    sizes: Rows
    ties: tuple[Tie, ...]
    observed: Rows

    def graph(self) -> FactorGraph:
        """Built from arrays; variables are called x0, x1, … and their labels 0, 1, …"""
        spans, ranges = np.unique(self.sizes, return_inverse=True)
        arity = np.concatenate([np.full(len(tie.rows), tie.rows.shape[1]) for tie in self.ties])
        flat = [tie.tables.reshape(len(tie.tables), -1) for tie in self.ties]
        lengths = np.concatenate([np.full(len(each), each.shape[1]) for each in flat])
        firsts = np.cumsum([0, *map(len, flat)])
        numbers = [
            np.broadcast_to(first + np.arange(len(each)), len(tie.rows))
            for tie, each, first in zip(self.ties, flat, firsts[:-1], strict=True)
        ]
        return FactorGraph.from_arrays(
            ranges=[[str(value) for value in range(span)] for span in spans.tolist()],
            variable_ranges=ranges,
            offsets=np.concatenate([[0], np.cumsum(arity)]),
            arguments=np.concatenate([tie.rows.reshape(-1) for tie in self.ties]),
            tables=GivenTables(
                np.concatenate([each.reshape(-1) for each in flat]),
                np.concatenate([[0], np.cumsum(lengths)]),
            ),
            factor_tables=np.concatenate(numbers),
        )

    @cached_property
    def evidence(self) -> Evidence:
        """What was observed, as arrays."""
        seen = np.flatnonzero(self.observed >= 0)
        return Evidence(seen, self.observed[seen])

    @property
    def entries(self) -> int:
        """How many entries the tables of all rows have together once observed values are fixed."""
        left = np.where(self.observed < 0, self.sizes, 1)
        return sum(int(left[tie.rows].prod(1).sum()) for tie in self.ties)

    def log_weight(self, values: Rows) -> float:
        """The log of an assignment's weight."""
        total = np.longdouble(0)
        for tie in self.ties:
            places = np.ravel_multi_index(tuple(values[tie.rows].T), tie.tables.shape[1:])
            of_row = np.broadcast_to(np.arange(len(tie.tables)), len(tie.rows))
            total += np.log(tie.tables.reshape(len(tie.tables), -1)[of_row, places]).sum(
                dtype=np.longdouble
            )
        return float(total)


@dataclass(frozen=True)
class Known:
    """log Z, the log weight of a best assignment, some marginals; what is None is not known."""

    log_partition: float | None
    log_best: float | None
    marginals: dict[int, Floats]


def drawn(random: np.random.Generator, *shape: int, strength: float = 1.0) -> Floats:
    """Random tables: exp of normal numbers."""
    return np.exp(strength * random.normal(size=shape))


# ---- individuals


@dataclass(frozen=True)
class Individuals:
    """Variables and tables of n individuals: hubs[n] is what each shares with others, -1 for none.

    edges: for each of EDGES n tables; shares: for each of SHARING n tables, the shared variable
    first.
    """

    variables: Rows
    hubs: Rows
    edges: tuple[Floats, ...]
    shares: tuple[Floats, ...]

    @classmethod
    def draw(cls, count: int, first: int, hubs: Rows | None, strength: float) -> Individuals:
        """All tables different; variables are numbered from `first` on, by individual."""
        random = np.random.default_rng(0)
        edges = [drawn(random, count, SIZES[one], SIZES[other]) for one, other in EDGES]
        shares = [drawn(random, count, SHARED, SIZES[each], strength=strength) for each in SHARING]
        variables = first + np.arange(count * len(SIZES)).reshape(count, len(SIZES))
        if hubs is None:
            return cls(variables, np.full(count, -1), tuple(edges), ())
        return cls(variables, hubs, tuple(edges), tuple(shares))

    def ties(self) -> list[Tie]:
        """Rows and tables."""
        own = [
            Tie(self.variables[:, pair], tables)
            for pair, tables in zip(map(list, EDGES), self.edges, strict=True)
        ]
        shared = zip(SHARING, self.shares, strict=False)  # there may be none
        return own + [
            Tie(np.stack([self.hubs, self.variables[:, each]], 1), tables)
            for each, tables in shared
        ]

    def states(self, some: slice) -> Floats:
        """Weights of all states of some individuals: an axis for what is shared, then one each."""
        weights = np.ones((len(self.variables[some]), SHARED if self.shares else 1, *SIZES))
        for pair, tables in zip(EDGES, self.edges, strict=True):
            weights *= spread(tables[some], [2 + axis for axis in pair], weights.ndim)
        for axis, tables in zip(SHARING, self.shares, strict=False):
            weights *= spread(tables[some], [1, 2 + axis], weights.ndim)
        return weights

    def messages(self) -> tuple[Logs, Logs]:
        """By individual and shared value: logs of the sum and of the maximum over its states."""
        sums, maxima = [], []
        for first in range(0, len(self.variables), CHUNK):
            weights = self.states(slice(first, first + CHUNK))
            flat = weights.reshape(*weights.shape[:2], -1)
            sums.append(flat.sum(2))
            maxima.append(flat.max(2))
        found = [np.log(np.concatenate(each).astype(np.longdouble)) for each in (sums, maxima)]
        return found[0], found[1]

    def marginals(self, individual: int, shared: Floats) -> Iterator[tuple[int, Floats]]:
        """The marginals of one individual's variables, given the distribution of what it shares."""
        (weights,) = self.states(slice(individual, individual + 1))
        weights *= (shared / weights.reshape(len(shared), -1).sum(1)).reshape(-1, *[1] * len(SIZES))
        for axis, variable in enumerate(self.variables[individual].tolist()):
            others = tuple(each for each in range(weights.ndim) if each != axis + 1)
            yield variable, weights.sum(others)


def spread(tables: Floats, axes: list[int], count: int) -> Floats:
    """Tables with an axis for rows and those named, as arrays of so many axes."""
    shape = [1] * count
    for axis, size in zip([0, *axes], tables.shape, strict=True):
        shape[axis] = size
    return tables.reshape(shape)


def looked_at(count: int) -> list[int]:
    """The individuals, or places, whose marginals are checked."""
    return sorted({0, count // 3, count // 2, count - 1})


def normalised(logs: Any) -> Floats:
    """The distribution with these log weights."""
    weights = np.exp(np.asarray(logs - np.max(logs), dtype=np.float64))
    return np.asarray(weights / weights.sum())


def log_sum(logs: Any, axis: int) -> Any:
    """The log of the sum of what these are logs of."""
    largest = np.max(logs, axis=axis, keepdims=True)
    return np.squeeze(largest, axis) + np.log(np.exp(logs - largest).sum(axis=axis))


def _unobserved(sizes: list[Any], ties: list[Tie]) -> Model:
    whole = np.concatenate(sizes).astype(np.int64)
    return Model(whole, tuple(ties), np.full(len(whole), -1))


# ---- apart, and around one variable


def _around_one(count: int) -> Individuals:
    return Individuals.draw(count, 1, np.zeros(count, dtype=np.int64), count**-0.5)


def around_one(count: int) -> Model:
    """Individuals who all share x0."""
    return _unobserved([[SHARED], np.tile(SIZES, count)], _around_one(count).ties())


def around_one_known(count: int) -> Known:
    """A sum over the values of what is shared, of products over individuals."""
    people = _around_one(count)
    sums, maxima = (each.sum(0) for each in people.messages())
    shared = normalised(sums)
    marginals = {0: shared}
    for each in looked_at(count):
        marginals |= people.marginals(each, shared)
    return Known(float(log_sum(sums, 0)), float(maxima.max()), marginals)


def apart(count: int) -> Model:
    """Individuals who share nothing: x0 to x5, x6 to x11, …"""
    return _unobserved([np.tile(SIZES, count)], Individuals.draw(count, 0, None, 0.0).ties())


def apart_known(count: int) -> Known:
    """A product over individuals."""
    people = Individuals.draw(count, 0, None, 0.0)
    sums, maxima = (float(each.sum()) for each in people.messages())
    marginals: dict[int, Floats] = {}
    for each in looked_at(count):
        marginals |= people.marginals(each, np.ones(1))
    return Known(sums, maxima, marginals)


# ---- in wards


def _in_wards(count: int) -> tuple[Individuals, Floats]:
    """Individuals who share their ward's variable, and the tables of hospital and ward."""
    wards = min(WARDS, count)
    people = Individuals.draw(
        count, 1 + wards, 1 + np.arange(count) % wards, (count / wards) ** -0.5
    )
    return people, drawn(np.random.default_rng(1), wards, SHARED, SHARED, strength=wards**-0.5)


def in_wards(count: int) -> Model:
    """A hospital x0, up to a hundred wards from x1 on, individuals sharing their ward's."""
    people, tables = _in_wards(count)
    wards = 1 + np.arange(len(tables))
    above = Tie(np.stack([0 * wards, wards], 1), tables)
    return _unobserved(
        [np.full(1 + len(wards), SHARED), np.tile(SIZES, count)], [above, *people.ties()]
    )


def in_wards_known(count: int) -> Known:
    """Sums over the values of each ward, then over those of the hospital."""
    people, tables = _in_wards(count)
    sums, maxima = (np.zeros((len(tables), SHARED), dtype=np.longdouble) for _ in range(2))
    for total, message in zip((sums, maxima), people.messages(), strict=True):
        np.add.at(total, people.hubs - 1, message)
    joint = np.log(tables) + sums[:, None, :]  # ward, hospital's value, ward's value
    to_hospital = log_sum(joint, 2)
    marginals = {0: normalised(to_hospital.sum(0))}
    for each in looked_at(count):
        ward = int(people.hubs[each]) - 1
        others = to_hospital.sum(0) - to_hospital[ward]
        marginals[1 + ward] = normalised(log_sum(joint[ward] + others[:, None], 0))
        marginals |= people.marginals(each, marginals[1 + ward])
    best = (np.log(tables) + maxima[:, None, :]).max(2).sum(0).max()
    return Known(float(log_sum(to_hospital.sum(0), 0)), float(best), marginals)


# ---- along a chain


def _chain(length: int) -> tuple[Floats, Floats]:
    random = np.random.default_rng(2)
    return drawn(random, length, LINK), drawn(random, length - 1, LINK, LINK)


def chain(length: int) -> Model:
    """A hidden Markov model that changes all the time: a table for each place and each step."""
    own, steps = _chain(length)
    places = np.arange(length)
    ties = [Tie(places[:, None], own), Tie(np.stack([places[:-1], places[1:]], 1), steps)]
    return _unobserved([np.full(length, LINK)], ties)


def chain_known(length: int) -> Known:
    """Forward and backward, and forward with maxima."""
    own, steps = _chain(length)
    before, logs = _walk(own, steps)
    after, _ = _walk(own[::-1], steps[::-1].transpose(0, 2, 1))
    marginals = {}
    for place in looked_at(length):
        weights = before[place] * after[length - 1 - place] / own[place]
        marginals[place] = weights / weights.sum()
    return Known(logs, _best_walk(own, steps), marginals)


def _walk(own: Floats, steps: Floats) -> tuple[Floats, float]:
    """For each place the weights of its values with all before, normalised, and the log total."""
    found, total = np.empty_like(own), np.longdouble(0)
    weights = own[0]
    for place in range(len(own)):
        if place:
            weights = (found[place - 1] @ steps[place - 1]) * own[place]
        scale = weights.sum()
        total += np.log(np.longdouble(scale))
        found[place] = weights / scale
    return found, float(total)


def _best_walk(own: Floats, steps: Floats) -> float:
    """The largest log weight."""
    logs, moves = np.log(own), np.log(steps)
    best = logs[0].astype(np.longdouble)
    for place in range(1, len(own)):
        best = (best[:, None] + moves[place - 1]).max(0) + logs[place]
    return float(best.max())
