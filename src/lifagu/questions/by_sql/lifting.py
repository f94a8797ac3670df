"""Lifting a folder of Parquet tables where it is: filled, coloured, and all of it written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from lifagu.basics.arrays import Ints, by_first_occurrence, group_rows
from lifagu.basics.atomic_files import PathLike, replaced_folder
from lifagu.basics.columns import Column, Columns, Nullable
from lifagu.data.parquet.writing import FILES, model_tables
from lifagu.errors import FormatError
from lifagu.filling.record_columns import record_columns
from lifagu.filling.result import Transfer
from lifagu.filling.rules import Filling
from lifagu.graph.evidence import Observation
from lifagu.graph.factor_graph import FactorGraph
from lifagu.questions.by_sql.completing import Filled, Stage, fill_on
from lifagu.questions.by_sql.workplace import BESIDE, journal_of, memory_limit
from lifagu.questions.findings import MOST_GROUPS, MOST_MEMBERS, Group, Groups, Lift
from lifagu.questions.place import Place
from lifagu.questions.storage import is_folder
from lifagu.scale.colour_rounds import Sizes, pass_colours
from lifagu.scale.factor_types import Types
from lifagu.scale.finishing_in_memory import handing_over
from lifagu.scale.intake import names
from lifagu.scale.journal import Journal
from lifagu.scale.results import (
    Findings,
    largest_groups,
    number_groups,
    register_columns,
    write_results,
)
from lifagu.symmetry.colour import colour


def lift_by_sql(
    folder: PathLike,
    evidence: Mapping[str, Observation],
    filling: Filling,
    place: Place,
    *,
    out: PathLike | None,
) -> Lift:
    """Fill the unknown factors of a folder and pass colours over it, without loading it.

    evidence: by name, over the folder's own. place: on which engine. out: a folder for the
    completed model and all that was found.
    """
    if out is not None and not is_folder(out):
        raise FormatError(
            f"{out}: what {place.on} finds is written into a folder; name one, as in result/"
        )
    limit = memory_limit(place)
    about = ("lift", Path(folder), filling, evidence)
    with journal_of(place, int((1 - BESIDE) * limit), *about) as journal:
        return lift_on(journal, folder, evidence, filling, place, out, int(BESIDE * limit))


def lift_on(
    journal: Journal,
    folder: PathLike,
    evidence: Mapping[str, Observation],
    filling: Filling,
    place: Place,
    out: PathLike | None,
    memory: int,
) -> Lift:
    """The same on an engine that is open; memory: in bytes, what may be used here, beside it."""
    stage = place.progress.stage
    whole = fill_on(journal, folder, evidence, filling, stage)
    groups = find_groups(whole, memory, place.rounds, stage)
    if out is not None:
        tables = type_tables(whole)
        findings = Findings(whole.ranges.declared, whole.kinds, whole.observations, *tables)
        with replaced_folder(out, FILES) as temporary:
            for table in write_results(journal, whole.given, findings, temporary):
                stage(f"writing {table}")
    return Lift(whole.transfer, whole.types.size, filling.unknown, groups, None)


def find_groups(whole: Filled, memory: int, most_rounds: int, stage: Stage) -> Groups:
    """Pass colours over a folder that was filled.

    Stores the tables variable_groups and factor_groups (id, group_id). memory: in bytes, to finish
    colours that change for long.
    """
    journal, sizes = whole.journal, _start(whole)
    _move_arguments(journal, whole.types, whole.transfer)
    stage("passing colours")
    state = pass_colours(journal, sizes, most_rounds, handing_over(sizes, _refined, memory), stage)
    counts = number_groups(journal, state)
    largest = (*_largest(whole, "variables"), *_largest(whole, "factors"))
    return Groups(sizes.variables, counts["variable"], sizes.factors, counts["factor"], largest)


def _largest(whole: Filled, sort: str) -> list[Group]:
    """The largest groups of a sort, as people are shown them."""
    found = largest_groups(whole.journal, sort[:-1], MOST_GROUPS, MOST_MEMBERS)
    numbers = sorted({number for _, *members in found for number in members})
    called = dict(zip(numbers, names(whole.journal, whole.given, sort, numbers), strict=True))
    return [Group(sort, size, tuple(called[each] for each in members)) for size, *members in found]


def _start(whole: Filled) -> Sizes:
    """Store start colours."""
    journal, looks, ranges, types = whole.journal, whole.looks, whole.ranges, whole.types
    declared = ranges.range_of[looks.declared] if len(looks.declared) else looks.declared
    variables = group_rows(np.column_stack((declared, looks.seen)))
    factors = by_first_occurrence(whole.transfer.factor_start)
    journal.register("look_start", {"look": np.arange(len(variables)), "colour": variables})
    journal.register("type_start", {"type": types.first, "colour": factors})
    journal.create(
        "variable_start", "SELECT v.id, s.colour FROM looks v JOIN look_start s ON s.look = v.look"
    )
    journal.create(
        "factor_start", "SELECT t.id, s.colour FROM typed t JOIN type_start s ON s.type = t.type"
    )
    start = int(variables.max(initial=-1)) + int(factors.max(initial=-1)) + 2
    return Sizes(whole.given.counts["variables"], whole.given.counts["factors"], start)


def _move_arguments(journal: Journal, types: Types, moved: Transfer) -> None:
    """Store the arguments of filled factors in the order of their donors'."""
    moves = _moves(types, moved)
    if len(moves["type"]):
        journal.register("moves", moves)
        journal.create(
            "arguments_moved",
            """
            SELECT a.factor, coalesce(m.place, a.position) AS position, a.variable
            FROM arguments a
            JOIN typed t ON t.id = a.factor
            LEFT JOIN moves m ON m.type = t.type AND m.position = a.position
            """,
        )
        journal.once(
            "moving", lambda: journal.engine.create("arguments", "SELECT * FROM arguments_moved")
        )
        journal.drop("arguments_moved")


def _moves(types: Types, moved: Transfer) -> dict[str, Ints]:
    """For types whose arguments are re-ordered: which position goes to which place."""
    owners, positions, places = [], [], []
    for receivers, _, alignment in moved.loans():
        changed = (alignment != np.arange(alignment.shape[1])).any(axis=1)
        owners.append(np.repeat(types.first[receivers[changed]], alignment.shape[1]))
        positions.append(alignment[changed].reshape(-1))
        places.append(np.tile(np.arange(alignment.shape[1]), int(changed.sum())))
    none = np.zeros(0, dtype=np.int64)
    return {
        "type": np.concatenate([none, *owners]),
        "position": np.concatenate([none, *positions]),
        "place": np.concatenate([none, *places]),
    }


def _refined(
    offsets: Ints, arguments: Ints, positions: Ints, variable_start: Ints, factor_start: Ints
) -> tuple[Ints, Ints]:
    """The stable colours of a graph given by arrays, from the kernel."""
    graph = FactorGraph.from_arrays(
        ranges=[["only"]],
        variable_ranges=np.zeros(len(variable_start), dtype=np.int64),
        offsets=offsets,
        arguments=arguments,
        tables=[],
        factor_tables=np.full(len(factor_start), -1),
    )
    found = colour(
        graph, variable_start=variable_start, factor_start=factor_start, positions=positions
    )
    return found.variable_colours, found.factor_colours


def type_tables(whole: Filled) -> tuple[Columns, Columns]:
    """The tables of the completed model, and the record of each unknown type.

    Stores type_results (type, table_id) and records (type, donor_id, …). The model is completed
    with the winning tables, whatever answers are computed with, as it is in memory.
    """
    journal, types, moved = whole.journal, whole.types, whole.transfer
    tables = model_tables(moved.graph)
    given = tables["factors"]["table_id"]
    assert isinstance(given, Nullable)
    register_columns(journal, "type_results", {"type": types.first, "table_id": given.numbers})
    records = type_records(whole)
    register_columns(journal, "records", records)
    return tables["tables"], records


def type_records(whole: Filled) -> Columns:
    """The record of each unknown type, as columns; types and donors by their first factors."""
    types, moved = whole.types, whole.transfer
    records = record_columns(moved)
    donors = np.where(records.donors < 0, -1, types.first[records.donors])
    typed: dict[str, Column] = {"donor_id": Nullable(donors), "type": types.first[moved.unknown]}
    return records.by_number() | typed
