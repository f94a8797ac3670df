"""Lifting a folder of Parquet tables where it is: by DuckDB on disk or by Spark, without having it in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lifagu.arrays import Ints, by_first_occurrence, group_rows
from lifagu.columns import Column, Columns, Nullable
from lifagu.errors import FormatError
from lifagu.evidence import Observation
from lifagu.folders import Completed, Filling, Told, complete_on, workplace
from lifagu.infer.plan import default_memory_limit
from lifagu.model import FactorGraph
from lifagu.replacing import PathLike, replaced_folder
from lifagu.sql import model_tables
from lifagu.sql.engines import Engine, open_engine
from lifagu.sql.scale import (
    Findings,
    Given,
    Journal,
    Sizes,
    Types,
    handing_over,
    names,
    number_groups,
    pass_colours,
    register_columns,
    write_results,
)
from lifagu.sql.writing import FILES
from lifagu.storage import is_folder
from lifagu.symmetry.colour import colour
from lifagu.symmetry.transfer import Transfer, record_columns

BESIDE = 0.4  # of the memory limit goes to the kernel that finishes colours, the rest to the engine
MOST_ROUNDS = 1000
MOST_SHOWN = 40  # groups of a sort


@dataclass(frozen=True, eq=False)
class Group:
    """One of many groups: of variables or of factors, how many members it has, and the name of the first of them."""

    sort: str
    size: int
    first: str


@dataclass(frozen=True, eq=False)
class Groups:
    """What looks alike in a folder: how many groups there are, after how many rounds, and the largest of each sort."""

    variables: int
    factors: int
    rounds: int
    largest: list[Group]


@dataclass(frozen=True, eq=False)
class FolderLift:
    """What was filled in a folder and what looks alike then.

    transfer: by type, each factor f of it standing for sizes[f] factors of the folder.
    """

    transfer: Transfer
    sizes: Ints
    groups: Groups

    @property
    def unknown(self) -> int:
        """How many factors came without a table."""
        return int(self.sizes[self.transfer.unknown].sum())

    @property
    def filled(self) -> int:
        """How many of them got one."""
        return int(self.sizes[self.transfer.transferred].sum())


def lift_folder(
    path: PathLike,
    *,
    on: str = "duckdb",
    out: PathLike | None = None,
    filling: Filling | None = None,
    evidence: Mapping[str, Observation] | None = None,
    memory_limit: int | None = None,
    temp: PathLike | None = None,
    resume: bool = False,
    most_rounds: int = MOST_ROUNDS,
    told: Told | None = None,
) -> FolderLift:
    """Fill the unknown factors of a folder of Parquet tables and pass colours over it, without loading it.

    on: "duckdb", "spark" or "spark=MASTER". out: a folder for the completed model and all that was found. evidence: by
    name, over the folder's own. memory_limit: in bytes. temp: where tables are kept meanwhile; what an interrupted run
    has finished stays there, and resume goes on from it. told(line): what is being done, and each round.
    """
    limit = default_memory_limit() if memory_limit is None else memory_limit
    filling, evidence = filling or Filling(), evidence or {}
    if out is not None and not is_folder(out):
        raise FormatError(f"{out}: what {on} finds is written into a folder; name one, as in result/")
    with workplace(temp, resume, "lift", Path(path), on.partition("=")[0], filling, evidence) as folder:
        engine = open_engine(on, folder, int((1 - BESIDE) * limit))
        try:
            return lift_on(
                engine,
                path,
                out=out,
                filling=filling,
                evidence=evidence,
                memory=int(BESIDE * limit),
                most_rounds=most_rounds,
                told=told,
            )
        finally:
            engine.close()


def lift_on(
    engine: Engine,
    path: PathLike,
    *,
    out: PathLike | None = None,
    filling: Filling | None = None,
    evidence: Mapping[str, Observation] | None = None,
    memory: int = 2**30,
    most_rounds: int = MOST_ROUNDS,
    told: Told | None = None,
) -> FolderLift:
    """The same on an engine that is open.

    memory: bytes that may be used here, beside the engine, to finish colours that change for long.
    """
    say = told or (lambda _: None)
    whole = complete_on(Journal(engine), path, evidence or {}, filling or Filling(), say)
    assert whole.transfer is not None, "a way to fill was given"
    groups = find_groups(whole, memory, most_rounds, say)
    if out is not None:
        findings = Findings(whole.ranges.declared, whole.kinds, whole.observations, *type_tables(whole))
        with replaced_folder(out, FILES) as folder:
            for table in write_results(whole.journal, whole.given, findings, folder):
                say(f"writing {table}")
    return FolderLift(whole.transfer, whole.types.size, groups)


def find_groups(whole: Completed, memory: int, most_rounds: int, told: Told) -> Groups:
    """Pass colours over a completed folder; stores the tables variable_groups and factor_groups (id, group_id)."""
    journal, sizes = whole.journal, _start(whole)
    assert whole.transfer is not None, "colours are passed over what was filled"
    _move_arguments(journal, whole.types, whole.transfer)
    told("passing colours")
    state = pass_colours(journal, sizes, most_rounds, handing_over(sizes, _refined, memory), told)
    counts = number_groups(journal, state)
    return Groups(counts["variable"], counts["factor"], state.round, _largest(journal, whole.given))


def _start(whole: Completed) -> Sizes:
    """Store start colours."""
    journal, looks, ranges, types = whole.journal, whole.looks, whole.ranges, whole.types
    seen = np.column_stack((ranges.range_of[looks.declared], looks.seen)) if len(looks.declared) else np.zeros((0, 2))
    variables = group_rows(seen.astype(np.int64))
    assert whole.transfer is not None, "colours start from what was filled"
    factors = by_first_occurrence(whole.transfer.factor_start)
    journal.register("look_start", {"look": np.arange(len(variables)), "colour": variables})
    journal.register("type_start", {"type": types.first, "colour": factors})
    journal.create("variable_start", "SELECT v.id, s.colour FROM looks v JOIN look_start s ON s.look = v.look")
    journal.create("factor_start", "SELECT t.id, s.colour FROM typed t JOIN type_start s ON s.type = t.type")
    start = int(variables.max(initial=-1)) + int(factors.max(initial=-1)) + 2
    return Sizes(whole.given.counts["variables"], whole.given.counts["factors"], start)


def _move_arguments(journal: Journal, types: Types, moved: Transfer) -> None:
    """Store the arguments of filled factors in the order of their donors'."""
    moves = _moves(types, moved)
    if len(moves["type"]):
        journal.register("moves", moves)
        journal.create(
            "arguments_moved",
            "SELECT a.factor, coalesce(m.place, a.position) AS position, a.variable FROM arguments a "
            "JOIN typed t ON t.id = a.factor LEFT JOIN moves m ON m.type = t.type AND m.position = a.position",
        )
        journal.once("moving", lambda: journal.engine.create("arguments", "SELECT * FROM arguments_moved"))
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
    found = colour(graph, variable_start=variable_start, factor_start=factor_start, positions=positions)
    return found.variable_colours, found.factor_colours


def type_tables(whole: Completed) -> tuple[Columns, Columns]:
    """The tables of the completed model, and the record of each unknown type; both also for statements to read.

    Stores type_results (type, table_id) and records (type, donor_id, …).
    """
    journal, types, moved = whole.journal, whole.types, whole.transfer
    assert moved is not None, "records are about what was to be filled"
    tables = model_tables(whole.graph)
    given = tables["factors"]["table_id"]
    assert isinstance(given, Nullable)
    register_columns(journal, "type_results", {"type": types.first, "table_id": given.numbers})
    records: dict[str, Column] = dict(record_columns(moved))
    donors = records["donor_id"]
    assert isinstance(donors, Nullable)
    records["donor_id"] = Nullable(np.where(donors.numbers < 0, -1, types.first[donors.numbers]))
    records["type"] = types.first[moved.unknown]
    register_columns(journal, "records", records)
    return tables["tables"], records


def _largest(journal: Journal, given: Given) -> list[Group]:
    """The largest groups of each sort, as people are shown them."""
    found = []
    for sort in ("variables", "factors"):
        largest = journal.engine.rows(
            f"SELECT first, size FROM {sort[:-1]}_group_sizes ORDER BY size DESC, group_id LIMIT {MOST_SHOWN}"
        )
        called = names(journal, given, sort, [first for first, _ in largest])
        found += [Group(sort, size, name) for name, (_, size) in zip(called, largest, strict=True)]
    return found
