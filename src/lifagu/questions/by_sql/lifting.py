"""Lifting a folder of Parquet tables where it is: filled, coloured, and all of it written."""

from __future__ import annotations

from collections.abc import Mapping

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
from lifagu.questions.by_sql.completing import Completed, Filled, fill_on
from lifagu.questions.by_sql.workplace import BESIDE, engine_of, memory_limit
from lifagu.questions.findings import MOST_GROUPS, MOST_MEMBERS, Group, Groups, Lift
from lifagu.questions.place import Place
from lifagu.questions.storage import is_folder
from lifagu.relational.ground_parts import declared_tables
from lifagu.scale.colour_rounds import Sizes, State, pass_colours, store_start
from lifagu.scale.engines.engine import Engine
from lifagu.scale.factor_types import reorder_arguments
from lifagu.scale.finishing_in_memory import finisher
from lifagu.scale.folder_contents import names
from lifagu.scale.results import (
    Findings,
    largest_groups,
    number_groups,
    register_columns,
    write_results,
)
from lifagu.symmetry.colour import colour

MOST_ROUNDS = 1000  # of colour passing


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
    with engine_of(place, int((1 - BESIDE) * limit)) as engine:
        return lift_on(engine, folder, evidence, filling, place, out, int(BESIDE * limit))


def lift_on(
    engine: Engine,
    folder: PathLike,
    evidence: Mapping[str, Observation],
    filling: Filling,
    place: Place,
    out: PathLike | None,
    memory: int,
) -> Lift:
    """The same on an engine that is open; memory: in bytes, what may be used here, beside it."""
    stage = place.progress.stage
    whole = fill_on(engine, folder, evidence, filling, stage)
    in_order(whole)
    groups = shown_groups(whole, *find_groups(whole, memory, stage))
    if out is not None:
        tables = type_tables(whole)
        findings = Findings(whole.ranges.declared, whole.kinds, whole.observations, *tables)
        with replaced_folder(out, FILES) as temporary:
            for table in write_results(engine, whole.given, findings, temporary):
                stage(f"writing {table}")
    return Lift(whole.transfer, whole.types.size, whole.transfer.way, groups, None)


def find_groups(
    whole: Completed, memory: int, stage: Announce, exact: bool = False
) -> tuple[Sizes, dict[str, int]]:
    """Pass colours over a folder; how many nodes there are, and how many groups of each sort.

    Stores the tables variable_groups and factor_groups (id, group_id). memory: in bytes, to finish
    colours that change for long. exact: whether factors of a group have the very same table, also
    where tables are filled as equal that are equal up to scale.
    """
    engine, sizes = whole.engine, _start(whole, exact)
    stage("passing colours")
    return sizes, number_groups(engine, pass_on(engine, sizes, memory, stage))


def in_order(whole: Completed) -> None:
    """Put the arguments of filled factors into the order of those they take their tables from."""
    if isinstance(whole, Filled):
        reorder_arguments(whole.engine, *_moves(whole))


def pass_on(
    engine: Engine, sizes: Sizes, memory: int, stage: Announce, state: State | None = None
) -> State:
    """Pass colours until they stand still."""
    finish = finisher(sizes, _refined, memory)
    return pass_colours(engine, sizes, MOST_ROUNDS, finish, stage, state)


def shown_groups(whole: Completed, sizes: Sizes, counts: Mapping[str, int]) -> Groups:
    """The groups that are stored, as people are shown them."""
    largest = (*_largest(whole, "variables"), *_largest(whole, "factors"))
    return Groups(sizes.variables, counts["variable"], sizes.factors, counts["factor"], largest)


def _largest(whole: Completed, sort: str) -> list[Group]:
    """The largest groups of a sort, as people are shown them."""
    found = largest_groups(whole.engine, sort[:-1], MOST_GROUPS, MOST_MEMBERS)
    numbers = sorted({number for _, *members in found for number in members})
    called = dict(zip(numbers, names(whole.engine, whole.given, sort, numbers), strict=True))
    return [Group(sort, size, tuple(called[each] for each in members)) for size, *members in found]


def _start(whole: Completed, exact: bool) -> Sizes:
    """Store start colours."""
    looks, counts = whole.looks, whole.given.counts
    ranges = whole.ranges.range_of[looks.declared] if len(looks.declared) else looks.declared
    variables = group_rows(np.column_stack((ranges, whole.observations.value_of[looks.seen])))
    own = declared_tables(whole.graph)[1] + 1
    if isinstance(whole, Filled) and not exact:
        own = whole.transfer.factor_start
    factors = by_first_occurrence(own)
    store_start(whole.engine, variables, whole.types.first, factors)
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
    register_columns(whole.engine, "type_results", results)
    records = type_records(whole)
    register_columns(whole.engine, "records", records)
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
