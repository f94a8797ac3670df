"""Evidence that is not certain: rows of constants with a likelihood for each label."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats
from lifagu.data.databases.queries import query_error
from lifagu.data.templates.batches import Batch
from lifagu.data.templates.numbers_as_evidence import numbers_in
from lifagu.graph.ranges import Labels
from lifagu.relational.template import Query


def label_columns(
    query: Query, names: tuple[str, ...], keys: int, labels: Labels
) -> list[int] | None:
    """The column of each label, behind those of constants; None if there is just the value."""
    if len(labels) < 2 or len(names) != keys + len(labels):
        return None
    found = {name: keys + place for place, name in enumerate(names[keys:])}
    if set(found) != set(labels):
        raise query_error(
            query,
            f"the columns {', '.join(names[keys:])} are no value, and not the likelihoods of "
            f"{', '.join(labels)}; name a column for each label, in quotes where it is odd",
        )
    return [found[label] for label in labels]


def likelihoods_of(batch: Batch, columns: list[int], labels: Labels) -> Floats:
    """A row of likelihoods for each row, as labels are declared; nan where nothing was observed."""
    found = np.column_stack([_numbers(batch, place) for place in columns])
    missing = np.isnan(found).sum(axis=1)
    below, nothing = (found < 0) | np.isinf(found), (found == 0).sum(axis=1) == len(labels)
    faults: dict[str, NDArray[np.bool_]] = {
        "NULL in part": (missing > 0) & (missing < len(labels)),
        "negative or infinite": (missing == 0) & (below.sum(axis=1) > 0),
        "all 0": nothing,
    }
    for fault, wrong in faults.items():
        batch.refuse(wrong, lambda row, fault=fault: _what(labels, found[row], fault))  # type: ignore[misc]
    return found


def _numbers(batch: Batch, place: int) -> NDArray[np.float64]:
    """One column of likelihoods, nan for NULL alone."""
    cells = batch.cells(place)
    found = numbers_in(cells)
    name = batch.names[place]
    batch.refuse(
        np.isnan(found) & ~cells.missing,
        lambda row: f"'{cells.text(row)}' is no likelihood of {name}; give a number, or NULL",
    )
    return found


def _what(labels: Labels, row: Floats, fault: str) -> str:
    told = ", ".join(f"{label} {value:g}" for label, value in zip(labels, row, strict=True))
    return f"likelihoods are {fault} ({told}); give numbers from 0 on, one above 0, or all NULL"
