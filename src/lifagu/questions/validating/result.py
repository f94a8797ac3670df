"""`Validation`: what came of hiding and predicting, in words, as plain values and in a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lifagu.basics.atomic_files import PathLike
from lifagu.basics.html import Shown
from lifagu.questions.validating.judging import judgement
from lifagu.questions.validating.plain_values import plain
from lifagu.questions.validating.predictions import Predictions


@dataclass(frozen=True, eq=False, repr=False)
class Validation(Predictions, Shown):
    """How well hidden cells were predicted; made by `Case.validate`.

    Scores without a method are those of the first one.

    Attributes
    ----------
    cells : ObservedCells
        All cells that were observed.
    hidden_cells : ndarray of int, shape (n,)
        The hidden ones that are scored, as places among them, ascending.
    baseline : CellScores
        What each relation's frequencies, without hidden cells, would have scored.
    methods : mapping
        Name → predictions and their scores.
    notes : tuple of str
        What is to be said beside the scores.
    settings : mapping
        How cells were hidden.
    structure : Structure
        What the structure of a draft has seen of hidden cells.
    """

    def json(self) -> dict[str, Any]:
        """Everything but single cells as plain values, as printed in JSON."""
        return plain(self)

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
        return judgement(self, method or next(iter(self.methods)))

    def write_cells(self, path: PathLike) -> None:
        """Write every hidden cell with its true value and what was predicted.

        Parameters
        ----------
        path : path
            A ``.csv`` file, also with ``.gz``.
        """
        from lifagu.questions.validating.written_cells import write_cells

        write_cells(self, path)
