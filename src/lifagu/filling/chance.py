"""Whether the table that most agree on is better than a guess: decided here, asked everywhere.

A blind choice among t tables is right once in t. What counts is how far the share of the best one
has come from there towards certainty.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

LEAST = 0.15  # of the way from a blind choice to certainty: below, the best table is a guess
GUESS = "hardly better than a guess"
SURER = 'try by="auto", or a theta that leaves it unknown'


def is_guess(
    share: ArrayLike, tables: ArrayLike, candidates: ArrayLike | None = None
) -> NDArray[np.bool_]:
    """Whether taking the best of several tables is hardly better than a blind choice.

    share: of the candidates that agree on it, or its posterior; tables: how many compete.
    candidates: how many were counted. As few of them say little, each table is then given one more
    supporter, which draws the share towards 1 / tables. None: the share is a posterior, in which
    that is done. A table without rival is no guess.

    >>> bool(is_guess(2 / 54, 53, 54)), bool(is_guess(40 / 54, 10, 54)), bool(is_guess(1, 1, 54))
    (True, False, False)
    >>> bool(is_guess(0.3, 4)), bool(is_guess(0.6, 4))
    (True, False)
    """
    shares, many = np.asarray(share, dtype=np.float64), np.asarray(tables, dtype=np.float64)
    if candidates is not None:
        counted = np.asarray(candidates, dtype=np.float64)
        shares = (shares * counted + 1) / np.maximum(counted + many, 1)
    rivals = np.maximum(many - 1, 1)
    guesses: NDArray[Any] = (many > 1) & ((shares * many - 1) / rivals < LEAST)
    return guesses


def warning(guesses: int, tables: int, agreeing: int, candidates: int) -> str:
    """What is said beside an answer that rests on so many guesses; the numbers of the weakest.

    >>> warning(1, 1, 2, 54)
    'the table it rests on is hardly better than a guess: 2 of 54 agree'
    >>> print(warning(2, 2, 3, 9))
    all 2 tables it rests on are hardly better than a guess: in the weakest place 3 of 9 agree
    """
    if tables == 1:
        return f"the table it rests on is {GUESS}: {agreeing} of {candidates} agree"
    some = f"{guesses} of the {tables}" if guesses < tables else f"all {tables}"
    verb = "is" if guesses == 1 else "are"
    weakest = f"in the weakest place {agreeing} of {candidates} agree"
    return f"{some} tables it rests on {verb} {GUESS}: {weakest}"
