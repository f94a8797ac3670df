"""The lifted engine: elimination over rows that share a table."""

from lifagu.infer.lifted.adjoints import Adjoints, Joints, Marginals
from lifagu.infer.lifted.assignment import CellValues, GroundValues
from lifagu.infer.lifted.engine import do_nothing, reduce, reduce_cells, reduce_listed
from lifagu.infer.lifted.reduced import Reduced
from lifagu.infer.lifted.residual import Residual, residual

__all__ = [
    "Adjoints",
    "CellValues",
    "GroundValues",
    "Joints",
    "Marginals",
    "Reduced",
    "Residual",
    "do_nothing",
    "reduce",
    "reduce_cells",
    "reduce_listed",
    "residual",
]
