"""From a folder with holes to answers in one step, where the data is: fill, colour, answer, say what rests on what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from lifagu.answers_by_sql import ENOUGH, UNKNOWN, left_over, marks_of
from lifagu.columns import Column, Columns, Lists, Nullable, name_column, texts
from lifagu.errors import FormatError, ModelError
from lifagu.evidence import Observation
from lifagu.folders import ANSWERING, Completed, Filling, Told, complete_on, workplace
from lifagu.ground_parts import declared_tables
from lifagu.infer.listed import has_answer, prepare_listed
from lifagu.infer.plan import default_memory_limit
from lifagu.infer.prepared import Progress
from lifagu.lent import Left, Lent, summary
from lifagu.lifting_by_sql import BESIDE, MOST_ROUNDS, FolderLift, find_groups, type_tables
from lifagu.replacing import PathLike, replaced_folder
from lifagu.results import IMPUTED, check_imputed_target
from lifagu.sql import write_table
from lifagu.sql.engines import open_engine
from lifagu.sql.scale import Journal, find_near, lent_to, names, numbers_of, register_columns, write_imputed

MOST_ASKED = 100  # variables that are asked about when nobody says which


@dataclass(frozen=True)
class Marginal:
    """The answer about one variable, by label; how many tables were lent to it, and the weakest share among them."""

    variable: str
    probabilities: dict[str, float]
    own_transferred: int
    own_weakest_share: float | None


@dataclass(frozen=True, eq=False)
class FolderImputed(FolderLift):
    """The same, with the marginals that were asked for, given the evidence.

    unanswered: variables connected to factors that stay unknown; offered: how many variables could have been asked
    about where nobody said which, else None.
    """

    marginals: tuple[Marginal, ...]
    unanswered: tuple[str, ...]
    offered: int | None

    @property
    def lent(self) -> tuple[Lent, ...]:
        """Who lent what to whom, one entry for what is alike."""
        return self._summary[0]

    @property
    def left(self) -> tuple[Left, ...]:
        """What stays unknown and why, one entry for what is alike."""
        return self._summary[1]

    @cached_property
    def _summary(self) -> tuple[tuple[Lent, ...], tuple[Left, ...]]:
        return summary(self.transfer, self.sizes)

    def __repr__(self) -> str:
        left = self.unknown - self.filled
        return f"<FolderImputed: {self.filled} filled, {left} left unknown, {len(self.marginals)} marginals>"


def impute_folder(
    path: PathLike,
    evidence: Mapping[str, Observation] | None = None,
    queries: Sequence[str] | None = None,
    *,
    on: str = "duckdb",
    out: PathLike | None = None,
    filling: Filling | None = None,
    unknown: str = "one",
    memory_limit: int | None = None,
    temp: PathLike | None = None,
    resume: bool = False,
    most_rounds: int = MOST_ROUNDS,
    told: Told | None = None,
    progress: Progress | None = None,
) -> FolderImputed:
    """Fill the unknown factors of a folder, find what looks alike, and answer questions about single variables.

    The same as `impute` for what does not fit in memory. queries: the variables to ask about; by default those near
    unknown factors, the first hundred. out: a folder for transfers, tables and marginals, as `write_imputed` writes
    them. unknown: with "one" of competing tables, or their "mean". Everything else as for `lift_folder`.
    """
    if unknown not in UNKNOWN:
        raise ModelError(f"unknown is '{unknown}'; by SQL, choose one of {', '.join(UNKNOWN)}")
    if out is not None:
        check_imputed_target(out)
        if Path(out).suffix:
            raise FormatError(f"{out}: what {on} finds is written as Parquet; name a folder without an ending")
    limit = default_memory_limit() if memory_limit is None else memory_limit
    filling, evidence = filling or Filling(), evidence or {}
    about = ("impute", Path(path), on.partition("=")[0], filling, unknown, evidence, list(queries or ()))
    with workplace(temp, resume, *about) as folder:
        engine = open_engine(on, folder, int((1 - BESIDE) * limit))
        say = told or (lambda _: None)
        try:
            whole = complete_on(Journal(engine), path, evidence, filling, say, mean=unknown == "mean")
            return _impute(whole, queries, out, int(BESIDE * limit), most_rounds, say, progress)
        finally:
            engine.close()


def _impute(
    whole: Completed,
    queries: Sequence[str] | None,
    out: PathLike | None,
    memory: int,
    most_rounds: int,
    told: Told,
    progress: Progress | None,
) -> FolderImputed:
    """Colour and ask a completed folder; memory: what may be used here, beside the engine."""
    assert whole.transfer is not None, "a way to fill was given"
    asked, offered = _asked(whole, queries)
    groups = find_groups(whole, memory, most_rounds, told)
    _, records = type_tables(whole)
    marginals, unanswered = _answered(whole, asked, memory, told, progress)
    if out is not None:
        _write(whole, records, marginals, out, told)
    return FolderImputed(whole.transfer, whole.types.size, groups, marginals, unanswered, offered)


def _asked(whole: Completed, queries: Sequence[str] | None) -> tuple[dict[str, int], int | None]:
    """The numbers of the variables asked about, by name, and how many could have been asked if nobody said which."""
    journal, given, types = whole.journal, whole.given, whole.types
    if queries is not None:
        return numbers_of(journal, given, queries), None
    hard = np.array([mark.observed >= 0 for mark in marks_of(whole)], dtype=np.bool_)
    numbers, count = find_near(journal, given, types.first[types.table < 0], np.flatnonzero(~hard), MOST_ASKED)
    return dict(zip(names(journal, given, "variables", numbers), numbers, strict=True)), count


def _answered(
    whole: Completed, asked: Mapping[str, int], memory: int, told: Told, progress: Progress | None
) -> tuple[tuple[Marginal, ...], tuple[str, ...]]:
    """The answers about single variables, and those without one."""
    if not asked:
        return (), ()
    left, _ = left_over(
        whole, asked, [[number] for number in asked.values()], memory, min(ENOUGH, memory // ANSWERING), told
    )
    answerable = dict(zip(asked, has_answer(left, list(asked.values())), strict=True))
    questions = [[number] for name, number in asked.items() if answerable[name]]
    answers = prepare_listed(left, questions, memory).run(progress).answers if questions else []
    own = lent_to(whole.journal, whole.given, [number for (number,) in questions])
    found = []
    for (number,), answer in zip(questions, answers, strict=True):
        probabilities = {label: value for (label,), value in answer.items()}
        found.append(Marginal(answer.variables[0], probabilities, *own.get(number, (0, None))))
    return tuple(found), tuple(name for name in asked if not answerable[name])


# ---- writing


def _write(whole: Completed, records: Columns, marginals: Sequence[Marginal], out: PathLike, told: Told) -> None:
    """The tables of an `impute`, by name; those with a row for each factor are written by the engine."""
    assert whole.transfer is not None, "records are about what was to be filled"
    donors = records["donor_id"]
    assert isinstance(donors, Nullable)
    places = np.where(donors.numbers < 0, -1, np.searchsorted(whole.types.first, donors.numbers))
    named: dict[str, Column] = {"status": records["status"], "donor": name_column(whole.graph.factor_names, places)}
    rest = {column: each for column, each in records.items() if column not in ("factor_id", "status", "donor_id")}
    register_columns(whole.journal, "named_records", {**named, **rest})
    register_columns(whole.journal, "filled", _filled_columns(whole))
    columns = [*named, *(column for column in rest if column != "type")]
    with replaced_folder(out, IMPUTED) as folder:
        for table in write_imputed(whole.journal, whole.given, columns, folder):
            told(f"writing {table}")
        write_table(folder / "marginals.parquet", _marginal_columns(marginals))


def _filled_columns(whole: Completed) -> Columns:
    """For each type that got a table: where its arguments stand, in the order of the table, and the potentials."""
    assert whole.transfer is not None, "it says which types got one"
    filled, graph = whole.transfer.transferred, whole.graph
    tables, table_of = declared_tables(graph)
    arity = np.diff(graph.offsets)[filled]
    columns: dict[str, Column] = {"type": whole.types.first[filled], "arity": arity}
    for place in range(int(arity.max(initial=0))):
        at = np.minimum(graph.offsets[filled] + place, len(graph.arguments) - 1)
        columns[f"p{place}"] = np.where(place < arity, whole.types.positions[graph.arguments[at]], -1)
    lengths = np.array([len(each) for each in tables], dtype=np.int64)
    potentials = np.concatenate(tables) if tables else np.zeros(0)
    columns["potentials"] = Lists(np.concatenate(([0], np.cumsum(lengths))), potentials, table_of[filled])
    return columns


def _marginal_columns(marginals: Sequence[Marginal]) -> Columns:
    """One row per answer and label."""
    rows = [(each, label, value) for each in marginals for label, value in each.probabilities.items()]
    shares = [each.own_weakest_share for each, _, _ in rows]
    return {
        "variable": texts([each.variable for each, _, _ in rows]),
        "value": texts([label for _, label, _ in rows]),
        "probability": np.array([value for _, _, value in rows], dtype=np.float64),
        "own_transferred": np.array([each.own_transferred for each, _, _ in rows], dtype=np.int64),
        "own_weakest_share": np.array([np.nan if share is None else share for share in shares], dtype=np.float64),
    }
