"""Layers over a database: temporary tables that stand before its own, which nothing is written to.

They are gone with the transaction in which all queries of a reading are asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.data.databases.cells import CellColumn, Cells
from lifagu.data.duck import quoted
from lifagu.errors import LifaguError, ModelError
from lifagu.relational.source import LayeredTable
from lifagu.relational.template import Query

_NUMBER, _FLAGS = "lifagu_number", "lifagu_hidden_{}"
_HIDDEN, _MADE = "lifagu_hidden", "lifagu_layer"  # tables that are gone in the end
Batches = Callable[[Query], Iterator[list[CellColumn]]]
Run = Callable[[str], object]
Fill = Callable[[str, Sequence[str], Ints], None]  # a table's columns with rows of whole numbers


class NoLayerError(ModelError):
    """No table can be laid over those of a database."""


def lay(layers: Sequence[LayeredTable], batches: Batches, run: Run, fill: Fill) -> None:
    """Make the tables of a layer, within the transaction in which they are asked."""
    try:
        for each in layers:
            _lay(each, batches, run, fill)
    except LifaguError as error:
        raise NoLayerError(f"no layer can be laid over the database: {error.message}") from None


def _lay(table: LayeredTable, batches: Batches, run: Run, fill: Fill) -> None:
    columns = list(table.hidden)
    flags = [_FLAGS.format(place) for place in range(len(columns))]
    listed = ", ".join(f"{name} BIGINT" for name in (_NUMBER, *flags))
    run(f"CREATE TEMPORARY TABLE {_HIDDEN} ({listed})")
    fill(_HIDDEN, (_NUMBER, *flags), _marks(table, batches))
    values = dict.fromkeys(table.columns, "n.{}") | {
        column: f"CASE WHEN h.{flag} = 1 THEN NULL ELSE n.{{}} END"
        for column, flag in zip(columns, flags, strict=True)
    }
    selected = [value.format(quoted(name)) for name, value in values.items()]
    source = f"FROM {table.rows} AS n"
    names = ", ".join(f"n.{quoted(name)}" for name in table.columns)
    if table.flag is not None:
        flag, condition = table.flag
        names += f", 0 AS {flag}"
        selected.append(f"CASE WHEN n.{_NUMBER}_flag = 1 THEN 1 ELSE 0 END")
        source = (
            f"FROM (SELECT n.*, CASE WHEN {condition} THEN 1 ELSE 0 END AS {_NUMBER}_flag "
            f"{source}) AS n"
        )
    # made of plain columns, whose sorts it has; then filled
    run(f"CREATE TEMPORARY TABLE {_MADE} AS SELECT {names} FROM {table.rows} AS n WHERE 1 = 0")
    number = f"n.{quoted(table.number)}"
    run(
        f"INSERT INTO {_MADE} SELECT {', '.join(selected)} {source} "
        f"LEFT JOIN {_HIDDEN} AS h ON h.{_NUMBER} = {number} ORDER BY {number}"
    )
    run(f"DROP TABLE {_HIDDEN}")
    run(f"ALTER TABLE {_MADE} RENAME TO {quoted(table.name)}")


def _marks(table: LayeredTable, batches: Batches) -> Ints:
    """For each row with a hidden value its number, and 1 for each column in which that is."""
    key = table.key or (table.number,)
    listed = ", ".join(
        f"n.{quoted(name)} AS lifagu_part_{place}"
        for place, name in enumerate((table.number, *key))
    )
    query = Query(f"SELECT {listed} FROM {table.rows} AS n", f"the table {table.name}")
    found: list[list[int]] = []
    wanted = list(table.hidden.values())
    either = frozenset[tuple[str, ...]]().union(*wanted)
    for batch in batches(query):
        numbers, *parts = [each for each in batch if isinstance(each, Cells)]
        keys = zip(*(each.texts() for each in parts), strict=True)
        for number, one in zip(numbers.values.tolist(), keys, strict=True):
            if one in either:
                found.append([int(number), *(int(one in each) for each in wanted)])
    return np.array(found, dtype=np.int64).reshape(len(found), 1 + len(wanted))
