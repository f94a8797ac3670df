"""Why tables were filled as they were, in the lines of the command line."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import indent
from typing import TYPE_CHECKING

import numpy as np

from lifagu.filling.individuals import factor_owners, variable_owners

if TYPE_CHECKING:
    from lifagu import Transfer

MOST_EXPLAINED = 3  # tables behind answers
MOST_TRIED = 100  # that are looked at, to find some with different reasons


def explained(moved: Transfer, factor: str) -> str:
    """Who agrees, who is nearest and what would settle it, below the reason for a table."""
    return indent(str(moved.explain(factor)), " " * 6)


def weakest_explained(moved: Transfer, variables: Sequence[str], factors: Sequence[str]) -> str:
    """The reasons for the weakest of the filled tables behind answers, those that are told once.

    Tables of the individuals that are asked about come first; where all agree nothing is said.
    """
    graph = moved.original
    numbers = np.unique([graph.factor_names.number(name) for name in factors]).astype(np.int64)
    asked = np.array([graph.variable_names.number(name) for name in variables], dtype=np.int64)
    owners = variable_owners(graph)[asked]
    own = np.isin(factor_owners(graph)[numbers], owners[owners >= 0])
    places = np.searchsorted(moved.unknown, numbers)
    order = places[np.lexsort((moved.shares[places], ~own))]
    weakest = order[moved.shares[order] < 1][:MOST_TRIED]
    told: dict[str, str] = {}
    for record in (moved.record[place] for place in weakest.tolist()):
        if len(told) < MOST_EXPLAINED:
            told.setdefault(record.reason, record.factor)
    return "\n".join(
        f"{factor}: {reason}\n{explained(moved, factor)}" for reason, factor in told.items()
    )
