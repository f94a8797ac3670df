"""Where the paper's experiment asks: one place per side, so that an engine can be exchanged."""

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


def lifted_model(moved: lifagu.Transfer) -> lifagu.ParfactorGraph:
    """The completed model as one parfactor for each group: what lifted inference runs on."""
    return lifagu.lift(moved)


def lifted_seconds(lifted: lifagu.ParfactorGraph, question: str) -> float:
    """CPU seconds of one query by lifted inference, without grounding the model again."""
    return _seconds(lifted, question, "lifted")


def _seconds(
    model: lifagu.FactorGraph | lifagu.ParfactorGraph, question: str, engine: str
) -> float:
    start = time.process_time()
    lifagu.query(model, question, engine=engine)
    return time.process_time() - start
