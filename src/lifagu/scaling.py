"""Lifting a folder of Parquet tables where it is: by DuckDB on disk or by Spark, without having it in memory.

This file composes: `sql` runs statements over all factors, `symmetry` decides about the few types of them.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from lifagu.answers_by_sql import temporary_folder, where_to_answer
from lifagu.arrays import Ints, by_first_occurrence, group_rows
from lifagu.checks import MOST_AXES, table_size_error
from lifagu.columns import Column, Columns, Nullable
from lifagu.errors import FormatError, ModelError
from lifagu.evidence import Observation
from lifagu.infer.plan import default_memory_limit
from lifagu.model import FactorGraph
from lifagu.ranges import Ranges
from lifagu.replacing import PathLike, replaced_folder
from lifagu.sql import model_tables
from lifagu.sql.engines import Engine, open_engine
from lifagu.sql.scale import (
    Findings,
    Given,
    Journal,
    Looks,
    Sizes,
    Types,
    check_individuals,
    check_names,
    declared_kinds,
    declared_ranges,
    find_looks,
    find_types,
    handing_over,
    has_unknown,
    names,
    number_groups,
    observe,
    pass_colours,
    register_columns,
    take_in,
    write_results,
)
from lifagu.sql.writing import FILES
from lifagu.storage import is_folder
from lifagu.symmetry.colour import colour
from lifagu.symmetry.transfer import Transfer, record_columns, transfer_types

Told = Callable[[str], None]
BYTES = 400  # of memory that lifting and writing take for an argument, where the folder is read
BESIDE = 0.4  # of the memory limit goes to the kernel that finishes colours, the rest to the engine
MOST_ROUNDS = 1000
MOST_SHOWN = 40  # groups of a sort


@dataclass(frozen=True)
class Filling:
    """How unknown factors are filled, as in `transfer`; the ways that SQL knows."""

    theta: float = 0.0
    structure_only: bool = False
    published: bool = False
    evidence_in_roles: bool = False
    up_to_scale: bool = False


@dataclass(frozen=True, eq=False)
class Group:
    """One of many groups: of variables or of factors, how many members it has, and the name of the first of them."""

    sort: str
    size: int
    first: str


@dataclass(frozen=True, eq=False)
class FolderLift:
    """What looks alike in a folder: numbers of groups, rounds, and the transfer by type, each factor standing for many.

    sizes[f]: how many factors the factor f of the transfer stands for. groups: the largest ones of each sort.
    """

    transfer: Transfer
    sizes: Ints
    variable_groups: int
    factor_groups: int
    rounds: int
    groups: list[Group]

    @property
    def unknown(self) -> int:
        """How many factors came without a table."""
        return int(self.sizes[self.transfer.unknown].sum())

    @property
    def transferred(self) -> int:
        """How many of them got one."""
        return int(self.sizes[self.transfer.transferred].sum())


def where_to_lift(path: PathLike, on: str = "auto", memory_limit: int | None = None) -> tuple[str, str]:
    """Where a model is lifted, "memory" or an engine, and why, where that was to be chosen.

    on: "auto" stays in memory while the model fits there, and goes to DuckDB else; other engines take folders only.
    """
    return where_to_answer(path, on, memory_limit, each=BYTES)


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
    filling = filling or Filling()
    if not 0 <= filling.theta <= 1:
        raise ModelError(f"theta must lie between 0 and 1, not {filling.theta}")
    if out is not None and not is_folder(out):
        raise FormatError(f"{out}: what {on} finds is written into a folder; name one, as in result/")
    key = _key(path, on.partition("=")[0], filling, evidence)
    with _workplace(temp, resume, key) as folder:
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


def _key(path: PathLike, on: str, filling: Filling, evidence: Mapping[str, Observation] | None) -> str:
    """What a run is about, in short: another folder, another state of it or another question gives another key."""
    folder = Path(path).resolve()
    files = sorted((each.name, each.stat().st_size, each.stat().st_mtime_ns) for each in folder.glob("*.parquet"))
    about = [str(folder), files, on, asdict(filling), sorted((evidence or {}).items(), key=lambda item: item[0])]
    return hashlib.sha256(json.dumps(about, default=dict).encode()).hexdigest()[:16]


@contextmanager
def _workplace(temp: PathLike | None, resume: bool, key: str) -> Iterator[Path]:
    """A folder for an engine, gone afterwards; within a place that was named it stays if the work was interrupted."""
    if temp is None:
        if resume:
            raise ModelError("--resume goes on from what is kept in a folder; name it with --temp, as in the first run")
        with temporary_folder(None) as place:
            yield Path(place)
        return
    folder = Path(temp) / f"lifagu-{key}"
    if not resume:
        shutil.rmtree(folder, ignore_errors=True)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FormatError(f"{temp}: no folder can be made here ({error.strerror})") from None
    try:
        yield folder
    except (FormatError, ModelError):
        shutil.rmtree(folder, ignore_errors=True)
        raise
    shutil.rmtree(folder, ignore_errors=True)


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
    """Fill the unknown factors of a folder and pass colours over it, on an engine; write everything into a folder.

    evidence: by name, over the folder's own. memory: bytes that may be used here, beside the engine, to finish colours
    that change for long. told(line): what is being done. What an earlier run on the engine's folder finished is taken
    from there.
    """
    filling, say = filling or Filling(), told or (lambda _: None)
    journal = Journal(engine)
    say(f"checking {path}")
    given = take_in(journal, path)
    journal.once("names", lambda: check_names(journal, given))
    journal.once("individuals", lambda: check_individuals(journal, given))
    ranges, kinds = Ranges(tuple(declared_ranges(journal, given))), declared_kinds(journal, given)
    observations = observe(journal, given, ranges, evidence or {})
    unknown = has_unknown(journal, given)
    by_kind = unknown and not (filling.structure_only or filling.published)
    if by_kind and "individual" in given.columns["variables"]:
        raise ModelError(
            f"{path}: whole individuals are filled from others in memory only; take --on memory, or leave out the "
            "column individual of variables.parquet"
        )
    say("finding types of factors")
    looks = find_looks(journal, given, observations, kinds=by_kind, degrees=unknown)
    types = find_types(journal, given, len(looks.declared))
    moved = _filled(journal, given, ranges, looks, types, filling)
    sizes = _start(journal, given, ranges, looks, types, moved)
    say("passing colours")
    state = pass_colours(journal, sizes, most_rounds, handing_over(sizes, _refined, memory), told)
    counts = number_groups(journal, state)
    if out is not None:
        findings = Findings(ranges.declared, kinds, observations, *_type_tables(journal, types, moved))
        with replaced_folder(out, FILES) as folder:
            for table in write_results(journal, given, findings, folder):
                say(f"writing {table}")
    return FolderLift(moved, types.size, counts["variable"], counts["factor"], state.round, _largest(journal, given))


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


# ---- types


def _filled(journal: Journal, given: Given, ranges: Ranges, looks: Looks, types: Types, filling: Filling) -> Transfer:
    """Transfer on a small graph: one factor for each type, with arguments of its own."""
    _check_tables(journal, given, ranges, looks, types)
    graph = FactorGraph.from_arrays(
        ranges=ranges.declared,
        variable_ranges=looks.declared[types.looks],
        offsets=types.offsets,
        arguments=np.arange(len(types.looks)),
        tables=types.tables,
        factor_tables=types.table,
        factor_names=names(journal, given, "factors", types.first.tolist()),
    )
    columns = [ranges.range_of[looks.declared], looks.degree, looks.kind + 1]
    if filling.evidence_in_roles or filling.published:
        columns.append(looks.seen)
    roles = group_rows(np.column_stack(columns)) if len(looks.declared) else looks.declared
    return transfer_types(
        graph,
        roles[types.looks],
        types.size,
        filling.theta,
        published=filling.published,
        up_to_scale=filling.up_to_scale,
    )


def _check_tables(journal: Journal, given: Given, ranges: Ranges, looks: Looks, types: Types) -> None:
    """Potentials must be as many as the arguments span."""
    sizes = ranges.sizes[ranges.range_of[looks.declared]] if len(looks.declared) else looks.declared
    for number in np.flatnonzero(types.table >= 0).tolist():
        scope = types.looks[types.offsets[number] : types.offsets[number + 1]]
        span, length = float(np.prod(sizes[scope].astype(np.float64))), len(types.tables[types.table[number]])
        if span == length and len(scope) <= MOST_AXES:
            continue
        first = int(types.first[number])
        (factor,) = names(journal, given, "factors", [first])
        if len(scope) > MOST_AXES:
            raise FormatError(
                f"{given.folder}: factor '{factor}' has a table and {len(scope)} arguments, more than the {MOST_AXES} "
                "a table may have; leave out those with a single value"
            )
        rows = journal.engine.rows(f"SELECT variable FROM arguments WHERE factor = {first} ORDER BY position")
        arguments = names(journal, given, "variables", [variable for (variable,) in rows])
        raise FormatError(f"{given.folder}: {table_size_error(factor, length, arguments, int(span))}")


def _start(journal: Journal, given: Given, ranges: Ranges, looks: Looks, types: Types, moved: Transfer) -> Sizes:
    """Store start colours, and the arguments of filled factors in the order of their donors'."""
    seen = np.column_stack((ranges.range_of[looks.declared], looks.seen)) if len(looks.declared) else np.zeros((0, 2))
    variables = group_rows(seen.astype(np.int64))
    factors = by_first_occurrence(moved.factor_start)
    journal.register("look_start", {"look": np.arange(len(variables)), "colour": variables})
    journal.register("type_start", {"type": types.first, "colour": factors})
    journal.create("variable_start", "SELECT v.id, s.colour FROM looks v JOIN look_start s ON s.look = v.look")
    journal.create("factor_start", "SELECT t.id, s.colour FROM typed t JOIN type_start s ON s.type = t.type")
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
    start = int(variables.max(initial=-1)) + int(factors.max(initial=-1)) + 2
    return Sizes(given.counts["variables"], given.counts["factors"], start)


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


def _type_tables(journal: Journal, types: Types, moved: Transfer) -> tuple[Columns, Columns]:
    """The tables of the completed model, and the record of each unknown type; both also for statements to read."""
    tables = model_tables(moved.graph)
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
