"""Answers about one graph: exact probabilities and log Z, each with the plan behind it.

`prepare` takes questions apart and plans, so that the cost is known (and refused) before anything is computed;
`Prepared.run` computes.
"""

from lifagu.infer.answer import Answer
from lifagu.infer.prepared import Prepared, Result, prepare

__all__ = ["Answer", "Prepared", "Result", "prepare"]
