"""The records of a transfer by column: what is alike is worded once, so that a million records take
a moment.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from lifagu.basics.arrays import Ints, first_places
from lifagu.basics.columns import Columns, Lists, Nullable, texts
from lifagu.filling.result import Transfer


def record_columns(moved: Transfer) -> Columns:
    """What `Transfer.record` says, one row per unknown factor in input order; factors by number,
    competitors left out.

    Near-linear; Python only for each group of records that are alike.
    """
    groups = moved.alike
    records = [moved.record[place] for place in first_places(groups).tolist()]

    def column(field: str, kind: DTypeLike) -> NDArray[Any]:
        return np.array([getattr(record, field) for record in records], dtype=kind)[groups]

    def words(field: str) -> NDArray[Any]:
        return texts([getattr(record, field) for record in records], groups)

    donors, alignment = _loans(moved)
    steps = np.array([record.steps or -1 for record in records], dtype=np.int64)
    agreed = np.array(
        [-1 if record.agreed is None else record.agreed for record in records], dtype=np.int64
    )
    return {
        "factor_id": moved.original.unknown,
        "status": words("status"),
        "donor_id": Nullable(donors),
        "candidates": column("candidates", np.int64),
        "agreeing": column("agreeing", np.int64),
        "share": moved.shares,
        "tie": column("tie", np.bool_),
        "alignment": alignment,
        "ambiguous_alignment": column("ambiguous_alignment", np.bool_),
        "ambiguous_assignment": column("ambiguous_assignment", np.bool_),
        "unit": words("unit"),
        "steps": Nullable(steps[groups]),
        "agreed": Nullable(agreed[groups]),
        "theta": column("theta", np.float64),
        "equality": words("equality"),
        "members": column("members", np.int64),
        "tables": column("tables", np.int64),
        "fallback": column("fallback", np.bool_),
        "reason": words("reason"),
    }


def _loans(moved: Transfer) -> tuple[Ints, Lists]:
    """For each unknown factor its donor, -1 without one, and the alignment of its arguments."""
    unknown, offsets = moved.original.unknown, moved.original.offsets
    place = np.full(len(moved.original.factor_names), -1, dtype=np.int64)
    place[unknown] = np.arange(len(unknown))
    donors = np.full(len(unknown), -1, dtype=np.int64)
    lengths = np.zeros(len(unknown), dtype=np.int64)
    loans = list(moved.loans())
    for receivers, lenders, _ in loans:
        donors[place[receivers]] = lenders
        lengths[place[receivers]] = np.diff(offsets)[receivers]
    ends = np.cumsum(lengths)
    alignment = np.zeros(int(lengths.sum()), dtype=np.int64)
    for receivers, _, order in loans:
        start = (ends - lengths)[place[receivers]]
        alignment[start[:, None] + np.arange(order.shape[1])] = order
    return donors, Lists(np.concatenate(([0], ends)), alignment)
