"""Questions to a folder of Parquet tables: `scale` makes its rows fewer, `inference` does the rest.

The graph is never in memory: only tables, and the rows left when most variables are summed out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from lifagu.basics.atomic_files import PathLike
from lifagu.basics.memory import readable_size
from lifagu.basics.progress import Announce, Tell
from lifagu.errors import Remedy, TooLargeError
from lifagu.filling.rules import Filling
from lifagu.graph.evidence import Observation
from lifagu.inference.lifted.tables_by_label import Labels
from lifagu.inference.listed_rows import Known, RowsLeft, check_asked, prepare_listed
from lifagu.inference.prepared import Prepared, Result
from lifagu.questions.by_sql.agreeing import first_names
from lifagu.questions.by_sql.completing import Completed, fill_on, take_on
from lifagu.questions.by_sql.support import Support, supports
from lifagu.questions.by_sql.workplace import BESIDE, journal_of, memory_limit
from lifagu.questions.place import ANSWERING, Place
from lifagu.relational.ground_parts import declared_tables
from lifagu.scale.eliminating import ObstacleError, StoredRows, Work, eliminate, listed_rows, load
from lifagu.scale.factor_types import Types, looks_of
from lifagu.scale.folder_contents import numbers_of
from lifagu.scale.journal import Journal

ENOUGH = 10**6  # arguments that are listed at once


@dataclass(frozen=True, eq=False)
class PlannedBySql:
    """Questions whose rows are few by now: `str` shows the rounds and the plan for the rest.

    supports: for each question what its answer rests on. unknown: how many factors came without a
    table; transferred: how many of them got one; weakest_share: the smallest share of agreement
    among those, None if there are none.
    """

    prepared: Prepared
    rounds: tuple[str, ...]
    where: str
    supports: tuple[Support, ...]
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

    def run(self, progress: Tell | None = None) -> Result:
        """Compute the answers."""
        result, plan = self.prepared.run(progress), str(self)
        pairs = zip(result.answers, self.supports, strict=True)
        answers = [support.given_to(replace(answer, plan=plan)) for answer, support in pairs]
        return Result(answers, result.log_partition, result.notes, self.unknown, self.transferred)


def plan_by_sql(
    folder: PathLike,
    questions: Sequence[Sequence[str]],
    evidence: Mapping[str, Observation],
    filling: Filling | None,
    place: Place,
    *,
    enough: int | None = None,
) -> PlannedBySql:
    """Make the rows of a folder few, and plan the answers to questions (tuples of names).

    No question asks for log Z alone. evidence: added to the folder's own, which it overrides name
    by name. filling: how unknown factors are filled first, None leaves them unknown. place: on
    which engine; work that is interrupted before rows are made fewer can go on. enough: arguments
    that are few; a million by default, or what fits.
    """
    limit = memory_limit(place)
    few = few_arguments(limit) if enough is None else enough
    with journal_of(place, limit, "ask", Path(folder), filling, evidence) as journal:
        stage = place.progress.stage
        return plan_on(journal, folder, questions, evidence, filling, limit, few, stage)


def few_arguments(limit: int) -> int:
    """How many arguments are listed at once within a limit in bytes."""
    return min(ENOUGH, limit // ANSWERING)


def plan_on(
    journal: Journal,
    folder: PathLike,
    questions: Sequence[Sequence[str]],
    evidence: Mapping[str, Observation],
    filling: Filling | None,
    limit: int,
    enough: int,
    stage: Announce,
) -> PlannedBySql:
    """The same on an engine that is open."""
    whole: Completed = (
        take_on(journal, folder, evidence, stage)
        if filling is None
        else fill_on(journal, folder, evidence, filling, stage)
    )
    numbers = numbers_of(journal, whole.given, chain.from_iterable(questions))
    asked = [[numbers[name] for name in question] for question in questions]
    left, rounds = left_over(whole, numbers, asked, limit, enough, stage)
    prepared = prepare_listed(left, asked, limit)
    free = [[each for each in question if left.known[each].observed < 0] for question in asked]
    return PlannedBySql(
        prepared,
        rounds,
        journal.engine.dialect.name,
        supports(whole, free, int(BESIDE * limit), stage),
        whole.unknown,
        whole.transferred,
        whole.weakest_share,
    )


def left_over(
    whole: Completed,
    numbers: Mapping[str, int],
    asked: Sequence[Sequence[int]],
    limit: int,
    enough: int,
    stage: Announce,
) -> tuple[RowsLeft, tuple[str, ...]]:
    """What is left of a folder when most variables are summed out, and what each round did.

    numbers: of the variables that are asked about, by name; asked: the questions about them.
    """
    by_look, given, labels, rounds = whole.by_look, whole.given, Labels(), []

    def tell(text: str) -> None:
        rounds.append(text)
        stage(text)

    try:
        with Work(whole.journal.engine) as work:
            known = _known(whole, numbers)
            check_asked(known, asked, limit)
            rows = load(work, _as_completed(whole), by_look, labels, given.counts["variables"])
            free = {variable: each for variable, each in known.items() if each.observed < 0}
            kept = {variable: len(each.labels) for variable, each in free.items()}
            reason = eliminate(rows, by_look, kept, enough, tell)
            _check_fits(given.folder, rows, reason, limit)
            listed = listed_rows(rows)
    except ObstacleError as obstacle:
        what = f"{given.folder}: {obstacle}, too many for SQL"
        raise TooLargeError(what, remedy=Remedy.IN_MEMORY) from None
    seen = (each.observed >= 0 or each.likelihood is not None for each in by_look if each.many)
    unknown = first_names(whole.journal, given, whole.types, whole.graph.unknown)
    return RowsLeft(labels, listed, known, unknown, any(seen)), tuple(rounds)


def _known(whole: Completed, numbers: Mapping[str, int]) -> dict[int, Known]:
    """What is known of the variables that are asked about."""
    look_of = looks_of(whole.journal, numbers.values())
    found = {}
    for name, number in numbers.items():
        alike = whole.by_look[look_of[number]]
        found[number] = Known(name, alike.labels, alike.observed)
    return found


def _as_completed(whole: Completed) -> Types:
    """The types with the tables that they have in the end, and looks in the order of these."""
    types, order = whole.types, whole.graph.arguments
    tables, table_of = declared_tables(whole.graph)
    looks, positions = types.looks[order], types.positions[order]
    return replace(types, table=table_of, looks=looks, positions=positions, tables=tables)


def _check_fits(folder: PathLike, rows: StoredRows, reason: str | None, limit: int) -> None:
    """Refuse rows that are too many to be listed."""
    needed = ANSWERING * rows.arguments
    if reason is not None and needed > limit:
        raise TooLargeError(
            f"{folder}: {rows.count} rows are left that SQL cannot make fewer ({reason}), "
            f"and they need about {readable_size(needed)}, but the limit is {readable_size(limit)}",
            remedy=Remedy.MORE_MEMORY,
        )
