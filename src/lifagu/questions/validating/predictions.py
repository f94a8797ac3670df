"""What each way of filling said about hidden cells, and what that is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.basics.cached import cached_property
from lifagu.basics.frozen import Frozen
from lifagu.basics.words import counted
from lifagu.questions.validating.observed_cells import ObservedCells
from lifagu.questions.validating.scores import CellScores, Flags, Mean, calibration_error, mean


@dataclass(frozen=True, eq=False)
class Predicted(Frozen):
    """What one way of filling said about the hidden cells, and what that is worth.

    probabilities[n×k]: padded with 0; answered[n]: where not, the baseline's distribution stands.
    """

    probabilities: Floats
    answered: Flags
    scores: CellScores


Scored = tuple[ObservedCells, Ints, CellScores, dict[str, Predicted], list[str]]


@dataclass(frozen=True, eq=False)
class Structure(Frozen):
    """What the structure of a model has seen of hidden cells: nothing is said of one that is given.

    how: "drafted anew" in each fold without them, or "has seen these values"; why: it has;
    as_it_stands: cells, places, baseline, predictions and notes of the first fold, with the
    structure as it stands, beside those of a draft made anew.
    """

    how: str = ""
    why: str = ""
    as_it_stands: Scored | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Predictions(Frozen):
    """Hidden cells, and what each method said; the attributes are `Validation`'s."""

    cells: ObservedCells
    hidden_cells: Ints
    baseline: CellScores
    methods: Mapping[str, Predicted]
    notes: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    structure: Structure = field(default_factory=Structure)

    @property
    def as_it_stands(self) -> Predictions | None:
        """The same of the first fold with the structure as it stands; None if there is no other."""
        found = self.structure.as_it_stands
        if found is None:
            return None
        cells, places, baseline, methods, notes = found
        return Predictions(cells, places, baseline, methods, tuple(notes))

    def too_good(self, method: str) -> Mean:
        """By how much the log loss of the structure as it stands is below that drafted anew.

        Parameters
        ----------
        method : str
            Its name.

        Returns
        -------
        Mean
            In nats, on the cells of the first fold, with its standard error.
        """
        stands = self.as_it_stands
        if stands is None:
            return Mean(None, None)
        same = np.isin(self.hidden_cells, stands.hidden_cells)
        anew = self.methods[method].scores.losses[same]
        return mean(anew - stands.methods[method].scores.losses)

    @property
    def first(self) -> Predicted:
        """What the first method said."""
        return next(iter(self.methods.values()))

    @property
    def hidden(self) -> int:
        """How many hidden cells were scored."""
        return len(self.hidden_cells)

    @property
    def log_loss(self) -> float | None:
        """Mean of -log of what the true labels were given, in nats; None without cells."""
        return self.first.scores.log_loss.value

    @property
    def accuracy(self) -> float | None:
        """Share of cells whose most probable label was the true one; None without cells."""
        return self.first.scores.accuracy.value

    @property
    def calibration_error(self) -> float | None:
        """How far stated probabilities are from how often they were right; None without cells."""
        return calibration_error(self.first.scores.bins)

    @cached_property
    def relations(self) -> dict[str, Flags]:
        """Which hidden cells are of each relation that has any, in the order of the model."""
        of = self.cells.relation_of[self.hidden_cells]
        return {self.cells.relations[each]: of == each for each in np.unique(of).tolist()}

    def gain(self, method: str, wanted: Flags | None = None) -> Mean:
        """By how much a method's log loss is below the baseline's, on all cells or on some.

        Parameters
        ----------
        method : str
            Its name.
        wanted : ndarray of bool, optional
            Which of the hidden cells count.

        Returns
        -------
        Mean
            In nats, with its standard error.
        """
        better = self.baseline.losses - self.methods[method].scores.losses
        return mean(better if wanted is None else better[wanted])

    def __repr__(self) -> str:
        return (
            f"<Validation: {counted(self.hidden, 'hidden cell')}, log loss {self.log_loss:.4f} "
            f"(frequencies {self.baseline.log_loss.value:.4f}), accuracy {self.accuracy:.3f}>"
        )
