"""Numbers of records that rows bring along for their tables, one or a list; NULL: it is exact."""

from __future__ import annotations

import numpy as np

from lifagu.basics.arrays import Floats, Ints, offsets_of
from lifagu.data.databases.cells import Cells, NumberLists
from lifagu.data.templates.batches import Batch
from lifagu.data.templates.row_tables import numbers_in
from lifagu.graph.supports import Supports
from lifagu.graph.table_support import TO_BE_FOUND, TableSupport


class RowSupports:
    """The numbers of records in a column, batch by batch."""

    def __init__(self) -> None:
        self._lengths: list[Ints] = []
        self._records: list[Floats] = []

    def add(self, batch: Batch, place: int) -> None:
        """Take note of what some rows say."""
        column = batch.columns[place]
        lengths, records = (
            (np.diff(column.offsets), column.values)
            if isinstance(column, NumberLists)
            else _numbers(batch, column)
        )
        wrong = np.zeros(len(batch), dtype=np.bool_)
        wrong[np.repeat(np.arange(len(batch)), lengths)[~_legal(records)]] = True
        batch.refuse(wrong, lambda _: f"'{batch.names[place]}' is no number of records, 0 or more")
        self._lengths.append(lengths)
        self._records.append(records)

    def finish(self, said: TableSupport | None) -> Supports:
        """The supports of all rows; said: given arguments and prior, the same for all."""
        lengths = np.concatenate(self._lengths)
        given = np.where(lengths > 1, TO_BE_FOUND, 0)
        if said is not None and said.given:
            given = np.full(len(lengths), said.mask)
        prior = np.array(said.prior if said is not None else (), dtype=np.float64)
        there = lengths > 0
        return Supports(
            offsets_of(lengths),
            np.concatenate(self._records) + 0.0,
            np.where(there, given, 0),
            offsets_of(np.where(there, len(prior), 0)),
            np.tile(prior, int(there.sum())),
        )


def _legal(records: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    return np.asarray(np.isfinite(records) & (records >= 0))


def _numbers(batch: Batch, column: Cells) -> tuple[Ints, Floats]:
    """How many numbers each row has, and all of them; lists may be texts, as tables may."""
    if column.values.dtype.kind in "iuf":
        there = ~column.missing
        return there.astype(np.int64), column.values[there].astype(np.float64)
    known: dict[str | None, list[float]] = {None: []}
    found = []
    for row, text in enumerate(column.texts()):
        if text not in known:
            bracketed = str(text) if str(text).lstrip().startswith(("[", "{")) else f"[{text}]"
            numbers = numbers_in(bracketed)
            if numbers is None:
                raise batch.fault(row, f"'{text}' is no number of records and no list of them")
            known[text] = numbers
        found.append(known[text])
    lengths = np.array([len(each) for each in found], dtype=np.int64)
    return lengths, np.array([number for each in found for number in each], dtype=np.float64)
