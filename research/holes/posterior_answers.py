"""Answers by posterior: cohorts and tables summed out, and how likely tables are after evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

import lifagu
from lifagu.questions.table_posteriors import table_posteriors
from research.drafts import Floats


class PosteriorAnswers:
    """A filled graph and what was observed: all marginals, and the tables that follow from it."""

    def __init__(self, moved: lifagu.Transfer, evidence: Mapping[str, str]) -> None:
        self._moved, self._evidence = moved, evidence

    def marginals(self, names: Sequence[str]) -> list[Floats]:
        """P(variable | evidence), values in their declared order."""
        found = lifagu.marginals(self._moved, evidence=self._evidence, unknown="posterior")
        return [np.array(list(found[name].values())) for name in names]

    def stated(self) -> Floats:
        """For each unknown factor how likely the table is that it shows, given the evidence.

        That is the likeliest before any evidence, as in the record. nan where it has none.
        """
        return table_posteriors(self._moved, self._evidence)
