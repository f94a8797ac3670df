"""Hidden cohorts: whether sorts of individuals that nobody observed tell more than tables do.

A few sorts are fitted to a subject's columns by expectation and maximisation, with a fifth of the
cells hidden; how well these are told is set beside what the chosen tables gain. Where sorts tell
more, the draft has them instead: each column given the sort.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.drafting.attributes import Attribute
from lifagu.drafting.choosing import ChosenTables
from lifagu.drafting.naming import GivenNames
from lifagu.drafting.subjects import DraftSubject
from lifagu.drafting.tables import DraftedTable, rows_of

SORTS = (2, 4, 8)
LEAST_COLUMNS, MOST_COLUMNS = 3, 60
LEAST_ROWS, MOST_ROWS = 200, 4_000
HIDDEN = 0.2
ROUNDS, STARTS = 30, 2
ERRORS = 3  # standard errors by which sorts must gain more than tables to be taken
PRIOR = 0.5


@dataclass(frozen=True, eq=False)
class CohortTrial:
    """How many sorts told most, what they gained in nats a cell, and what tables gain there.

    error: the standard error of what was gained. is_shared: whether others are told by its columns,
    and so by tables that could not be learned beside hidden sorts.
    """

    subject: DraftSubject
    columns: tuple[Attribute, ...]
    sorts: int
    gain: float
    error: float
    beside: float
    is_shared: bool

    @property
    def is_better(self) -> bool:
        """Whether sorts tell more than tables do."""
        return self.gain - ERRORS * self.error > self.beside

    @property
    def is_taken(self) -> bool:
        """Whether the draft has them."""
        return self.is_better and not self.is_shared

    def __str__(self) -> str:
        verdict = "taken" if self.is_taken else "not taken"
        if self.is_better and self.is_shared:
            verdict += ", as others are told by the same columns"
        return (
            f"{self.sorts} hidden sorts of {self.subject.name}: {self.gain:.4f} ± {self.error:.4f} "
            f"nats a cell gained, {self.beside:.4f} by tables; {verdict}"
        )


def try_cohorts(
    subject: DraftSubject,
    attributes: Sequence[Attribute],
    chosen: Sequence[ChosenTables],
    seed: int,
) -> CohortTrial | None:
    """Sorts fitted to a subject's columns, and set beside tables; None where there are too few."""
    columns = [
        each for each in attributes if each.subject is subject and each.column and each.rows is None
    ][:MOST_COLUMNS]
    asked = [each for each in chosen if any(each.target is column for column in columns)]
    if len(asked) < LEAST_COLUMNS or subject.table.size < LEAST_ROWS:
        return None
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.permutation(subject.table.size)[:MOST_ROWS])
    codes = np.column_stack([each.codes[rows] for each in columns])
    told = np.isin(np.arange(len(columns)), [_place(columns, each.target) for each in asked])
    hidden = (rng.random(codes.shape) < HIDDEN) & (codes >= 0) & told
    if not hidden.any():
        return None
    gains = [
        (_gain(codes, hidden, [each.size for each in columns], many, rng), many) for many in SORTS
    ]
    (gain, error), many = max(gains)
    cells = sum(each.known for each in asked)
    beside = sum(choice.gain * each.known for each in asked for choice in each.choices) / cells
    shared = any(
        choice.candidate.other is column
        for each in chosen
        if each.target.subject is not subject
        for choice in each.choices
        for column in columns
    )
    return CohortTrial(subject, tuple(columns), many, gain, error, beside, shared)


def _place(columns: Sequence[Attribute], target: Attribute) -> int:
    return next(place for place, each in enumerate(columns) if each is target)


def _gain(
    codes: Ints, hidden: np.ndarray, sizes: Sequence[int], many: int, rng: np.random.Generator
) -> tuple[float, float]:
    """How much better hidden cells are told by so many sorts than by frequencies, and its error."""
    seen = np.where(hidden, -1, codes)
    begun = [_fitted(codes, seen, hidden, sizes, many, rng) for _ in range(STARTS)]
    _, gains = max(begun, key=lambda each: each[0])
    return float(gains.mean()), float(gains.std() / math.sqrt(len(gains)))


def _fitted(
    codes: Ints,
    seen: Ints,
    hidden: np.ndarray,
    sizes: Sequence[int],
    many: int,
    rng: np.random.Generator,
) -> tuple[float, Floats]:
    """The likelihood of what was seen, and what is gained on each hidden cell."""
    belongs = rng.dirichlet(np.ones(many), len(seen))
    labels = [_one_hot(column, size) for column, size in zip(seen.T, sizes, strict=True)]
    for _ in range(ROUNDS):
        weight = np.log(belongs.sum(axis=0) + PRIOR)
        tables = []
        for one in labels:
            frequency = one.sum(axis=0) + PRIOR
            counts = belongs.T @ one + frequency / frequency.sum()
            tables.append(np.log(counts / counts.sum(axis=1, keepdims=True)))
        scores = weight + sum(one @ table.T for one, table in zip(labels, tables, strict=True))
        highest = scores.max(axis=1, keepdims=True)
        total = np.log(np.exp(scores - highest).sum(axis=1, keepdims=True)) + highest
        belongs = np.exp(scores - total)
    gained = []
    for place, (one, table) in enumerate(zip(labels, tables, strict=True)):
        mine = np.flatnonzero(hidden[:, place])
        truth = codes[mine, place]
        usual = (one.sum(axis=0) + PRIOR) / (one.sum() + PRIOR * one.shape[1])
        told = (belongs[mine] @ np.exp(table))[np.arange(len(mine)), truth]
        gained.append(np.log(told) - np.log(usual[truth]))
    return float(total.sum()), np.concatenate(gained)


def _one_hot(column: Ints, size: int) -> Floats:
    found = np.zeros((len(column), size))
    known = np.flatnonzero(column >= 0)
    found[known, column[known]] = 1.0
    return found


def cohort_tables(trial: CohortTrial, names: GivenNames) -> tuple[Attribute, list[DraftedTable]]:
    """The hidden relation, how often each sort is, and each column given the sort."""
    subject = trial.subject
    many = len(trial.columns[0].codes)
    sort = Attribute(
        names.described(f"Sort of {subject.name}"),
        subject,
        None,
        (),
        trial.sorts,
        np.full(many, -1, dtype=np.int64),
        0,
        "",
        "a sort that nobody observed",
        cohorts=trial.sorts,
    )
    rows = rows_of(trial.columns[0])
    told = f"there are {trial.sorts} hidden sorts"
    found = [DraftedTable(sort.name, sort, (), None, (), rows, trial.gain, told)]
    for each in trial.columns:
        name, told = f"{each.name} given the sort", f"{each.name} is told by the hidden sort"
        found.append(DraftedTable(name, each, (sort,), None, (), rows, trial.gain, told, True))
    return sort, found
