"""All kinds of steps, for those that walk back through them."""

from lifagu.infer.lifted.expand import ExpandStep
from lifagu.infer.lifted.join import JoinStep
from lifagu.infer.lifted.pivot import PivotStep
from lifagu.infer.lifted.steps import CountStep, EliminateStep, MergeStep
from lifagu.infer.lifted.unary import UnaryCountStep

Step = MergeStep | EliminateStep | CountStep | UnaryCountStep | PivotStep | JoinStep | ExpandStep

__all__ = ["CountStep", "EliminateStep", "ExpandStep", "JoinStep", "MergeStep", "PivotStep", "Step", "UnaryCountStep"]
