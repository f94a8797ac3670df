"""How likely the table of each hole is once observations count, for all holes in one pass."""

from __future__ import annotations

import numpy as np

from lifagu.basics.arrays import Floats
from lifagu.errors import NoAnswerError, TooLargeError
from lifagu.filling.cohorts.completing import CohortTransfer
from lifagu.filling.cohorts.named_tables import NamedTables
from lifagu.filling.result import Transfer
from lifagu.graph.evidence import EvidenceLike
from lifagu.inference.marginals import prepare_marginals
from lifagu.questions.posterior_model import posterior_model


def table_posteriors(moved: Transfer, evidence: EvidenceLike) -> Floats:
    """For each unknown factor how likely its most probable table is, given what was observed.

    Without evidence that is `Transfer.shares`. It stays so where all candidates agree, and is nan
    where a hole stays unknown, where answers do not sum over tables (`Filling.combine`), and where
    nobody can tell: what was observed is impossible, or would take too much memory.
    """
    told = moved.settled_posteriors
    if not isinstance(moved, CohortTransfer) or moved.way != "average":
        return told
    told = told.copy()
    table = moved.joint.opened[moved.unknown] - len(moved.joint.cohorts)
    hidden = table >= 0
    told[hidden] = moved.shares[hidden] * _times_likelier(moved, evidence)[table[hidden]]
    return told


def _times_likelier(moved: CohortTransfer, evidence: EvidenceLike) -> Floats:
    """How many times likelier the table of each hidden hole is than before, nan if unknown."""
    model = posterior_model(moved)
    first = model.first_variable + len(model.cohorts)
    variables = first + np.arange(len(model.tables))
    seen = moved.original.evidence(evidence)
    try:
        marginals = prepare_marginals(model.graph, seen).run().solution.marginals
    except (NoAnswerError, TooLargeError):
        return np.full(len(variables), np.nan)
    after = np.exp(marginals.in_a_row(variables, model.tables.offsets))
    compared = NamedTables.of(moved)
    best = compared.likeliest(model.tables.shares)
    likelier = compared.among(after)[best] / compared.among(model.tables.shares)[best]
    return np.where(marginals.of_variable[variables] >= 0, likelier, np.nan)
