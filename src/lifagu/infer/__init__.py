"""Answers about one graph: exact probabilities and log Z, each with the plan behind it.

The functions called prepare… take a question apart and plan, so that the cost is known (and refused) before anything
large is computed; `run` computes.
"""

from lifagu.infer.answer import Answer, Convergence
from lifagu.infer.asked import TooLarge
from lifagu.infer.best import Best, PreparedBest, prepare_best
from lifagu.infer.marginals import AllMarginals, PreparedMarginals, prepare_marginals
from lifagu.infer.planning import prepare
from lifagu.infer.prepared import Prepared, Result

__all__ = [
    "AllMarginals",
    "Answer",
    "Best",
    "Convergence",
    "Prepared",
    "PreparedBest",
    "PreparedMarginals",
    "Result",
    "TooLarge",
    "prepare",
    "prepare_best",
    "prepare_marginals",
]
