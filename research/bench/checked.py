"""Answers checked against closed forms: time and error at growing sizes, or why there is none."""

from __future__ import annotations

import resource
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

import lifagu
from lifagu import FactorGraph, ParfactorGraph
from research.bench.apart import run_apart
from research.bench.limits import MEMORY
from research.bench.part import Part, duration, sized
from research.bench.relational_models import Logs, log_sum
from research.bench.timing import timed

LIMIT = 60.0  # seconds for a question
NOT_ASKED = "not asked"
HEAD = ["family", "size", "answered", "time", "growth", "error"]
HOW_TO_READ = (
    "One question each on a model that is built already, in a process of its own; the longest time",
    "where several random tables were tried. What would not fit lifagu refuses; what takes longer",
    f"than {LIMIT:g} s is stopped, and then larger models of the family are not asked. Growth: the",
    "power of the size with which the time has grown since the last one. Error: the largest",
    "relative difference of probabilities (of their logs where they underflow) and of log Z to a",
    "closed form summed here independently.",
)
# logs of weights; beside them what is to be added to all, if that is large
Closed = Logs | tuple[Logs, np.longdouble]


@dataclass(frozen=True)
class Asked:
    """A model, the variables asked for jointly (none: every marginal), logs of their weights."""

    model: FactorGraph | ParfactorGraph
    question: tuple[str, ...]
    closed: Callable[[], Closed]
    evidence: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Family:
    """Models of one kind by growing size, with as many random tables as there are seeds."""

    title: str
    sizes: Sequence[int]
    make: Callable[[int, np.random.Generator], Asked]
    seeds: int = 1


@dataclass(frozen=True)
class Found:
    """Seconds, and the logs of probabilities and of Z."""

    seconds: float
    logs: Logs
    log_partition: float


def drawn(
    random: np.random.Generator, *shape: int, strength: float = 1.0
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A random table: exp of normal numbers."""
    return np.exp(strength * random.normal(size=shape))


def show(part: Part, families: Sequence[Family]) -> list[dict[str, str]]:
    """A table of families, and in short how much of it was answered."""
    rows = part.table(HEAD, (line for family in families for line in lines(family)))
    numbers = [[int(number) for number in row["answered"].split(" of ")] for row in rows]
    errors = [float(row["error"]) for row in rows if row["error"] != "–"]
    part.in_short(
        f"answered {sum(each[0] for each in numbers):,} of {sum(each[1] for each in numbers):,} "
        f"questions with closed forms, the largest error being {max(errors, default=0.0):.0e}."
    )
    return rows


def lines(family: Family) -> Iterator[list[str]]:
    """One line for each size."""
    stopped, before = False, (0, 0.0)
    for size in family.sizes:
        outcomes: list[tuple[float, float] | str] = []
        for seed in range(family.seeds):
            outcomes.append(
                NOT_ASKED if stopped else outcome(family.make(size, np.random.default_rng(seed)))
            )
            stopped = stopped or str(outcomes[-1]).startswith(">")
        answered = [each for each in outcomes if not isinstance(each, str)]
        longest = max((seconds for seconds, _ in answered), default=0.0)
        worst = f"{max(each for _, each in answered):.0e}" if answered else "–"
        count = f"{len(answered)} of {len(outcomes)}"
        yield [
            family.title,
            sized(size),
            count,
            _times(longest, outcomes),
            _growth(before, (size, longest)),
            worst,
        ]
        before = size, longest


def outcome(asked: Asked) -> tuple[float, float] | str:
    """Seconds and error, or in a word why there are none."""
    found = run_apart(partial(_ask, asked), LIMIT)
    return found if isinstance(found, str) else (found.seconds, error(found, asked.closed()))


def _times(longest: float, outcomes: Sequence[tuple[float, float] | str]) -> str:
    """The longest time, and what those met with that were not answered."""
    failures = Counter(each for each in outcomes if isinstance(each, str))
    words = [
        word if len(outcomes) == 1 else f"{word} ({count})" for word, count in failures.items()
    ]
    return ", ".join([duration(longest)] * (longest > 0) + words)


def _growth(before: tuple[int, float], now: tuple[int, float]) -> str:
    """With which power of the size the seconds have grown, if there are any for both."""
    if not before[1] or not now[1]:
        return "–"
    return f"{np.log(now[1] / before[1]) / np.log(now[0] / before[0]):.1f}"


def _ask(asked: Asked) -> Found | str:
    """The answer; the best of three times if they are short."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    ask = partial(_marginals if not asked.question else _query, asked)
    try:
        (logs, log_partition), seconds = timed(ask)
    except lifagu.TooLargeError:
        return "refused"
    for _ in range(2 if seconds < 1 else 0):
        seconds = min(seconds, timed(ask)[1])
    return Found(seconds, logs, log_partition)


def _query(asked: Asked) -> tuple[Logs, float]:
    answer = lifagu.query(asked.model, *asked.question, evidence=asked.evidence)
    return np.asarray(answer.log_probabilities, dtype=np.longdouble).reshape(-1), float(
        answer.log_partition
    )


def _marginals(asked: Asked) -> tuple[Logs, float]:
    assert isinstance(asked.model, FactorGraph)
    found = lifagu.marginals(asked.model, evidence=asked.evidence)
    tables = [list(found[name].values()) for name in asked.model.variable_names]
    return np.log(np.array(tables, dtype=np.longdouble)), float(found.log_partition)


def error(found: Found, closed: Closed) -> float:
    """The largest relative difference to the logs of weights, whose last axis is the values."""
    weights, aside = closed if isinstance(closed, tuple) else (closed, np.longdouble(0))
    totals = np.array([log_sum(each) for each in weights.reshape(-1, weights.shape[-1])])
    expected = weights - totals.reshape(*weights.shape[:-1], 1)
    log_partition = totals[0] + aside
    relative = abs(found.log_partition - log_partition) / max(abs(log_partition), 1)
    return max(difference(found.logs, expected), float(relative))


def difference(found: Any, expected: Any) -> float:
    """Relative difference of probabilities where they are numbers, else of their logs."""
    found, expected = (
        np.asarray(found, dtype=np.longdouble),
        np.asarray(expected, dtype=np.longdouble),
    )
    possible = np.isfinite(expected)
    apart = found - np.where(possible, expected, 0)
    plain = np.abs(np.expm1(np.clip(apart, -1, 1)))
    logs = np.abs(apart) / np.maximum(np.abs(expected), 1)
    relative = np.where(expected > -700, plain, logs)
    # what is impossible has no relative difference
    return float(np.where(possible, relative, np.exp(found)).max())
