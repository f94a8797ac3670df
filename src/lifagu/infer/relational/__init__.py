"""Questions to relational models, answered over cells of interchangeable individuals, without grounding.

The engine is the same as for graphs: its variables here are kinds of ground variables, its rows patterns.
"""

from lifagu.infer.lifted.cells import NotLiftedError
from lifagu.infer.relational.best import PreparedRelationalBest, RelationalBest, prepare_relational_best
from lifagu.infer.relational.describe import describe_relational
from lifagu.infer.relational.marginals import ClassMarginals, PreparedClassMarginals, prepare_relational_marginals
from lifagu.infer.relational.questions import prepare_relational

__all__ = [
    "ClassMarginals",
    "NotLiftedError",
    "PreparedClassMarginals",
    "PreparedRelationalBest",
    "RelationalBest",
    "describe_relational",
    "prepare_relational",
    "prepare_relational_best",
    "prepare_relational_marginals",
]
