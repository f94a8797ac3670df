"""Questions to a folder of Parquet tables, answered where the data is: `sql` makes rows fewer, `infer` does the rest.

The graph is never in memory: only tables, and the rows that are left when most variables are summed out.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain

from lifagu.errors import FormatError, ModelError, TooLargeError
from lifagu.evidence import Observation
from lifagu.infer.lifted.labels import Labels
from lifagu.infer.listed import Known, Listed, check_asked, prepare_listed
from lifagu.infer.plan import default_memory_limit, readable_size
from lifagu.infer.prepared import Prepared, Progress, Result
from lifagu.replacing import PathLike
from lifagu.sql import count_arguments
from lifagu.sql.engines import Engine, open_engine
from lifagu.sql.scale import eliminating as sql
from lifagu.storage import is_folder

ENOUGH = 10**6  # arguments that are listed at once
BYTES = 250  # of memory that the lifted engine needs for an argument
Say = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class PreparedBySql:
    """Questions whose rows are few by now: `str` shows the rounds and the plan for the rest, `run` computes that."""

    prepared: Prepared
    rounds: tuple[str, ...]
    where: str
    unknown: int

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
    memory_limit: int | None = None,
    temp: PathLike | None = None,
    enough: int | None = None,
    say: Say | None = None,
) -> PreparedBySql:
    """Make the rows of a folder few, and plan the answers to questions (tuples of names); none asks for log Z alone.

    evidence: added to the folder's own, which it overrides name by name. on: "duckdb", "spark" or "spark=MASTER".
    memory_limit: of the database and of what is left, in bytes. temp: a folder for what does not fit in memory. enough:
    arguments that are few; a million by default, or what fits. say: told what each round did.
    """
    limit = default_memory_limit() if memory_limit is None else memory_limit
    few = min(ENOUGH, limit // BYTES) if enough is None else enough
    with temporary_folder(temp) as place:
        engine = open_engine(on, place, limit)
        try:
            return prepare_on(engine, folder, questions, evidence or {}, limit, few, say or (lambda _: None))
        finally:
            engine.close()


@contextmanager
def temporary_folder(within: PathLike | None) -> Iterator[str]:
    """A folder that is gone afterwards."""
    try:
        made = tempfile.TemporaryDirectory(prefix="lifagu-", dir=within)
    except OSError as error:
        raise FormatError(f"{within}: no folder can be made here ({error.strerror})") from None
    with made as place:
        yield place


def where_to_answer(
    path: PathLike, on: str = "auto", memory_limit: int | None = None, each: int = BYTES
) -> tuple[str, str]:
    """Where questions to a model are answered, "memory" or an engine, and why, where that was to be chosen.

    on: "auto" stays in memory while the model fits there, and goes to DuckDB else; other engines take folders only.
    each: bytes of memory that an argument needs.
    """
    if on == "memory":
        return on, ""
    if not is_folder(path):
        if on == "auto":
            return "memory", ""
        raise ModelError(f"{path}: {on} takes a folder of Parquet tables; make one with: lifagu convert {path} big/")
    if on != "auto":
        return on, ""
    limit = default_memory_limit() if memory_limit is None else memory_limit
    arguments = count_arguments(path)
    fits = each * arguments <= limit
    sized = f"{arguments} arguments need about {readable_size(each * arguments)}, {'within' if fits else 'beyond'}"
    return "memory" if fits else "duckdb", f"{sized} the limit of {readable_size(limit)}"


def prepare_on(
    engine: Engine,
    folder: PathLike,
    questions: Sequence[Sequence[str]],
    evidence: Mapping[str, Observation],
    limit: int,
    enough: int,
    say: Say,
) -> PreparedBySql:
    """The same on an engine that is open; its tables are as they were in the end."""
    work = sql.Work(engine)
    try:
        sources = sql.open_sources(work, folder)
        ids = sql.find_variables(work, sources, [*evidence, *chain.from_iterable(questions)])
        marks = sql.find_marks(work, sources, evidence, ids)
        asked = [[ids[name] for name in question] for question in questions]
        known = _known(work, marks, {ids[name]: name for question in questions for name in question})
        labels, rounds = Labels(), []

        def tell(text: str) -> None:
            rounds.append(text)
            say(text)

        check_asked(known, asked, limit)
        loaded = sql.load(work, sources, marks, labels)
        kept = {variable: len(each.labels) for variable, each in known.items() if each.observed < 0}
        reason = sql.eliminate(loaded, marks, kept, enough, tell)
        _check_fits(folder, loaded.rows, reason, limit)
        rows = sql.listed_rows(loaded.rows)
    except sql.ObstacleError as obstacle:
        raise TooLargeError(f"{folder}: {obstacle}, too many for SQL; where it fits, ask with --on memory") from None
    finally:
        work.sweep()
    left = Listed(labels, rows, known, loaded.unknown, marks.any_observed)
    return PreparedBySql(prepare_listed(left, asked, limit), tuple(rounds), engine.dialect.name, loaded.holes)


def _known(work: sql.Work, marks: sql.Marks, names: Mapping[int, str]) -> dict[int, Known]:
    """What is known of the variables that are asked about."""
    found = sql.marks_of(work, marks, list(names))
    return {variable: Known(names[variable], mark.labels, mark.observed) for variable, mark in found.items()}


def _check_fits(folder: PathLike, rows: sql.Rows, reason: str | None, limit: int) -> None:
    """Refuse rows that are too many to be listed."""
    needed = BYTES * rows.arguments
    if reason is not None and needed > limit:
        raise TooLargeError(
            f"{folder}: {rows.count} rows are left that SQL cannot make fewer ({reason}), and they need about "
            f"{readable_size(needed)}, but the limit is {readable_size(limit)}; raise --memory-limit, or ask a machine "
            "with more memory"
        )
