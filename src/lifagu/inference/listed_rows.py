"""Answers about rows that were listed elsewhere, once few enough are left.

The lifted engine goes on with them. The rows may come from a database that has summed out most
variables already; their tables are in `Labels`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Ints, connected_parts, distinct
from lifagu.errors import NoAnswerError, TooLargeError
from lifagu.graph.evidence import Evidence
from lifagu.graph.ranges import Labels as RangeLabels
from lifagu.inference.lifted.engine import reduce_listed
from lifagu.inference.lifted.matrices import Matrices
from lifagu.inference.lifted.problem import Problem, Variables
from lifagu.inference.lifted.tables_by_label import Labels
from lifagu.inference.planning_by_part import plan_rest
from lifagu.inference.prepared import Prepared, Questions
from lifagu.inference.question_checks import (
    Question,
    asked_for,
    check_question,
    kept_for,
    no_answer,
)


@dataclass(frozen=True)
class Known:
    """A variable asked about: its name, labels, and the place of the observed one (-1: none)."""

    name: str
    labels: RangeLabels
    observed: int = -1


@dataclass(frozen=True, eq=False)
class RowsLeft:
    """What is left of a model: labels and ids (n×k) of rows, and the variables asked about, by id.

    unknown: names of unknown factors, for refusals; observed: whether anything was.
    """

    labels: Labels
    rows: Sequence[tuple[Ints, Ints]]
    known: Mapping[int, Known]
    unknown: Sequence[str] = ()
    observed: bool = False


@dataclass(frozen=True, eq=False)
class _Numbered:
    """The variables left, by number; the last is observed and stands for all that are."""

    ids: Ints
    sizes: Ints
    known: Mapping[int, Known]

    def number(self, variable: int) -> int:
        return int(np.searchsorted(self.ids, variable))

    def name(self, number: int) -> str:
        variable = int(self.ids[number])
        return self.known[variable].name if variable in self.known else f"variable {variable}"

    def labels(self, number: int) -> RangeLabels:
        return self.known[int(self.ids[number])].labels

    def declared_order(self, number: int) -> Ints:
        return np.arange(self.sizes[number])


def check_asked(known: Mapping[int, Known], questions: Sequence[Sequence[int]], limit: int) -> None:
    """Refuse questions about nothing, a variable twice, or too many values for one answer."""
    for question in questions:
        sizes = [len(known[variable].labels) for variable in question]
        check_question([known[variable].name for variable in question], sizes, limit)


def prepare_listed(left: RowsLeft, questions: Sequence[Sequence[int]], limit: int) -> Prepared:
    """Plan the answers to questions (ids of known variables); none at all asks for log Z alone."""
    subject = _numbered(left)
    asked = [tuple(subject.number(variable) for variable in question) for question in questions]
    evidence = _evidence(left, subject)
    included = _included(left, subject)
    _check_included(left, subject, asked, included)
    included[evidence.variables] = included[-1] = False
    titles = tuple(tuple(subject.name(number) for number in question) for question in asked)
    whole = not left.unknown
    posed = Questions(subject, evidence, "lifted", tuple(asked), titles, limit, whole=whole)

    def attempt(walks: bool) -> Prepared:
        keep = kept_for(asked, walks, evidence)
        return plan_rest(posed, reduce_listed(_problem(left, subject, included, keep)), walks)

    if len(set(asked)) > 1:
        return attempt(True)
    try:
        return attempt(False)
    except TooLargeError:
        if not asked:
            raise
        return attempt(True)


def _numbered(left: RowsLeft) -> _Numbered:
    """All variables in rows or questions, numbered by id, and one more."""
    asked = np.array(sorted(left.known), dtype=np.int64)
    ordered = distinct(np.concatenate([asked, *(matrix.reshape(-1) for _, matrix in left.rows)]))
    sizes = np.ones(len(ordered) + 1, dtype=np.int64)
    for labels, matrix in left.rows:
        shapes, places = _shapes(left.labels, labels)
        sizes[np.searchsorted(ordered, matrix)] = shapes[places]
    for variable, known in left.known.items():
        sizes[np.searchsorted(ordered, variable)] = len(known.labels)
    return _Numbered(np.append(ordered, np.iinfo(np.int64).max), sizes, left.known)


def _shapes(known: Labels, labels: Ints) -> tuple[Ints, Ints]:
    """The shape of each distinct label as a matrix, and the place in it of each row."""
    distinct, places = np.unique(labels, return_inverse=True)
    shapes = np.array([known.shape(label) for label in distinct.tolist()], dtype=np.int64)
    return shapes, places.reshape(-1)


def _evidence(left: RowsLeft, subject: _Numbered) -> Evidence:
    seen = {
        subject.number(variable): each.observed
        for variable, each in left.known.items()
        if each.observed >= 0
    }
    if left.observed:
        seen[len(subject.ids) - 1] = 0
    numbers = sorted(seen)
    values = [seen[number] for number in numbers]
    return Evidence(np.array(numbers, dtype=np.int64), np.array(values, dtype=np.int64))


def has_answer(left: RowsLeft, variables: Sequence[int]) -> list[bool]:
    """Whether there are answers about variables: no unknown factor is connected to them."""
    subject = _numbered(left)
    included = _included(left, subject)
    return [bool(included[subject.number(variable)]) for variable in variables]


def _included(left: RowsLeft, subject: _Numbered) -> NDArray[np.bool_]:
    """Which variables are not connected to unknown factors."""
    first, second, holes = ([np.zeros(0, dtype=np.int64)] for _ in range(3))
    for labels, matrix in left.rows:
        numbers = np.searchsorted(subject.ids, matrix)
        for slot in range(1, matrix.shape[1]):
            first.append(numbers[:, 0])
            second.append(numbers[:, slot])
        lost = [label for label in distinct(labels).tolist() if left.labels.number(label) is None]
        holes.append(numbers[np.isin(labels, lost), 0])
    parts = connected_parts(len(subject.ids), np.concatenate(first), np.concatenate(second))
    return ~np.isin(parts, parts[np.concatenate(holes)])


def _check_included(
    left: RowsLeft, subject: _Numbered, asked: Sequence[Question], included: NDArray[np.bool_]
) -> None:
    """Refuse questions about what is connected to unknown factors, and log Z if there are any."""
    for question in asked:
        if not included[list(question)].all():
            raise NoAnswerError(
                no_answer(asked_for(subject.name, len(subject.ids), [question]), left.unknown)
            )
    if not asked and left.unknown:
        raise NoAnswerError(no_answer("log Z", left.unknown, where=""))


def _problem(
    left: RowsLeft, subject: _Numbered, included: NDArray[np.bool_], keep: Sequence[int]
) -> Problem[Ints]:
    """The included rows over numbered variables."""
    parts: dict[int, tuple[list[Ints], list[Ints]]] = {}
    for labels, matrix in left.rows:
        numbers = np.searchsorted(subject.ids, matrix)
        inside = included[numbers].all(axis=1)
        known, places = np.unique(labels[inside], return_inverse=True)
        tables_of = np.array([left.labels.number(each) for each in known.tolist()], dtype=np.int64)
        matrices, tables = parts.setdefault(matrix.shape[1], ([], []))
        matrices.append(numbers[inside])
        tables.append(tables_of[places.reshape(-1)])
    rows = Matrices(
        {arity: np.concatenate(matrices) for arity, (matrices, _) in parts.items()},
        {arity: np.concatenate(tables) for arity, (_, tables) in parts.items()},
    )
    kept, open_now = frozenset(keep), included.copy()
    open_now[list(kept)] = False
    variables = Variables(subject.sizes, open_now, included.copy(), subject.name, len(subject.ids))
    return Problem(rows, left.labels.tables.copy(), variables, kept, left.labels.collected)
