"""Lifting a folder of Parquet tables where it is: filled, coloured, and all of it written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from lifagu.basics.arrays import Ints, by_first_occurrence, group_rows
from lifagu.basics.atomic_files import PathLike, replaced_folder
from lifagu.basics.columns import Columns, Nullable
from lifagu.basics.progress import Announce
from lifagu.data.parquet.writing import FILES, given_tables, table_columns
from lifagu.errors import FormatError
from lifagu.filling.record_columns import record_columns
from lifagu.filling.rules import Filling
from lifagu.graph.evidence import Observation
from lifagu.graph.factor_graph import FactorGraph
from lifagu.questions.by_sql.completing import Filled, fill_on
from lifagu.questions.by_sql.workplace import BESIDE, journal_of, memory_limit
from lifagu.questions.findings import MOST_GROUPS, MOST_MEMBERS, Group, Groups, Lift
from lifagu.questions.place import Place
from lifagu.questions.storage import is_folder
from lifagu.scale.colour_rounds import Sizes, pass_colours, store_start
from lifagu.scale.factor_types import reorder_arguments
from lifagu.scale.finishing_in_memory import finisher
from lifagu.scale.folder_contents import names
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
    return Lift(whole.transfer, whole.types.size, whole.transfer.way, groups, None)


def find_groups(whole: Filled, memory: int, most_rounds: int, stage: Announce) -> Groups:
    """Pass colours over a folder that was filled.

    Stores the tables variable_groups and factor_groups (id, group_id). memory: in bytes, to finish
    colours that change for long.
    """
    journal, sizes = whole.journal, _start(whole)
    reorder_arguments(journal, *_moves(whole))
    stage("passing colours")
    state = pass_colours(journal, sizes, most_rounds, finisher(sizes, _refined, memory), stage)
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
    looks, counts = whole.looks, whole.given.counts
    ranges = whole.ranges.range_of[looks.declared] if len(looks.declared) else looks.declared
    variables = group_rows(np.column_stack((ranges, whole.observations.value_of[looks.seen])))
    factors = by_first_occurrence(whole.transfer.factor_start)
    store_start(whole.journal, variables, whole.types.first, factors)
    start = int(variables.max(initial=-1)) + int(factors.max(initial=-1)) + 2
    return Sizes(counts["variables"], counts["factors"], start)


def _moves(whole: Filled) -> tuple[Ints, Ints, Ints]:
    """Types whose arguments go into the order of their donors': which position to which place."""
    none = np.zeros(0, dtype=np.int64)
    types, positions, places = [none], [none], [none]
    for receivers, _, alignment in whole.transfer.loans():
        changed = (alignment != np.arange(alignment.shape[1])).any(axis=1)
        types.append(np.repeat(whole.types.first[receivers[changed]], alignment.shape[1]))
        positions.append(alignment[changed].reshape(-1))
        places.append(np.tile(np.arange(alignment.shape[1]), int(changed.sum())))
    return np.concatenate(types), np.concatenate(positions), np.concatenate(places)


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

    Stores type_results (type, table_id, known) and records (type, donor_id, …). The model is
    completed with the winning tables, whatever answers are computed with, as it is in memory.
    """
    tables, table_of = given_tables(whole.transfer.graph)
    results = {"type": whole.types.first, "table_id": table_of, "known": whole.types.table >= 0}
    register_columns(whole.journal, "type_results", results)
    records = type_records(whole)
    register_columns(whole.journal, "records", records)
    return table_columns(tables), records


def type_records(whole: Filled) -> Columns:
    """The record of each unknown type, as columns; types and donors by their first factors."""
    first, records = whole.types.first, record_columns(whole.transfer)
    donors = np.where(records.donors < 0, -1, first[records.donors])
    return {
        **records.by_number(),
        "donor_id": Nullable(donors),
        "type": first[whole.transfer.unknown],
    }
