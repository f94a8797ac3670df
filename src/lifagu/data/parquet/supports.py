"""Supports in the table of factors: how many records stand behind tables, what is given, priors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints, offsets_of, owners
from lifagu.basics.columns import Column, Lists
from lifagu.data.parquet.table import ParquetTable
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.supports import Supports
from lifagu.graph.table_support import TO_BE_FOUND
from lifagu.graph.validation import MOST_AXES


def supports_in(factors: ParquetTable, rows: Ints) -> Supports | None:
    """The supports that a table of factors holds, in the order of these rows."""
    if not factors.has("support"):
        return None
    lengths, records = _numbers(factors, "support")
    prior_lengths, priors = _numbers(factors, "prior")
    there = np.repeat(lengths > 0, prior_lengths)
    prior_lengths = np.where(lengths > 0, prior_lengths, 0)
    given = _given(factors, np.where(lengths > 1, TO_BE_FOUND, 0))
    ends, prior_ends = offsets_of(lengths), offsets_of(prior_lengths)
    return Supports(ends, records, given, prior_ends, priors[there]).taken(rows)


def support_columns(graph: FactorGraph) -> dict[str, Column]:
    """The columns that say what stands behind tables; none if all are exact."""
    support = graph.declared_support
    if support is None:
        return {}
    columns: dict[str, Column] = {"support": Lists(support.offsets, support.records)}
    if support.given.any():
        last = int(support.given.max()).bit_length()
        bits = (support.given[:, None] >> np.arange(last)) & 1
        columns["given"] = Lists(offsets_of(bits.sum(axis=1)), np.nonzero(bits)[1])
    if len(support.priors):
        columns["prior"] = Lists(support.prior_offsets, support.priors)
    return columns


def _numbers(factors: ParquetTable, column: str) -> tuple[Ints, Floats]:
    """How many numbers each row has, null being none, and all of them."""
    lengths, values = factors.number_lists(column)
    lengths = np.maximum(lengths, 0)
    _refuse(factors, column, lengths, values, ~(np.isfinite(values) & (values >= 0)), "0 or more")
    return lengths, values + 0.0


def _given(factors: ParquetTable, unnamed: Ints) -> Ints:
    """The given arguments of each row as bits; unnamed: for those that name none."""
    lengths, values = factors.number_lists("given")
    lengths = np.maximum(lengths, 0)
    wrong = (values != np.floor(values)) | (values < 0) | (values >= MOST_AXES)
    _refuse(factors, "given", lengths, values, wrong, "positions of arguments, from 0 on")
    masks = np.where(lengths > 0, 0, unnamed)
    np.bitwise_or.at(masks, owners(offsets_of(lengths)), 1 << values.astype(np.int64))
    return masks


def _refuse(
    factors: ParquetTable,
    column: str,
    lengths: Ints,
    values: Floats,
    wrong: NDArray[np.bool_],
    expected: str,
) -> None:
    if wrong.any():
        place = int(np.argmax(wrong))
        row = int(owners(offsets_of(lengths))[place])
        raise factors.fault(column, row, f"{values[place]}; give {expected}, or null for none")
