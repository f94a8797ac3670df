"""Colour passing by the compiled kernel: the same partition refinement as the reference, at the speed of memory.

Memory beyond the graph: 8 bytes for each argument and 12 for each node, up to 16 more for each node once there are many
classes; while many appear at once, instead of those 16, 8 for each argument and 30 for each node among them. That is 20
to 40 bytes an argument (benchmarks/colour.py), and twice as much from 2^31 of anything on, where numbers are 64 bits
wide.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np

from lifagu.arrays import Ints, by_first_occurrence
from lifagu.kernel import Progress
from lifagu.model import Colouring, FactorGraph


def refine(
    kernel: ModuleType,
    graph: FactorGraph,
    start: tuple[Ints, Ints],
    positions: Ints | None,
    progress: Progress | None = None,
    *,
    wide: bool = False,
    share: int = 4,
) -> Colouring:
    """The coarsest stable colouring that refines the start colours (any integers ≥ 0). O(e log n), exact.

    positions[e]: the position each argument sends, None for its place in the list. wide, share: for tests only, 64-bit
    numbers, and how much of the graph must be new for all of it to be looked at.
    """
    variables, factors = (np.empty(len(colours), dtype=np.int64) for colours in start)
    kernel.colour(
        graph.offsets, graph.arguments, positions, *map(_small, start), variables, factors, progress, wide, share
    )
    return Colouring(variables, factors)


def _small(colours: Ints) -> Ints:
    """Colours less than their number, as the kernel wants them."""
    return colours if int(colours.max(initial=-1)) < len(colours) else by_first_occurrence(colours)
