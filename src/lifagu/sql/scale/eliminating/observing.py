"""What is known of each variable before any row is looked at: its range, and what was observed.

Both become one small number, the mark of the variable: 0 means an unobserved variable with the range false, true.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lifagu.errors import ModelError
from lifagu.evidence import Observation, likelihood_of
from lifagu.ranges import BOOLEAN, Labels, check_labels, value_of
from lifagu.sql.scale.eliminating.rows import MOST_LABELS, ObstacleError
from lifagu.sql.scale.eliminating.sources import Sources, names_of
from lifagu.sql.scale.eliminating.work import Work, among, union, values
from lifagu.tables import potential_fault


@dataclass(frozen=True)
class Mark:
    """The range of a variable, the place of its observed label (-1: none), and how many variables are like that."""

    labels: Labels = BOOLEAN
    observed: int = -1
    many: int = 0


@dataclass(frozen=True)
class Likelihood:
    """Soft evidence, one number per label, and how many variables have it."""

    numbers: list[float]
    many: int


@dataclass
class Marks:
    """marks[m]: what mark m means; table: (v, mark) for variables whose mark is not 0, None if there are none.

    soft[s]: likelihoods; soft_table: (v, soft), None if there are none.
    """

    marks: dict[int, Mark]
    table: str | None = None
    soft: dict[int, Likelihood] = field(default_factory=dict)
    soft_table: str | None = None

    @property
    def any_observed(self) -> bool:
        """Whether there is evidence."""
        return bool(self.soft) or any(mark.observed >= 0 for mark in self.marks.values())


@dataclass(frozen=True)
class _Given:
    """Evidence that overrides the folder's own: by name, the ids behind the names, and a table (v) of them if any."""

    evidence: Mapping[str, Observation]
    ids: Mapping[str, int]
    table: str | None

    def elsewhere(self, variable: str) -> str:
        """Whether nothing is given about a variable, as SQL."""
        return f"NOT EXISTS (SELECT 1 FROM {self.table} AS g WHERE g.v = {variable})" if self.table else "1 = 1"


def find_marks(work: Work, sources: Sources, evidence: Mapping[str, Observation], ids: Mapping[str, int]) -> Marks:
    """The marks of all variables; evidence: overrides the folder's own; ids: of the variables by name."""
    observed = np.array([ids[name] for name in evidence], dtype=np.int64)
    given = _Given(evidence, ids, work.register("overridden", {"v": observed}) if evidence else None)
    ranges, coded = _ranges(work, sources)
    hard = _hard(work, sources, given)
    totals = dict(work.rows(f"SELECT code, count(*) FROM {coded} GROUP BY code ORDER BY code"))
    seen = _seen(work, sources, coded, hard, ranges, given) if hard else []
    width = len(seen) + 1
    marks = {code * width: Mark(ranges[code], -1, many) for code, many in totals.items()}
    for number, (code, value, many) in enumerate(seen, start=1):
        free = marks[code * width]
        marks[code * width] = Mark(free.labels, -1, free.many - many)
        marks[code * width + number] = Mark(ranges[code], ranges[code].index(value), many)
    table = None
    if hard or len(ranges) > 1:
        table = work.store("marks", _marked(work, coded, hard, seen, len(ranges) > 1))
    return Marks(marks, table, *_soft(work, sources, coded, ranges, given))


def marks_of(work: Work, found: Marks, variables: list[int]) -> dict[int, Mark]:
    """The marks of a few variables."""
    some = dict(work.rows(f"SELECT v, mark FROM {found.table} WHERE {among('v', variables)}")) if found.table else {}
    return {variable: found.marks[some.get(variable, 0)] for variable in variables}


def _ranges(work: Work, sources: Sources) -> tuple[list[Labels], str]:
    """The different ranges, of which the first is false, true, and a view with the number of each variable's."""
    variables = sources["variables"]
    if "range" not in sources.columns["variables"]:
        return [BOOLEAN], work.view("coded", f"SELECT id AS v, 0 AS code FROM {variables}")
    different = (
        f"SELECT v.range AS labels, min(v.id) AS first FROM {variables} AS v WHERE v.range IS NOT NULL GROUP BY v.range"
    )
    table = work.store(
        "ranges", f"SELECT labels, first, row_number() OVER (ORDER BY first) AS code FROM ({different}) AS different"
    )
    found = work.rows(f"SELECT labels, first FROM {table} ORDER BY code")
    ranges = [BOOLEAN]
    for labels, first in found:
        try:
            ranges.append(check_labels(labels, f"variable {first}"))
        except ModelError as error:
            raise sources.fault("variables", f"column range: {error}") from None
    coded = (
        f"SELECT v.id AS v, coalesce(r.code, 0) AS code FROM {variables} AS v LEFT JOIN {table} AS r "
        "ON v.range = r.labels"
    )
    return ranges, work.view("coded", coded)


# ---- observed values


def _hard(work: Work, sources: Sources, given: _Given) -> str | None:
    """A view (v, value) of all observed labels, None if there are none."""
    parts = []
    if "value" in sources.columns.get("evidence", ()):
        _refuse_both(work, sources)
        parts.append(
            f"SELECT e.variable_id AS v, e.value AS value FROM {sources['evidence']} AS e "
            f"WHERE e.value IS NOT NULL AND {given.elsewhere('e.variable_id')}"
        )
    texts = {name: each for name, each in given.evidence.items() if isinstance(each, str)}
    if texts:
        arrays = {
            "v": np.array([given.ids[name] for name in texts], dtype=np.int64),
            "value": np.array(list(texts.values()), dtype=object),
        }
        parts.append(f"SELECT v, value FROM {work.register('given', arrays)}")
    if not parts:
        return None
    return work.view("observed", union(parts))


def _refuse_both(work: Work, sources: Sources) -> None:
    both = "value IS NOT NULL AND likelihood IS NOT NULL"
    ((variable,),) = work.rows(f"SELECT min(variable_id) FROM {sources['evidence']} WHERE {both}")
    if variable is not None:
        what = f"variable {variable} has a value and a likelihood; give one of them, null for the other"
        raise sources.fault("evidence", what)


def _seen(
    work: Work, sources: Sources, coded: str, hard: str, ranges: list[Labels], given: _Given
) -> list[tuple[int, str, int]]:
    """The different observed labels: range, label, and how many variables have it."""
    found = work.rows(
        f"SELECT c.code, h.value, count(*), min(h.v) FROM {hard} AS h LEFT JOIN {coded} AS c ON h.v = c.v "
        "GROUP BY c.code, h.value ORDER BY c.code, h.value"
    )
    for code, value, _, variable in found:
        if code is None:
            what = f"column variable_id: {variable} is not an id in variables.parquet; add that row, or leave this out"
            raise sources.fault("evidence", what)
        if value not in ranges[code]:
            raise _no_value(work, sources, variable, value, ranges[code], given)
    if len(found) > MOST_LABELS:
        raise ObstacleError(f"there are {len(found)} different observed labels")
    return [(code, value, many) for code, value, many, _ in found]


def _no_value(work: Work, sources: Sources, variable: int, value: str, labels: Labels, given: _Given) -> Exception:
    """The error about an observed label that is none."""
    name = names_of(work, sources, "variables", [variable])[variable]
    try:
        value_of(value, labels, name)
    except ModelError as error:
        return error if name in given.evidence else sources.fault("evidence", f"column value: {error}")
    raise AssertionError(f"{value} is one of {labels}")


def _marked(work: Work, coded: str, hard: str | None, seen: list[tuple[int, str, int]], ranges: bool) -> str:
    """A query for the marks that are not 0."""
    width = len(seen) + 1
    if not seen or hard is None:
        return f"SELECT v, code AS mark FROM {coded} AS c WHERE code <> 0"
    numbered = work.register(
        "seen",
        {
            "code": np.array([code for code, _, _ in seen], dtype=np.int64),
            "value": np.array([value for _, value, _ in seen], dtype=object),
            "number": np.arange(1, width),
        },
    )
    if not ranges:
        return f"SELECT h.v AS v, s.number AS mark FROM {hard} AS h JOIN {numbered} AS s ON h.value = s.value"
    return (
        f"SELECT c.v AS v, c.code * {width} + coalesce(s.number, 0) AS mark FROM {coded} AS c "
        f"LEFT JOIN {hard} AS h ON c.v = h.v LEFT JOIN {numbered} AS s ON s.code = c.code AND s.value = h.value "
        "WHERE c.code <> 0 OR s.number IS NOT NULL"
    )


# ---- soft evidence


def _soft(
    work: Work, sources: Sources, coded: str, ranges: list[Labels], given: _Given
) -> tuple[dict[int, Likelihood], str | None]:
    """Different likelihoods by number, and a view (v, soft) that says who has which."""
    soft: dict[int, Likelihood] = {}
    parts = []
    if "likelihood" in sources.columns.get("evidence", ()):
        own = (
            f"SELECT e.variable_id AS v, e.likelihood AS likelihood FROM {sources['evidence']} AS e "
            f"WHERE e.likelihood IS NOT NULL AND {given.elsewhere('e.variable_id')}"
        )
        different = work.store(
            "soft",
            "SELECT code, likelihood, many, first, row_number() OVER (ORDER BY first) AS number FROM "
            "(SELECT c.code AS code, e.likelihood AS likelihood, count(*) AS many, min(e.v) AS first "
            f"FROM ({own}) AS e LEFT JOIN {coded} AS c ON e.v = c.v GROUP BY c.code, e.likelihood) AS different",
        )
        ((count,),) = work.rows(f"SELECT count(*) FROM {different}")
        if count > MOST_LABELS:
            raise ObstacleError(f"there are {count} different likelihoods")
        for number, code, numbers, many, first in work.rows(
            f"SELECT number, code, likelihood, many, first FROM {different} ORDER BY number"
        ):
            _check_likelihood(sources, numbers, -1 if code is None else len(ranges[code]), first)
            soft[number] = Likelihood(list(numbers), many)
        parts.append(
            f"SELECT e.v AS v, s.number AS soft FROM ({own}) AS e JOIN {coded} AS c ON e.v = c.v "
            f"JOIN {different} AS s ON c.code = s.code AND e.likelihood = s.likelihood"
        )
    numbered = []
    codes: dict[int, int] = {}
    if given.table and len(ranges) > 1:
        codes = dict(work.rows(f"SELECT c.v, c.code FROM {coded} AS c JOIN {given.table} AS g ON c.v = g.v"))
    for name, observed in given.evidence.items():
        if not isinstance(observed, str):
            labels = ranges[codes.get(given.ids[name], 0)]
            numbered.append((given.ids[name], len(soft) + 1))
            soft[len(soft) + 1] = Likelihood(likelihood_of(name, observed, labels).tolist(), 1)
    if numbered:
        parts.append(f"SELECT v, soft FROM {values(['v', 'soft'], numbered)} AS given")
    return soft, work.view("soft", union(parts)) if soft else None


def _check_likelihood(sources: Sources, numbers: Any, size: int, variable: int) -> None:
    if size < 0:
        what = f"column variable_id: {variable} is not an id in variables.parquet; add that row, or leave this out"
        raise sources.fault("evidence", what)
    if any(number is None for number in numbers):
        raise sources.fault("evidence", f"column likelihood: a null in the list of variable {variable}; give numbers")
    if len(numbers) != size:
        what = f"column likelihood: {len(numbers)} numbers for the {size} labels of variable {variable}; give one each"
        raise sources.fault("evidence", what)
    if fault := potential_fault(np.array(numbers, dtype=np.float64)):
        raise sources.fault("evidence", f"column likelihood: variable {variable} has {fault}")
