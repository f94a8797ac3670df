"""`Validation`: what came of hiding and predicting, by method and by relation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.basics.atomic_files import PathLike
from lifagu.basics.frozen import Frozen
from lifagu.basics.words import counted
from lifagu.questions.validating.hidden_tables import TableScores
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
    tables: TableScores | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Validation(Frozen):
    """How well hidden cells and hidden tables were predicted; made by `Case.validate`.

    Scores without a method are those of the first one.

    Attributes
    ----------
    cells : ObservedCells
        All cells that were observed.
    hidden_cells : ndarray of int, shape (n,)
        The hidden ones that are scored, as places among them, fold by fold.
    baseline : CellScores
        What each relation's frequencies, without hidden cells, would have scored.
    methods : mapping
        Name → predictions and their scores.
    notes : tuple of str
        What is to be said beside the scores.
    settings : mapping
        How cells were hidden.
    """

    cells: ObservedCells
    hidden_cells: Ints
    baseline: CellScores
    methods: Mapping[str, Predicted]
    notes: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)

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

    def json(self) -> dict[str, Any]:
        """Everything but single cells as plain values, as ``lifagu validate --json`` prints it."""
        found = {name: self._method_json(name) for name in self.methods}
        first = next(iter(found))
        several = {"methods": found} if len(found) > 1 else {}
        return {
            **found[first],
            "method": first,
            **self.settings,
            "judgement": self.judgement(),
            "notes": list(self.notes),
            **several,
        }

    def judgement(self, method: str | None = None) -> str:
        """In a sentence, which relations can be trusted and which cannot.

        Parameters
        ----------
        method : str, optional
            Its name; the first one by default.

        Returns
        -------
        str
        """
        from lifagu.questions.validating.judging import judgement

        return judgement(self, method or next(iter(self.methods)))

    def write(self, folder: PathLike) -> None:
        """Write a report: a page with its figures, the scores, and every hidden cell.

        Parameters
        ----------
        folder : path
            Made, or replaced if it holds nothing but such a report.
        """
        from lifagu.questions.validating.report import write_report

        write_report(self, folder)

    def write_cells(self, path: PathLike) -> None:
        """Write every hidden cell with its true value and what was predicted.

        Parameters
        ----------
        path : path
            A ``.csv`` file, also with ``.gz``.
        """
        from lifagu.questions.validating.report import write_cells

        write_cells(self, path)

    def _method_json(self, name: str) -> dict[str, Any]:
        said = self.methods[name]
        everything = np.ones(self.hidden, dtype=np.bool_)
        tables = {} if said.tables is None else {"tables": tables_json(said.tables)}
        return {
            **self._scores_json(name, everything),
            "relations": {
                relation: self._scores_json(name, wanted)
                for relation, wanted in self.relations.items()
            },
            "reliability": [
                {"stated": each.stated, "right": each.right, "n": each.many}
                | {"standard_error": each.error}
                for each in said.scores.bins
            ],
            **tables,
        }

    def _scores_json(self, name: str, wanted: Flags) -> dict[str, Any]:
        said = self.methods[name]
        scores, baseline = said.scores.only(wanted), self.baseline.only(wanted)
        gain = self.gain(name, wanted)
        return {
            "hidden": len(scores),
            "log_loss": scores.log_loss.value,
            "accuracy": scores.accuracy.value,
            "calibration_error": calibration_error(scores.bins),
            "unanswered": int((~said.answered[wanted]).sum()),
            "standard_error": {
                "log_loss": scores.log_loss.error,
                "accuracy": scores.accuracy.error,
            },
            "baseline": {"log_loss": baseline.log_loss.value, "accuracy": baseline.accuracy.value},
            "gain": {"log_loss": gain.value, "standard_error": gain.error},
        }

    def __repr__(self) -> str:
        parts = []
        if self.hidden:
            parts.append(
                f"{counted(self.hidden, 'hidden cell')}, log loss {self.log_loss:.4f} "
                f"(frequencies {self.baseline.log_loss.value:.4f}), accuracy {self.accuracy:.3f}"
            )
        if (tables := self.first.tables) is not None:
            right = tables.share_right.value or 0.0
            parts.append(f"{counted(len(tables), 'hidden table')}, {right:.3f} of them right")
        return f"<Validation: {'; '.join(parts)}>"


def tables_json(scores: TableScores) -> dict[str, Any]:
    """The scores of hidden tables as plain values."""

    def summary(part: TableScores) -> dict[str, Any]:
        off = mean(part.divergences)
        return {
            "hidden": len(part),
            "kl": off.value,
            "right": part.share_right.value,
            "left": part.left,
            "standard_error": {"kl": off.error, "right": part.share_right.error},
            "pooled": {"kl": mean(part.pooled).value},
            "uniform": {"kl": mean(part.uniform).value},
        }

    return {
        **summary(scores),
        "calibration_error": calibration_error(scores.bins),
        "calibration": [
            {"stated": each.stated, "right": each.right, "n": each.many}
            | {"standard_error": each.error}
            for each in scores.bins
        ],
        "places": {
            title: summary(scores.only(number))
            for number, title in enumerate(scores.places)
            if (scores.place_of == number).any()
        },
    }
