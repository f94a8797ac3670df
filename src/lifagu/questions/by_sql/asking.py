"""Questions to a folder of Parquet tables: `sql` makes its rows fewer, `infer` does the rest.

The graph is never in memory: only tables, and the rows that are left when most variables are summed
out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from lifagu.basics.atomic_files import PathLike
from lifagu.basics.progress import Tell
from lifagu.errors import Remedy, TooLargeError
from lifagu.filling.rules import Filling
from lifagu.graph.evidence import Observation
from lifagu.inference.lifted.tables_by_label import Labels
from lifagu.inference.listed_rows import Known, RowsLeft, check_asked, prepare_listed
from lifagu.inference.plan import readable_size
from lifagu.inference.prepared import Prepared, Result
from lifagu.questions.by_sql.completing import Completed, Stage, fill_on, take_on
from lifagu.questions.by_sql.resting import Support, supports
from lifagu.questions.by_sql.workplace import BESIDE, journal_of, memory_limit
from lifagu.questions.place import ANSWERING, Place
from lifagu.relational.ground_parts import declared_tables
from lifagu.scale import eliminating as sql
from lifagu.scale.factor_types import Types
from lifagu.scale.intake import names, numbers_of
from lifagu.scale.journal import Journal

ENOUGH = 10**6  # arguments that are listed at once
MOST_NAMES = 5  # of unknown factors


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
    stage: Stage,
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
    stage: Stage,
) -> tuple[RowsLeft, tuple[str, ...]]:
    """What is left of a folder when most variables are summed out, and what each round did.

    numbers: of the variables that are asked about, by name; asked: the questions about them.
    """
    marks, labels, rounds = whole.marks, Labels(), []
    given = whole.given

    def tell(text: str) -> None:
        rounds.append(text)
        stage(text)

    try:
        with sql.Work(whole.journal.engine) as work:
            known = _known(work, marks, numbers)
            check_asked(known, asked, limit)
            rows = sql.load(work, _as_completed(whole), marks, labels, given.counts["variables"])
            free = {variable: each for variable, each in known.items() if each.observed < 0}
            kept = {variable: len(each.labels) for variable, each in free.items()}
            reason = sql.eliminate(rows, marks, kept, enough, tell)
            _check_fits(given.folder, rows, reason, limit)
            listed = sql.listed_rows(rows)
    except sql.ObstacleError as obstacle:
        what = f"{given.folder}: {obstacle}, too many for SQL"
        raise TooLargeError(what, remedy=Remedy.IN_MEMORY) from None
    seen = (mark.observed >= 0 or mark.likelihood is not None for mark in marks if mark.many)
    return RowsLeft(labels, listed, known, _unknown_names(whole), any(seen)), tuple(rounds)


def _known(
    work: sql.Work, marks: Sequence[sql.Mark], numbers: Mapping[str, int]
) -> dict[int, Known]:
    """What is known of the variables that are asked about."""
    if not numbers:
        return {}
    few = ", ".join(map(str, numbers.values()))
    look_of = dict(work.rows(f"SELECT id, look FROM looks WHERE id IN ({few})"))
    found = {}
    for name, number in numbers.items():
        mark = marks[look_of[number]]
        found[number] = Known(name, mark.labels, mark.observed)
    return found


def _as_completed(whole: Completed) -> Types:
    """The types with the tables that they have in the end, and looks in the order of these."""
    types, order = whole.types, whole.graph.arguments
    tables, table_of = declared_tables(whole.graph)
    looks, positions = types.looks[order], types.positions[order]
    return replace(types, table=table_of, looks=looks, positions=positions, tables=tables)


def _unknown_names(whole: Completed) -> list[str]:
    """The names of the first few factors that have no table in the end."""
    if not whole.left:
        return []
    few = ", ".join(map(str, whole.types.first[whole.graph.unknown].tolist()))
    rows = whole.journal.engine.rows(
        f"""
        SELECT id
        FROM typed
        WHERE type IN ({few})
        ORDER BY id
        LIMIT {MOST_NAMES}
        """
    )
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
