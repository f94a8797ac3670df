"""Why tables were filled as they were, in the lines of the command line."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import indent
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lifagu import Transfer

MOST_EXPLAINED = 3  # tables behind answers


def explained(moved: Transfer, factor: str) -> str:
    """Who agrees, who is nearest and what would settle it, below the reason for a table."""
    return indent(str(moved.explain(factor)), " " * 6)


def weakest_explained(moved: Transfer, factors: Sequence[str]) -> str:
    """The reasons for the weakest of some filled tables, of those about which not all agree."""
    names = moved.original.factor_names
    numbers = np.unique([names.number(name) for name in factors]).astype(np.int64)
    places = np.searchsorted(moved.unknown, numbers)
    order = np.argsort(moved.shares[places], kind="stable")
    weakest = [place for place in places[order].tolist() if moved.shares[place] < 1]
    lines = []
    for place in weakest[:MOST_EXPLAINED]:
        record = moved.record[place]
        lines += [f"{record.factor}: {record.reason}", explained(moved, record.factor)]
    return "\n".join(lines)
