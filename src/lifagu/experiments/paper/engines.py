"""Where the paper's experiment asks its questions: one place per side, so that an engine can be exchanged."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

import lifagu
from lifagu.experiments.drafts import Floats


def answers(graph: lifagu.FactorGraph, questions: Sequence[str]) -> Floats:
    """P(question) for each question, one row each, by whatever exact engine is fastest."""
    found = lifagu.marginals(graph)
    return np.array([list(found[question].values()) for question in questions])


def ground_seconds(truth: lifagu.FactorGraph, question: str) -> float:
    """CPU seconds of one query by variable elimination on the ground truth."""
    return _seconds(truth, question, "ground")


def lifted_seconds(completed: lifagu.FactorGraph, question: str) -> float:
    """CPU seconds of one query by lifted inference on the completed model."""
    return _seconds(completed, question, "lifted")


def _seconds(graph: lifagu.FactorGraph, question: str, engine: str) -> float:
    start = time.process_time()
    lifagu.query(graph, question, engine=engine)
    return time.process_time() - start
