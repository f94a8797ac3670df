"""Questions to a folder of Parquet tables, answered where the data is: `sql` makes rows fewer, `infer` does the rest.

The graph is never in memory: only tables, and the rows that are left when most variables are summed out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from lifagu.errors import ModelError, Remedy, TooLargeError
from lifagu.evidence import Observation
from lifagu.folders import ANSWERING, Completed, Filling, Told, complete_on, workplace
from lifagu.ground_parts import declared_tables
from lifagu.infer.lifted.labels import Labels
from lifagu.infer.listed import Known, Listed, check_asked, prepare_listed
from lifagu.infer.plan import default_memory_limit, readable_size
from lifagu.infer.prepared import Prepared, Progress, Result
from lifagu.replacing import PathLike
from lifagu.sql.engines import Engine, open_engine
from lifagu.sql.scale import Journal, Types, names, numbers_of
from lifagu.sql.scale import eliminating as sql

ENOUGH = 10**6  # arguments that are listed at once
MOST_NAMES = 5  # of unknown factors
UNKNOWN = ("one", "mean")  # what competing tables may become


@dataclass(frozen=True, eq=False)
class PreparedBySql:
    """Questions whose rows are few by now: `str` shows the rounds and the plan for the rest, `run` computes that.

    unknown: how many factors came without a table; transferred: how many of them got one; weakest_share: the smallest
    share of agreement among those, None if there are none.
    """

    prepared: Prepared
    rounds: tuple[str, ...]
    where: str
    unknown: int
    transferred: int
    weakest_share: float | None

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks beside the answers."""
        return self.prepared.notes

    def __str__(self) -> str:
        head = f"rows in {self.where}, {len(self.rounds)} round{'s' * (len(self.rounds) != 1)}:"
        return "\n".join([head, *(f"  {each}" for each in self.rounds), str(self.prepared)])

    def run(self, progress: Progress | None = None) -> Result:
        """Compute the answers."""
        result = self.prepared.run(progress)
        answers = [replace(answer, plan=str(self)) for answer in result.answers]
        return Result(answers, result.log_partition, result.notes)


def prepare_by_sql(
    folder: PathLike,
    questions: Sequence[Sequence[str]],
    evidence: Mapping[str, Observation] | None = None,
    *,
    on: str = "duckdb",
    filling: Filling | None = None,
    unknown: str = "one",
    memory_limit: int | None = None,
    temp: PathLike | None = None,
    resume: bool = False,
    enough: int | None = None,
    say: Told | None = None,
) -> PreparedBySql:
    """Make the rows of a folder few, and plan the answers to questions (tuples of names); none asks for log Z alone.

    evidence: added to the folder's own, which it overrides name by name. on: "duckdb", "spark" or "spark=MASTER".
    filling: how unknown factors are filled first, None leaves them unknown; unknown: with "one" of competing tables, or
    their "mean". memory_limit: of the database and of what
    is left, in bytes. temp: a folder for what does not fit in memory; if the work is interrupted before rows are made
    fewer, what was finished stays there, and resume goes on from it. enough: arguments that are few; a million by
    default, or what fits. say: told what is done.
    """
    if unknown not in UNKNOWN:
        raise ModelError(f"unknown is '{unknown}'; by SQL, choose one of {', '.join(UNKNOWN)}")
    limit = default_memory_limit() if memory_limit is None else memory_limit
    few, evidence = min(ENOUGH, limit // ANSWERING) if enough is None else enough, evidence or {}
    with workplace(temp, resume, "ask", Path(folder), on.partition("=")[0], filling, evidence) as place:
        engine = open_engine(on, place, limit)
        try:
            told, mean = say or (lambda _: None), unknown == "mean"
            return prepare_on(engine, folder, questions, evidence, limit, few, told, filling, mean)
        finally:
            engine.close()


def prepare_on(
    engine: Engine,
    folder: PathLike,
    questions: Sequence[Sequence[str]],
    evidence: Mapping[str, Observation],
    limit: int,
    enough: int,
    say: Told,
    filling: Filling | None = None,
    mean: bool = False,
) -> PreparedBySql:
    """The same on an engine that is open."""
    whole = complete_on(Journal(engine), folder, evidence, filling, say, mean)
    numbers = numbers_of(whole.journal, whole.given, chain.from_iterable(questions))
    asked = [[numbers[name] for name in question] for question in questions]
    left, rounds = left_over(whole, numbers, asked, limit, enough, say)
    prepared = prepare_listed(left, asked, limit)
    return PreparedBySql(prepared, rounds, engine.dialect.name, whole.unknown, whole.transferred, whole.weakest_share)


def left_over(
    whole: Completed, numbers: Mapping[str, int], asked: Sequence[Sequence[int]], limit: int, enough: int, say: Told
) -> tuple[Listed, tuple[str, ...]]:
    """What is left of a completed folder when most variables are summed out, and what each round did.

    numbers: of the variables that are asked about, by name; asked: the questions about them.
    """
    marks, labels, rounds = marks_of(whole), Labels(), []

    def tell(text: str) -> None:
        rounds.append(text)
        say(text)

    try:
        with sql.Work(whole.journal.engine) as work:
            known = _known(work, marks, numbers)
            check_asked(known, asked, limit)
            rows = sql.load(work, _as_completed(whole), marks, labels, whole.given.counts["variables"])
            kept = {variable: len(each.labels) for variable, each in known.items() if each.observed < 0}
            reason = sql.eliminate(rows, marks, kept, enough, tell)
            _check_fits(whole.given.folder, rows, reason, limit)
            listed = sql.listed_rows(rows)
    except sql.ObstacleError as obstacle:
        what = f"{whole.given.folder}: {obstacle}, too many for SQL"
        raise TooLargeError(what, remedy=Remedy.IN_MEMORY) from None
    observed = any(mark.many and (mark.observed >= 0 or mark.likelihood is not None) for mark in marks)
    return Listed(labels, listed, known, _unknown_names(whole), observed), tuple(rounds)


def marks_of(whole: Completed) -> list[sql.Mark]:
    """What is known of the variables with each look."""
    looks, seen = whole.looks, whole.observations
    observation = dict(zip(zip(seen.declared, seen.seen.tolist(), strict=True), range(len(seen)), strict=True))
    marks = []
    for declared, code, many in zip(looks.declared.tolist(), looks.seen.tolist(), looks.size.tolist(), strict=True):
        labels, value, likelihood = whole.ranges.declared[declared], None, None
        if code:
            number = observation[declared, code]
            value, likelihood = seen.values[number], seen.likelihoods[number]
        marks.append(sql.Mark(labels, -1 if value is None else labels.index(value), likelihood, many))
    return marks


def _known(work: sql.Work, marks: Sequence[sql.Mark], numbers: Mapping[str, int]) -> dict[int, Known]:
    """What is known of the variables that are asked about."""
    if not numbers:
        return {}
    few = ", ".join(map(str, numbers.values()))
    look_of = dict(work.rows(f"SELECT id, look FROM looks WHERE id IN ({few})"))
    mark_of = {name: marks[look_of[number]] for name, number in numbers.items()}
    return {number: Known(name, mark_of[name].labels, mark_of[name].observed) for name, number in numbers.items()}


def _as_completed(whole: Completed) -> Types:
    """The types with the tables that they have in the end, and looks in the order of these."""
    (tables, table_of), types, order = declared_tables(whole.graph), whole.types, whole.graph.arguments
    return replace(types, table=table_of, looks=types.looks[order], positions=types.positions[order], tables=tables)


def _unknown_names(whole: Completed) -> list[str]:
    """The names of the first few factors that have no table in the end."""
    if not whole.left:
        return []
    few = ", ".join(map(str, whole.types.first[whole.graph.unknown].tolist()))
    rows = whole.journal.engine.rows(f"SELECT id FROM typed WHERE type IN ({few}) ORDER BY id LIMIT {MOST_NAMES}")
    shown = names(whole.journal, whole.given, "factors", [number for (number,) in rows])
    more = whole.left - len(shown)
    return [*shown[:-1], f"{shown[-1]} and {more} more"] if more else shown


def _check_fits(folder: PathLike, rows: sql.Rows, reason: str | None, limit: int) -> None:
    """Refuse rows that are too many to be listed."""
    needed = ANSWERING * rows.arguments
    if reason is not None and needed > limit:
        raise TooLargeError(
            f"{folder}: {rows.count} rows are left that SQL cannot make fewer ({reason}), and they need about "
            f"{readable_size(needed)}, but the limit is {readable_size(limit)}",
            remedy=Remedy.MORE_MEMORY,
        )
