"""From a folder with holes to answers in one step: fill, colour, answer, say what rests on what."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np

from lifagu.basics.arrays import Floats, Ints, offsets_of
from lifagu.basics.atomic_files import PathLike, replaced_folder
from lifagu.basics.columns import Column, Columns, Lists, text_lists
from lifagu.basics.names import Names
from lifagu.basics.progress import Announce
from lifagu.data.parquet.writing import write_table
from lifagu.errors import FormatError
from lifagu.filling.record_columns import record_columns
from lifagu.filling.rules import Filling
from lifagu.graph.evidence import Observation
from lifagu.questions.by_sql.asking import LiftedThere, lifted_here
from lifagu.questions.by_sql.completing import Filled, fill_on
from lifagu.questions.by_sql.lifting import find_groups, in_order, shown_groups
from lifagu.questions.by_sql.workplace import BESIDE, engine_of, memory_limit
from lifagu.questions.comparing.run import RUN, run_text
from lifagu.questions.findings import Imputed, Requested
from lifagu.questions.place import Place
from lifagu.questions.planning import prepare
from lifagu.questions.requested_marginals import distribution_of
from lifagu.questions.writing_results import IMPUTED, check_imputed_target
from lifagu.relational.ground_parts import declared_tables
from lifagu.relational.key_columns import Keys, kind_columns
from lifagu.scale.folder_contents import kinds_of, names, numbers_of
from lifagu.scale.lent_tables import Tally, lent_to
from lifagu.scale.near_unknown_factors import find_near
from lifagu.scale.results import register_columns, write_imputed

MOST_ASKED = 100  # variables that are asked about when nobody says which


def impute_by_sql(
    folder: PathLike,
    queries: Sequence[str] | None,
    evidence: Mapping[str, Observation],
    filling: Filling,
    place: Place,
    *,
    out: PathLike | None,
    run: Callable[[int, int], Mapping[str, Any]],
) -> Imputed:
    """Fill the unknown factors of a folder, find what is alike, and answer about single variables.

    queries: the variables to ask about; None for those near unknown factors, the first hundred.
    out: a folder for transfers, tables and marginals; run: what is written of the run beside them,
    from how many factors were unknown, and filled. Everything else as for `lift_by_sql`.
    """
    if out is not None:
        check_imputed_target(out)
        if Path(out).suffix:
            raise FormatError(
                f"{out}: what {place.on} finds is written as Parquet; "
                "name a folder without an ending"
            )
    limit = memory_limit(place)
    with engine_of(place, int((1 - BESIDE) * limit)) as engine:
        whole = fill_on(engine, folder, evidence, filling, place.progress.stage)
        found = _impute(whole, queries, place, int(BESIDE * limit))
        if out is not None:
            _write(whole, found, out, run(found.unknown, found.filled), place.progress.stage)
        return found


def _impute(whole: Filled, queries: Sequence[str] | None, place: Place, memory: int) -> Imputed:
    """Colour and ask a folder that was filled; memory: what may be used here, beside the engine."""
    asked, offered = _asked(whole, queries)
    stage = place.progress.stage
    in_order(whole)
    found = find_groups(whole, memory, stage)
    groups = shown_groups(whole, *found)
    if whole.transfer.equality != "exactly":
        found = find_groups(whole, memory, stage, exact=True)
    here = lifted_here(whole, *found, list(asked.values()), memory, stage)
    marginals = _requested(here, asked, memory, place)
    moved = whole.transfer
    return Imputed(moved, whole.types.size, moved.way, groups, None, marginals, offered)


def _asked(whole: Filled, queries: Sequence[str] | None) -> tuple[dict[str, int], int | None]:
    """The variables asked about, by name, and how many could be where nobody said which."""
    engine, given, types = whole.engine, whole.given, whole.types
    if queries is not None:
        return numbers_of(engine, given, queries), None
    unknown, free = types.first[types.table < 0], np.flatnonzero(~whole.hard)
    numbers, count = find_near(engine, given, unknown, free, MOST_ASKED)
    return dict(zip(names(engine, given, "variables", numbers), numbers, strict=True)), count


def _requested(here: LiftedThere, asked: Mapping[str, int], memory: int, place: Place) -> Requested:
    """The answers about single variables, each with what it rests on, and those without one."""
    whole: Filled = here.whole  # type: ignore[assignment]
    without = np.isin([here.part_of(each) for each in asked.values()], here.unknown_parts)
    found, unanswered = list(compress(asked, ~without)), list(compress(asked, without))
    place.progress.stage("answering")
    answers = []
    if found:
        questions = [(name,) for name in found]
        planned = prepare(here.model, questions, here.evidence, memory_limit=memory)
        answers = planned.run(place.progress).answers
    numbers = [asked[name] for name in found]
    lent = here.lent()
    parts = {each: here.part_of(each) for each in numbers if here.part_of(each) in lent}
    behind = {each: lent[part] for each, part in parts.items()}
    own = lent_to(whole.engine, whole.given, parts)
    counts, weakest, guesses = _tallied(behind, numbers)
    if whole.transfer.way != "best":
        guesses = np.zeros_like(guesses)
    return Requested(
        Names("variable", found),
        np.arange(len(found)),
        tuple(map(distribution_of, answers)),
        *_tallied(own, numbers)[:2],
        counts,
        weakest,
        guesses,
        Names("variable", unanswered),
        about=_keys(whole, numbers),
    )


def _tallied(tally: Tally, variables: Sequence[int]) -> tuple[Ints, Floats, Ints]:
    """How many tables there are for each variable, the smallest share (nan if none), guesses."""
    found = [tally.get(each, (0, np.nan, 0)) for each in variables]
    counts = np.array([count for count, _, _ in found], dtype=np.int64)
    shares = np.array([share for _, share, _ in found], dtype=np.float64)
    return counts, shares, np.array([guesses for _, _, guesses in found], dtype=np.int64)


def _keys(whole: Filled, numbers: list[int]) -> Keys:
    """Kinds and individuals of variables, as in memory."""
    found = kinds_of(whole.engine, whole.given, numbers) if numbers else []
    individuals = text_lists([each for _, each in found])
    return Keys("", kind_columns([kind for kind, _ in found], individuals), {})


# ---- writing


def _write(
    whole: Filled, found: Imputed, out: PathLike, run: Mapping[str, Any], stage: Announce
) -> None:
    """The tables of an `impute`, by name; the engine writes those with a row for each factor."""
    records = record_columns(whole.transfer).by_name(whole.graph.factor_names)
    del records["factor"]  # one stands for many, whose names the engine knows
    named = {**records, "type": whole.types.first[whole.transfer.unknown]}
    register_columns(whole.engine, "named_records", named)
    register_columns(whole.engine, "filled", _filled_columns(whole))
    columns = list(records)
    with replaced_folder(out, IMPUTED) as folder:
        for table in write_imputed(whole.engine, whole.given, columns, folder):
            stage(f"writing {table}")
        write_table(folder / "marginals.parquet", found.marginals.columns())
        (folder / RUN).write_text(run_text(run), encoding="utf-8")


def _filled_columns(whole: Filled) -> Columns:
    """For each type that got a table: where its arguments stand, in order, and the potentials."""
    filled, graph = whole.transfer.transferred, whole.graph
    tables, table_of = declared_tables(graph)
    arity = np.diff(graph.offsets)[filled]
    columns: dict[str, Column] = {"type": whole.types.first[filled], "arity": arity}
    for place in range(int(arity.max(initial=0))):
        at = np.minimum(graph.offsets[filled] + place, len(graph.arguments) - 1)
        positions = whole.types.positions[graph.arguments[at]]
        columns[f"p{place}"] = np.where(place < arity, positions, -1)
    lengths = np.array([len(each) for each in tables], dtype=np.int64)
    potentials = np.concatenate(tables) if tables else np.zeros(0)
    starts = offsets_of(lengths)
    columns["potentials"] = Lists(starts, potentials, table_of[filled])
    return columns
