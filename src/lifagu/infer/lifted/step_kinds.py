"""All kinds of steps, for those that walk back through them."""

from lifagu.infer.lifted.join import JoinStep
from lifagu.infer.lifted.pivot import PivotStep, TiedCountStep
from lifagu.infer.lifted.steps import CountStep, EliminateStep, MergeStep
from lifagu.infer.lifted.unary import UnaryCountStep

Step = MergeStep | EliminateStep | CountStep | UnaryCountStep | PivotStep | TiedCountStep | JoinStep

__all__ = [
    "CountStep",
    "EliminateStep",
    "JoinStep",
    "MergeStep",
    "PivotStep",
    "Step",
    "TiedCountStep",
    "UnaryCountStep",
]
