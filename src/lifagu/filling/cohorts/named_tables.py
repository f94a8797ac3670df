"""Which tables of holes have a name: those that somebody has, so that people can be told of them.

A hole's hidden table is one of several choices (`JointModel.tables`). Estimated tables are atoms of
several sorts of cohorts; only those of the sort that counts most are told, as if it were the only
one. What stands for all tables that occur once, or for many that are hardly likely, has no name.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints
from lifagu.basics.frozen import Frozen
from lifagu.filling.cohorts.completing import CohortTransfer
from lifagu.filling.cohorts.hidden_cohorts import HiddenChoices
from lifagu.filling.cohorts.place_evidence import TableTokens


@dataclass(frozen=True, eq=False)
class NamedTables(Frozen):
    """The choices of hidden tables, flat: which are compared with each other, which have a name."""

    tables: HiddenChoices
    compared: NDArray[np.bool_]
    named: NDArray[np.bool_]

    @classmethod
    def of(cls, moved: CohortTransfer) -> NamedTables:
        """Of all holes that cohorts fill."""
        tables, posterior = moved.joint.tables, moved.posterior
        compared, named = [np.ones(len(tables.choices), dtype=np.bool_) for _ in range(2)]
        hole = 0
        for number, filled in enumerate(moved.apart):
            here = slice(*tables.offsets[[hole, hole + len(filled)]].tolist())
            hole += len(filled)
            shown = posterior.places.places[number].shown
            if isinstance(shown.evidence, TableTokens):
                known = len(shown.tables) - (len(shown.donors) > 1)
            else:
                known = len(posterior.cohorts.found[0].places[number].atoms)
                compared[here] = tables.choices[here] < known
            named[here] = tables.choices[here] < known
        return cls(tables, compared, named)

    def likeliest(self, chances: Floats) -> Ints:
        """For each hole its likeliest named choice, as a place in `tables.choices`."""
        known = np.where(self.named, self.tables.together(chances), -1.0)
        most = np.maximum.reduceat(known, self.tables.offsets[:-1])
        first = np.flatnonzero(known == most[self.tables.owners])[::-1]
        likeliest = np.zeros(len(self.tables), dtype=np.int64)
        likeliest[self.tables.owners[first]] = first  # the first of equal ones comes last
        return likeliest

    def among(self, chances: Floats) -> Floats:
        """Chances of all choices among those that are compared, 0 for the others."""
        some = np.where(self.compared, chances, 0.0)
        total = np.bincount(self.tables.owners, some, minlength=len(self.tables))
        return np.asarray(
            self.tables.together(some) / np.where(total > 0, total, 1.0)[self.tables.owners]
        )
