"""Which tables are estimates: those of factors with a support."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lifagu.scale.engines.engine import Engine
from lifagu.scale.factor_types import Types
from lifagu.scale.folder_contents import Given


def estimated(engine: Engine, given: Given, types: Types) -> NDArray[np.bool_]:
    """For each type whether its first factor, which is the one that lends, has a support."""
    if "support" not in given.columns["factors"]:
        return np.zeros(len(types.first), dtype=np.bool_)
    there = "f.support IS NOT NULL"
    if given.holds_lists("factors", "support"):
        there += f" AND {engine.dialect.length('f.support')} > 0"
    (found,) = engine.integers(
        f"""
        SELECT f.number
        FROM {given.numbered("factors")} f
        JOIN typed t ON t.id = f.number AND t.type = f.number
        WHERE {there}
        """
    )
    return np.isin(types.first, found)
