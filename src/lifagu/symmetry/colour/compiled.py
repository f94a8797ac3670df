"""Colour passing by the compiled kernel: refinement as in the reference, at the speed of memory.

Memory beyond the graph: 20 to 40 bytes for each argument on the graphs of research/bench/colour.py,
where arguments are no fewer than nodes; never more than 24 for each argument and 64 for each node.
Numbers are 64 bits wide from 2^31 of anything on, and then it is up to twice that.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np

from lifagu.basics.arrays import Ints, by_first_occurrence
from lifagu.basics.progress import Tell
from lifagu.graph.factor_graph import Colouring, FactorGraph

# tests vary both: 64-bit numbers; how much of the graph must be new for all of it to be looked at
WIDE, SHARE = False, 4


def refine(
    kernel: ModuleType,
    graph: FactorGraph,
    start: tuple[Ints, Ints],
    positions: Ints | None,
    progress: Tell | None = None,
) -> Colouring:
    """The coarsest stable colouring that refines the start colours, any integers ≥ 0.

    O(e log n), exact. positions[e]: the position each argument sends, None for its place in the
    list.
    """
    colours = [np.empty(len(each), dtype=np.int64) for each in start]
    lists = (np.ascontiguousarray(each, np.int64) for each in (graph.offsets, graph.arguments))
    kernel.colour(*lists, positions, *map(_small, start), *colours, progress, WIDE, SHARE)
    return Colouring(*colours)


def _small(colours: Ints) -> Ints:
    """Colours less than their number, as the kernel wants them."""
    return colours if int(colours.max(initial=-1)) < len(colours) else by_first_occurrence(colours)
