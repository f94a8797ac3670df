"""A folder of Parquet tables on an engine, its holes filled: what all work where the data is begins with.

This file composes: `sql` runs statements over all factors, `symmetry` decides about the few types of them.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from lifagu.arrays import Ints, group_rows
from lifagu.checks import MOST_AXES, table_size_error
from lifagu.errors import FormatError, ModelError, Remedy
from lifagu.evidence import Observation
from lifagu.infer.plan import default_memory_limit, readable_size
from lifagu.model import FactorGraph
from lifagu.ranges import Ranges
from lifagu.replacing import PathLike, failing
from lifagu.roles import factor_signatures
from lifagu.sql import count_arguments
from lifagu.sql.scale import (
    Given,
    Journal,
    Looks,
    Observations,
    Types,
    check_individuals,
    check_names,
    declared_kinds,
    declared_ranges,
    find_looks,
    find_types,
    has_unknown,
    names,
    observe,
    split_by_home,
    take_in,
)
from lifagu.storage import is_folder
from lifagu.symmetry.transfer import Transfer, transfer_types

Told = Callable[[str], None]
LIFTING = 400  # bytes of memory that an argument takes where the folder is read and everything written
ANSWERING = 250  # where it is only asked


@dataclass(frozen=True)
class Filling:
    """How unknown factors are filled, as in `transfer`; the ways that SQL knows."""

    theta: float = 0.0
    structure_only: bool = False
    published: bool = False
    evidence_in_roles: bool = False
    up_to_scale: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.theta <= 1:
            raise ModelError(f"theta must lie between 0 and 1, not {self.theta}")


@dataclass(frozen=True, eq=False)
class Completed:
    """A folder taken in and filled. What is many is in tables of the engine; what is few is here.

    The tables: arguments (factor, position, variable) and, side by side, scopes (id, arity, v0, …), as given; looks
    (id, look); typed (id, type); observed (id, observation). transfer: from type to type, None where nothing was to be
    filled; graph: one completed factor for each type, each argument being a variable of its own.
    """

    journal: Journal
    given: Given
    ranges: Ranges
    kinds: list[str]
    observations: Observations
    looks: Looks
    types: Types
    transfer: Transfer | None
    graph: FactorGraph

    @property
    def unknown(self) -> int:
        """How many factors came without a table."""
        return int(self.types.size[self.types.table < 0].sum())

    @property
    def transferred(self) -> int:
        """How many of them got one."""
        return self.unknown - self.left

    @property
    def weakest_share(self) -> float | None:
        """The smallest share of agreement among those that got a table; None if there are none."""
        if self.transfer is None or not len(self.transfer.transferred):
            return None
        places = np.searchsorted(self.transfer.unknown, self.transfer.transferred)
        return float(self.transfer.shares[places].min())

    @property
    def left(self) -> int:
        """How many factors have no table in the end."""
        return int(self.types.size[self.graph.unknown].sum())


# ---- where to work


def where_to_work(
    path: PathLike, on: str = "auto", memory_limit: int | None = None, asks: bool = False
) -> tuple[str, str]:
    """Where to work on a model, "memory" or an engine, and why, where that was to be chosen.

    on: "auto" stays in memory while a folder fits there, and goes to DuckDB else; engines take folders only. asks:
    whether it is only to be asked, which takes less memory.
    """
    if on == "memory":
        return on, ""
    if not is_folder(path):
        if on == "auto":
            return "memory", ""
        raise ModelError(f"{path}: {on} takes a folder of Parquet tables", remedy=Remedy.MAKE_FOLDER)
    if on != "auto":
        return on, ""
    limit = default_memory_limit() if memory_limit is None else memory_limit
    arguments, each = count_arguments(path), ANSWERING if asks else LIFTING
    fits = each * arguments <= limit
    sized = f"{arguments} arguments need about {readable_size(each * arguments)}, {'within' if fits else 'beyond'}"
    return "memory" if fits else "duckdb", f"{sized} the limit of {readable_size(limit)}"


@contextmanager
def workplace(temp: PathLike | None, resume: bool, *about: object) -> Iterator[Path]:
    """A folder for an engine, gone afterwards; within a place that was named it stays if the work was interrupted.

    about: what the work is about; another folder, another state of it or another question gets another place.
    """
    if temp is None:
        if resume:
            raise ModelError("only what is kept in a folder can be resumed", remedy=Remedy.SAME_TEMP)
        with failing(tempfile.gettempdir(), "no folder can be made here"):
            made = tempfile.TemporaryDirectory(prefix="lifagu-")
        with made as place:
            yield Path(place)
        return
    folder = Path(temp) / f"lifagu-{_key(about)}"
    if not resume:
        shutil.rmtree(folder, ignore_errors=True)
    with failing(temp, "no folder can be made here"):
        folder.mkdir(parents=True, exist_ok=True)
    try:
        yield folder
    except (FormatError, ModelError):
        shutil.rmtree(folder, ignore_errors=True)
        raise
    shutil.rmtree(folder, ignore_errors=True)


def _key(about: tuple[object, ...]) -> str:
    """A short name for what some work is about; folders with the sizes and times of their files."""

    def plain(value: object) -> object:
        if isinstance(value, Path):
            files = ((each.name, each.stat()) for each in sorted(value.glob("*.parquet")))
            return [str(value.resolve()), [(name, found.st_size, found.st_mtime_ns) for name, found in files]]
        if isinstance(value, Filling):
            return asdict(value)
        return sorted(value.items(), key=lambda item: item[0]) if isinstance(value, Mapping) else repr(value)

    return hashlib.sha256(json.dumps(about, default=plain).encode()).hexdigest()[:16]


# ---- filling


def complete_on(
    journal: Journal,
    path: PathLike,
    evidence: Mapping[str, Observation],
    filling: Filling | None,
    told: Told,
    mean: bool = False,
) -> Completed:
    """Take a folder in and fill its unknown factors, on an engine; filling: None leaves them unknown.

    evidence: by name, over the folder's own. mean: fill with the mean of competing tables. told(line): what is being
    done. What an earlier run on the engine's folder finished is taken from there.
    """
    told(f"checking {path}")
    given = take_in(journal, path)
    journal.once("names", lambda: check_names(journal, given))
    journal.once("individuals", lambda: check_individuals(journal, given))
    ranges, kinds = Ranges(tuple(declared_ranges(journal, given))), declared_kinds(journal, given)
    observations = observe(journal, given, ranges, evidence)
    fills = filling is not None and has_unknown(journal, given)
    by_kind = fills and filling is not None and not (filling.structure_only or filling.published)
    told("finding types of factors")
    looks = find_looks(journal, given, observations, kinds=fills, degrees=fills)
    types = find_types(journal, given, len(looks.declared))
    _check_tables(journal, given, ranges, looks, types)
    moved, owners = None, np.full(len(types.first), -1)
    if by_kind and filling is not None and "individual" in given.columns["variables"]:
        told("finding what individuals have")
        signatures = factor_signatures(types.offsets, _roles(ranges, looks, filling)[types.looks])
        types, owners = split_by_home(journal, given, types, signatures)
    graph = _graph_of_types(journal, given, ranges, kinds, looks, types)
    if filling is not None:
        moved = _filled(graph, _roles(ranges, looks, filling)[types.looks], types.size, owners, filling)
        graph = moved.averaged() if mean else moved.graph
    return Completed(journal, given, ranges, kinds, observations, looks, types, moved, graph)


def _graph_of_types(
    journal: Journal, given: Given, ranges: Ranges, kinds: list[str], looks: Looks, types: Types
) -> FactorGraph:
    """One factor for each type, with arguments of its own, called as the first factor of the type."""
    return FactorGraph.from_arrays(
        ranges=ranges.declared,
        variable_ranges=looks.declared[types.looks],
        offsets=types.offsets,
        arguments=np.arange(len(types.looks)),
        tables=types.tables,
        factor_tables=types.table,
        factor_names=names(journal, given, "factors", types.first.tolist()),
        kinds=kinds,
        variable_kinds=looks.kind[types.looks],
    )


def _roles(ranges: Ranges, looks: Looks, filling: Filling) -> Ints:
    """The role of each look, as in `variable_roles`."""
    columns = [ranges.range_of[looks.declared], looks.degree]
    if not (filling.structure_only or filling.published):
        columns.append(looks.kind + 1)
    if filling.evidence_in_roles or filling.published:
        columns.append(looks.seen)
    return group_rows(np.column_stack(columns)) if len(looks.declared) else looks.declared


def _filled(graph: FactorGraph, keys: Ints, sizes: Ints, owners: Ints, filling: Filling) -> Transfer:
    """Transfer on the graph of types."""
    return transfer_types(
        graph, keys, sizes, owners, filling.theta, published=filling.published, up_to_scale=filling.up_to_scale
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
