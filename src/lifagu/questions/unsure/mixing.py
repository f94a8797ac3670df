"""Answers over combinations put together: means by weight, and smallest and largest ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.questions.unsure.choices_as_values import Piece
from lifagu.questions.unsure.computed_parts import ComputedParts
from lifagu.questions.unsure.draws import estimated
from lifagu.questions.unsure.units import Unit


class Combined(NamedTuple):
    """Answers in a row; their standard errors where draws were averaged; ends where asked for.

    effective: how many draws of equal weight count as much, None where nothing was drawn.
    """

    answer: Floats
    error: Floats | None = None
    lower: Floats | None = None
    upper: Floats | None = None
    effective: float | None = None


def mixed(computed: ComputedParts, unit: Unit, answers: Floats, rows: Ints) -> Combined:
    """The mixture of answers (copies × numbers); rows: the copy of each combination or draw."""
    if not unit.exact:
        found = estimated(answers[rows], computed.log_weights_of(unit))
        return Combined(found.mean, found.error, effective=found.effective)
    weights = np.bincount(rows, computed.shares_of(unit), minlength=len(answers))
    used = weights > 0
    return Combined(weights[used] @ answers[used])


def bounded(computed: ComputedParts, unit: Unit, answers: Floats, rows: Ints) -> Combined:
    """The winning answer, and the smallest and largest over combinations that are possible."""
    possible = (
        computed.shares_of(unit) > 0 if unit.exact else np.isfinite(computed.log_weights_of(unit))
    )
    possible[0] = True  # the winning one, which was checked
    used = answers[np.unique(rows[possible])]
    return Combined(answers[rows[0]], None, used.min(axis=0), used.max(axis=0))


def jointly(
    computed: ComputedParts, unit: Unit, pieces: Sequence[Piece | None]
) -> tuple[Floats, Ints]:
    """The answers to a question in pieces, one for each part (None: it is not about that part).

    An array of combinations × numbers, the pieces' axes part after part.
    """
    rows = computed.rows_of(unit)
    joint = np.ones((len(rows[0]), 1))
    for part, piece, own in zip(unit.parts, pieces, rows, strict=True):
        if piece is not None:
            answers = piece_answers(computed, unit, part, piece)[own]
            joint = (joint[:, :, None] * answers[:, None, :]).reshape(len(joint), -1)
    return joint, np.arange(len(joint))


def piece_answers(computed: ComputedParts, unit: Unit, part: int, piece: Piece) -> Floats:
    """The answers to one piece about a part, a row for each copy."""
    pieces = computed.pieces[part]
    offsets = computed.copies.size_of(pieces)
    at = pieces.index(piece)
    return computed.answers_of(unit, part)[:, offsets[at] : offsets[at + 1]]


def split(flat: Combined, offsets: Ints) -> Iterator[Combined]:
    """What was combined in a row, piece by piece."""
    for start, stop in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        arrays = [None if each is None else each[start:stop] for each in flat[:4]]
        yield flat._replace(
            answer=flat.answer[start:stop], error=arrays[1], lower=arrays[2], upper=arrays[3]
        )
