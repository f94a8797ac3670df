"""The lifted engine: elimination over rows that share a table."""

from lifagu.infer.lifted.adjoint import Distinct, Marginals, walk_back
from lifagu.infer.lifted.assignment import Assignment
from lifagu.infer.lifted.engine import Reduced, do_nothing, reduce, reduce_cells
from lifagu.infer.lifted.maximise import trace_back
from lifagu.infer.lifted.residual import Residual, residual

__all__ = [
    "Assignment",
    "Distinct",
    "Marginals",
    "Reduced",
    "Residual",
    "do_nothing",
    "reduce",
    "reduce_cells",
    "residual",
    "trace_back",
    "walk_back",
]
