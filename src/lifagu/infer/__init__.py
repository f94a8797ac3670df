"""Answers about one graph: exact probabilities and log Z, each with the plan behind it.

`prepare` takes questions apart and plans, so that the cost is known (and refused) before anything is computed;
`Prepared.run` computes. `prepare_marginals` does the same for all single marginals.
"""

from lifagu.infer.answer import Answer
from lifagu.infer.best import Best, best_assignment
from lifagu.infer.marginals import AllMarginals
from lifagu.infer.prepared import Prepared, Result, prepare, prepare_marginals

__all__ = [
    "AllMarginals",
    "Answer",
    "Best",
    "Prepared",
    "Result",
    "best_assignment",
    "prepare",
    "prepare_marginals",
]
