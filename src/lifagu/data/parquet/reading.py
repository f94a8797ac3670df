"""From a folder of Parquet tables to a graph: columns straight into arrays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from lifagu.basics.arrays import Ints, offsets_of
from lifagu.basics.atomic_files import PathLike, names_in
from lifagu.basics.memory import LEAST, default_memory_limit, readable_size
from lifagu.data.duck import Duck, literal
from lifagu.data.parquet.evidence import evidence_in
from lifagu.data.parquet.ids import Ids
from lifagu.data.parquet.layout import MODEL, TABLES, file_name
from lifagu.data.parquet.supports import supports_in
from lifagu.data.parquet.table import Coded, ParquetTable
from lifagu.data.snapshots import Pinned, pin, until_settled
from lifagu.errors import FormatError, ModelError, Remedy, TooLargeError
from lifagu.graph.assembly import taken_lists
from lifagu.graph.evidence import Observation
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.ranges import BOOLEAN, Labels, check_labels
from lifagu.graph.tables import GivenTables, potential_fault
from lifagu.relational.loaded import Loaded

VALUE = 50  # bytes of memory for each value, at the peak of reading it
Result = TypeVar("Result")


def read_folder(path: PathLike, memory_limit: int | None = None) -> FactorGraph:
    """Read a graph from a folder with the four tables of a model; near-linear.

    Variables and factors are numbered in the order of their ids, whatever the order of the rows.
    """
    limit = memory_limit or default_memory_limit()

    def graph(folder: Pinned, duck: Duck) -> FactorGraph:
        _check_room(folder, duck, limit)
        return _graph(folder, duck)

    return _read(path, graph)


def read_folder_evidence(path: PathLike) -> dict[str, Observation]:
    """What the table `evidence` of a folder says, by name; nothing if there is no such table."""
    return _read(path, evidence_in)


def load_folder(path: PathLike, memory_limit: int | None = None) -> Loaded:
    """The graph and its evidence, both of one state of the folder; refused beyond the limit."""
    limit = memory_limit or default_memory_limit()

    def loaded(folder: Pinned, duck: Duck) -> Loaded:
        _check_room(folder, duck, limit)
        return Loaded(_graph(folder, duck), evidence_in(folder, duck))

    return _read(path, loaded)


def _check_room(folder: Pinned, duck: Duck, limit: int) -> None:
    """Refuse tables whose values would not fit, as their footers count them."""
    duck.show(folder)
    values = 0
    for table, file in folder.files.items():
        place = str(Path(folder.place) / file_name(table))
        duck.check_parquet(file.source, f"{place}: cannot be read as Parquet")
        counted = f"SELECT sum(num_values) FROM parquet_metadata({literal(file.source)})"
        values += int(duck.rows(counted, place)[0][0] or 0)
    if values * VALUE > max(LEAST, limit):
        raise TooLargeError(
            f"{folder.place}: its tables hold {values} values, which take about "
            f"{readable_size(values * VALUE)} of memory, but the limit is {readable_size(limit)}",
            remedy=Remedy.LARGER_LIMIT,
        )


def count_arguments(path: PathLike) -> int:
    """How many arguments the factors in a folder have in all, as its file says about itself."""
    return _read(path, lambda folder, duck: ParquetTable(duck, folder, "arguments").count())


def _read(path: PathLike, work: Callable[[Pinned, Duck], Result]) -> Result:
    """What some work reads in a folder; if the folder was changed meanwhile, it is done again."""

    def attempt() -> Result:
        with pinned_folder(path) as folder, Duck() as duck:
            return work(folder, duck)

    return until_settled(attempt)


def pinned_folder(path: PathLike) -> Pinned:
    """The tables of a model in a folder; a missing one, or one of another name, is an error."""
    folder = Path(path)
    found = pin(path, {table: folder / file_name(table) for table in (*MODEL, "evidence")})
    try:
        _check_folder(folder, found)
    except BaseException:
        found.close()
        raise
    return found


def _check_folder(folder: Path, found: Pinned) -> None:
    if not found.files.keys() & set(MODEL):
        if not folder.is_dir():
            raise FormatError(f"{found.place}: there is no such file or folder")
        wanted = ", ".join(map(file_name, MODEL))
        raise FormatError(f"{found.place}: this is a folder without Parquet tables ({wanted})")
    known = {file_name(table) for table in TABLES}
    tables = [
        name for name in names_in(folder) if name.endswith(".parquet") and not name.startswith(".")
    ]
    if other := [name for name in tables if name not in known]:
        raise FormatError(
            f"{folder / other[0]}: this table means nothing here; "
            f"known are {', '.join(sorted(known))}"
        )


def _graph(folder: Pinned, duck: Duck) -> FactorGraph:
    variables, factors, arguments, tables = (ParquetTable(duck, folder, table) for table in MODEL)
    variable_ids, factor_ids = Ids.of(variables), Ids.of(factors)
    settings = _variables(variables, variable_ids)
    settings["variable_names"] = variable_ids.names(variables, "variable", "x")
    settings["factor_names"] = factor_ids.names(factors, "factor", "f")
    given, numbers = _tables(tables)
    table_ids = Ids.of(tables)
    used = table_ids.referred(factors, "table_id", file_name("tables"), null=True)
    settings["factor_tables"] = np.append(numbers[table_ids.rows], -1)[used[factor_ids.rows]]
    settings["offsets"], settings["arguments"] = _arguments(arguments, variable_ids, factor_ids)
    settings["support"] = supports_in(factors, factor_ids.rows)
    try:
        return FactorGraph.from_arrays(tables=given, **settings)
    except ModelError as error:
        raise FormatError(f"{folder.place}: {error}") from None


# ---- variables


def _variables(table: ParquetTable, ids: Ids) -> dict[str, Any]:
    """Ranges, kinds and individuals, as `FactorGraph.from_arrays` takes them."""
    count = len(ids.ordered)
    ranges: list[Labels] = [BOOLEAN]
    settings: dict[str, Any] = {
        "ranges": ranges,
        "variable_ranges": np.zeros(count, dtype=np.int64),
    }
    if table.has("range"):
        coded = table.coded("range")
        ranges += [
            _labels(table, labels, row)
            for labels, row in zip(coded.words, coded.first, strict=True)
        ]
        settings["variable_ranges"] = _by_row(coded, count)[ids.rows] + 1
    if table.has("kind"):
        coded = table.coded("kind")
        _check_filled(table, "kind", coded)
        settings |= {"kinds": coded.words, "variable_kinds": _by_row(coded, count)[ids.rows]}
    if table.has("individual"):
        coded = table.coded_items("individual")
        _check_filled(table, "individual", coded)
        offsets = offsets_of(np.bincount(coded.rows, minlength=count))
        items = np.empty(len(coded.codes), dtype=np.int64)
        items[offsets[coded.rows] + coded.places] = coded.codes
        items, ends = taken_lists(offsets, items, ids.rows)
        settings["individuals"], settings["variable_individuals"] = coded.words, items
        settings["individual_offsets"] = np.concatenate(([0], ends - offsets[-1]))
    return settings


def _labels(table: ParquetTable, labels: list[str], row: int) -> Labels:
    try:
        return check_labels(labels, "the variable")
    except ModelError as error:
        raise table.fault("range", row, str(error)) from None


def _by_row(coded: Coded, count: int) -> Ints:
    """The code of each row, -1 for null."""
    codes = np.full(count, -1, dtype=np.int64)
    codes[coded.rows] = coded.codes
    return codes


def _check_filled(table: ParquetTable, column: str, coded: Coded) -> None:
    if "" in coded.words:
        row = coded.first[coded.words.index("")]
        raise table.fault(column, row, "an empty text; give a name, or null for none")


# ---- factors


def _arguments(table: ParquetTable, variables: Ids, factors: Ids) -> tuple[Ints, Ints]:
    """Offsets and arguments: each row is put where factor and position say, without sorting."""
    owners = factors.referred(table, "factor_id", file_name("factors"))
    arity = np.bincount(owners, minlength=len(factors.ordered))
    offsets = offsets_of(arity)
    positions = table.integers("position")
    beyond = positions >= arity[owners]
    if beyond.any():
        row = int(np.argmax(beyond))
        factor, count = factors.ordered[owners[row]], arity[owners[row]]
        what = f"{positions[row]}, but factor {factor} has {count} arguments"
        raise table.fault("position", row, f"{what}; number them 0 to {count - 1}")
    places = offsets[owners] + positions
    _check_once(table, places, owners, positions, factors)
    arguments = np.empty(len(places), dtype=np.int64)
    arguments[places] = variables.referred(table, "variable_id", file_name("variables"))
    return offsets, arguments


def _check_once(
    table: ParquetTable, places: Ints, owners: Ints, positions: Ints, factors: Ids
) -> None:
    """No factor may have two arguments at one position."""
    taken = np.zeros(len(places), dtype=np.bool_)
    taken[places] = True
    if not taken.all():
        order = np.argsort(places, kind="stable")
        row = int(order[1:][places[order[1:]] == places[order[:-1]]].min())
        factor = factors.ordered[owners[row]]
        what = f"factor {factor} has an argument at position {positions[row]} already"
        raise table.fault("position", row, f"{what}; number its arguments 0, 1, …")


def _tables(table: ParquetTable) -> tuple[GivenTables, Ints]:
    """The tables that are known, and which of them each row of the table has, -1 for null."""
    lengths, values = table.number_lists("potentials")
    known = lengths >= 0
    given = GivenTables(values, offsets_of(lengths[known]))
    faulty = given.first_faulty()
    if faulty is not None:
        row = int(np.flatnonzero(known)[faulty])
        raise table.fault("potentials", row, f"the table has {potential_fault(given[faulty])}")
    return given, np.where(known, np.cumsum(known) - 1, -1)
