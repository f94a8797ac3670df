"""Cells taken out of a database: which there are, which are hidden, and the database without them.

What a template asks about tells which cells there are (`observed`). Hidden ones become NULL in a
copy of the database, so that a template drafted from the copy has never seen them (`write_holed`),
and a file lists them for `lifagu validate --hidden` (`write_hidden`).
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.league.loading import Pointer
from research.league.raw_tables import Raw, asked_columns, individuals_of, rows_of

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Observed:
    """The cells of one relation that have a value: rows of a table, and whose they are."""

    relation: str
    table: str
    columns: tuple[str, ...]
    rows: Ints
    individuals: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Holes:
    """What is taken out: of each relation some rows' cells, and of tables whole rows.

    kinds: in words for each row of the first relation's table how much is known of it, if rows
    differ in that.
    """

    cells: Mapping[str, Ints]
    rows: Mapping[str, Ints] = field(default_factory=dict)
    kinds: Sequence[str] = ()


def observed(raw: Raw, template: Mapping[str, Any]) -> list[Observed]:
    """What a template asks about and the database knows."""
    relations = {each["name"]: each for each in template["relations"]}
    found = []
    for name in asked_columns(template):
        keys = len(relations[name]["of"])
        read = rows_of(raw, template["evidence"][name]["sql"], keys)
        if read is None:
            raise ValueError(f"the evidence of {name} reads no rows of a table")
        table, columns, frame = read
        frame = frame[frame["value"].notna()]
        rows = frame["row"].to_numpy(np.int64)
        found.append(Observed(name, table, columns, rows, tuple(individuals_of(frame, keys))))
    return found


def write_hidden(path: Path, seen: Sequence[Observed], holes: Holes) -> None:
    """The hidden cells as `lifagu validate --hidden` reads them."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("relation", "individual"))
        for each in seen:
            for place in np.flatnonzero(np.isin(each.rows, holes.cells.get(each.relation, ()))):
                writer.writerow((each.relation, each.individuals[place]))


def write_holed(
    source: Path,
    to: Path,
    seen: Sequence[Observed],
    holes: Holes,
    pointers: Sequence[Pointer],
    with_cells: bool,
) -> None:
    """A copy of the database without the rows that are left out, its hidden cells NULL or not."""
    raw = Raw(source)
    for each in () if with_cells else seen:
        for column in each.columns if each.relation in holes.cells else ():
            raw.empty(each.table, column, holes.cells[each.relation])
    for table, rows in holes.rows.items():
        raw.drop(table, rows)
        for name, below in _rows_below(raw, table, rows, pointers):
            raw.drop(name, below)
    raw.write(to)


def _rows_below(
    raw: Raw, table: str, rows: Ints, pointers: Sequence[Pointer]
) -> list[tuple[str, Ints]]:
    """Rows of other tables that point to these."""
    found = []
    for pointer in (each for each in pointers if each.to == table):
        gone = raw.tables[table].iloc[rows][list(pointer.there)]
        gone = gone.set_axis(list(pointer.columns), axis=1)
        for name, frame in raw.tables.items():
            if pointer.is_in(name, frame):
                here = frame[list(pointer.columns)].merge(gone, how="left", indicator=True)
                below = np.flatnonzero((here["_merge"] == "both").to_numpy())
                found.append((name, below))
    return found
