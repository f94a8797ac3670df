"""Evidence by SQL: each different observation is looked at once, in memory; whose is a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.basics.names import Names
from lifagu.errors import FormatError, ModelError, Remedy, TooLargeError
from lifagu.graph.evidence import Observation, bind_evidence
from lifagu.graph.ranges import Ranges
from lifagu.scale.engines.engine import Engine
from lifagu.scale.folder_contents import Given, names, numbers_of
from lifagu.scale.ranges_and_kinds import MOST_WORDS


@dataclass(frozen=True, eq=False)
class DistinctObservations:
    """For each observation: its label (None if unsure), likelihoods in declared order, and class.

    declared[o]: the label order of the variables; seen[o]: equal numbers, from 1 on, where the same
    was observed, whatever the label order. The two tell observations apart. value_of[seen]: the
    first that has the same value, which likelihoods may weigh otherwise; 0 for nothing observed.
    The table observed (id, observation) says whose they are.
    """

    values: list[str | None]
    likelihoods: list[Floats | None]
    declared: list[int]
    seen: Ints
    value_of: Ints

    def __len__(self) -> int:
        return len(self.values)


def observe(
    engine: Engine, given: Given, ranges: Ranges, evidence: Mapping[str, Observation]
) -> DistinctObservations:
    """The folder's own evidence and, over it, some by name; stores observed (id, observation)."""
    found = _Found(ranges)
    folder = _own(engine, given, found)
    known = numbers_of(engine, given, list(evidence))
    numbers = [known[name] for name in evidence]
    orders = _declared(engine, given, numbers)
    codes = [
        found.add(name, observation, orders[known[name]]) for name, observation in evidence.items()
    ]
    engine.register(
        "overriding",
        {"id": np.array(numbers, dtype=np.int64), "observation": np.array(codes, dtype=np.int64)},
    )
    engine.create(
        "observed",
        f"""
        SELECT id, observation
        FROM overriding
        UNION ALL
        SELECT f.id, f.observation
        FROM {folder} f
        LEFT JOIN overriding o ON o.id = f.id
        WHERE o.id IS NULL
        """,
    )
    return found.observations()


def _own(engine: Engine, given: Given, found: _Found) -> str:
    """What evidence.parquet says, as a table expression (id, observation)."""
    if not given.columns.get("evidence", set()) & {"value", "likelihood"}:
        return "(SELECT id, observation FROM overriding WHERE id < 0)"
    _store_rows(engine, given)
    words = engine.rows(
        f"""
        SELECT declared, value, likelihood, first
        FROM evidence_words
        ORDER BY first
        LIMIT {MOST_WORDS + 1}
        """
    )
    if len(words) > MOST_WORDS:
        raise TooLargeError(
            f"{given.file('evidence')}: more than {MOST_WORDS} different observations, "
            "which are looked at in memory",
            remedy=Remedy.IN_MEMORY,
        )
    codes = []
    called = names(engine, given, "variables", [first for *_, first in words])
    for name, (declared, value, likelihood, _) in zip(called, words, strict=True):
        codes.append(found.add_row(given, name, declared, value, likelihood))
    firsts = np.array([first for *_, first in words], dtype=np.int64)
    coded = {"first": firsts, "observation": np.array(codes, dtype=np.int64)}
    engine.register("evidence_codes", coded)
    _code_rows(engine, given)
    engine.discard("evidence_rows")
    return "evidence_coded"


def _code_rows(engine: Engine, given: Given) -> None:
    """Store evidence_coded (id, observation): which observation each row is."""
    code, to_code = order_of(given)
    engine.create(
        "evidence_coded",
        f"""
        SELECT e.id, c.observation
        FROM evidence_rows e
        JOIN {given.numbered("variables")} v ON v.number = e.id
        {to_code}
        JOIN evidence_words w
            ON w.declared = {code}
            AND w.value IS NOT DISTINCT FROM e.value
            AND w.likelihood IS NOT DISTINCT FROM e.likelihood
        JOIN evidence_codes c ON c.first = w.first
        """,
    )


def _store_rows(engine: Engine, given: Given) -> None:
    """Store evidence_rows (id, value, likelihood), and what differs among them: evidence_words.

    The latter has the columns declared, value, likelihood and first, the first variable with it.
    """
    columns, lists = given.columns["evidence"], engine.dialect.lists_of("DOUBLE")
    value = "g.value" if "value" in columns else "NULL"
    likelihood = "g.likelihood" if "likelihood" in columns else "NULL"
    number, to_number = given.reference("variables", "variable_id")
    engine.create(
        "evidence_rows",
        f"""
        SELECT
            {number} AS id,
            CAST({value} AS STRING) AS value,
            CAST({likelihood} AS {lists}) AS likelihood
        FROM given_evidence g
        {to_number}
        """,
    )
    code, to_code = order_of(given)
    engine.create(
        "evidence_words",
        f"""
        WITH declared_rows AS (
            SELECT e.*, {code} AS declared
            FROM evidence_rows e
            JOIN {given.numbered("variables")} v ON v.number = e.id
            {to_code}
            WHERE e.value IS NOT NULL OR e.likelihood IS NOT NULL
        )
        SELECT declared, value, likelihood, min(id) AS first
        FROM declared_rows
        GROUP BY declared, value, likelihood
        """,
    )


def order_of(given: Given) -> tuple[str, str]:
    """The number of the label order of a variable v as SQL, and the join that gives it."""
    if "range" not in given.columns["variables"]:
        return "0", ""
    return "r.code", "JOIN ranges_filled r ON r.number = v.number"


def _declared(engine: Engine, given: Given, numbers: Sequence[int]) -> dict[int, int]:
    """The label order of each of a few variables."""
    if "range" not in given.columns["variables"] or not numbers:
        return dict.fromkeys(numbers, 0)
    few = ", ".join(map(str, sorted(set(numbers))))
    rows = engine.rows(f"SELECT number, code FROM ranges_filled WHERE number IN ({few})")
    return {int(number): int(code) for number, code in rows}


class _Found:
    """Different observations, as they are met."""

    def __init__(self, ranges: Ranges) -> None:
        self._ranges = ranges
        self._number: dict[Any, int] = {}
        self._classes: dict[Any, int] = {}
        self._values: list[str | None] = []
        self._likelihoods: list[Floats | None] = []
        self._declared: list[int] = []
        self._seen: list[int] = []

    def add_row(
        self, given: Given, name: str, declared: int, value: str | None, likelihood: Any
    ) -> int:
        """Number of what a row of the folder's evidence says."""
        labels = self._ranges.declared[declared]
        file = given.file("evidence")
        if value is not None and likelihood is not None:
            raise FormatError(
                f"{file}: '{name}' has a value and a likelihood; "
                "give one of them, null for the other"
            )
        if likelihood is not None and len(likelihood) != len(labels):
            numbers = f"{len(likelihood)} numbers for the {len(labels)} labels of '{name}'"
            raise FormatError(f"{file}: column likelihood: {numbers}; give one each")
        observation = value if value is not None else dict(zip(labels, likelihood, strict=True))
        try:
            return self.add(name, observation, declared)
        except ModelError as error:
            raise FormatError(f"{file}: {error}") from None

    def add(self, name: str, observation: Observation, declared: int) -> int:
        """Number of an observation of a variable with this label order."""
        ranges = self._ranges
        labels, canonical = ranges.declared[declared], ranges.to_declared(declared)
        bound = bind_evidence(
            {name: observation}, Names("variable", [name]), lambda _: (labels, canonical)
        )
        value = int(bound.values[0]) if len(bound.values) else None
        soft = bound.likelihoods[0] if len(bound.likelihoods) else None
        kept = None if soft is None else soft[canonical]
        of = int(ranges.range_of[declared])
        alike = of, value, None if soft is None else soft.tobytes()
        key = (declared, alike)
        if key not in self._number:
            self._number[key] = len(self._number)
            self._values.append(None if value is None else ranges.canonical[of][value])
            self._likelihoods.append(kept)
            self._declared.append(declared)
            self._seen.append(self._classes.setdefault(alike, len(self._classes) + 1))
        return self._number[key]

    def observations(self) -> DistinctObservations:
        """What was met."""
        first: dict[Any, int] = {}
        value_of = [0]
        for (of, value, soft), number in self._classes.items():
            told = value if value is not None else soft
            value_of.append(first.setdefault((of, told), number))
        return DistinctObservations(
            self._values,
            self._likelihoods,
            self._declared,
            np.array(self._seen, dtype=np.int64),
            np.array(value_of, dtype=np.int64),
        )
