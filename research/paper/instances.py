"""An instance: a ground truth, the factors made unknown, and what is asked.

Five to ten per cent of the factors are made unknown, under the text's constraint or as the authors
did.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from research.drafts import TruthDraft

LEAST, MOST = 0.05, 0.10


@dataclass(frozen=True, eq=False)
class Instance:
    """A ground truth with d questions; cohort_sizes: how many were drawn to behave alike."""

    draft: TruthDraft
    cohort_sizes: tuple[int, ...]
    hidden: tuple[int, ...]
    questions: tuple[str, ...]


Generator = Callable[[int, np.random.Generator], Instance]


def five_to_ten_percent(factors: int, rng: np.random.Generator) -> int:
    """Five to ten per cent of so many factors, drawn evenly by share; one where that is none.

    >>> rng = np.random.default_rng(0)
    >>> five_to_ten_percent(6, rng), {five_to_ten_percent(40, rng) for _ in range(50)} == {2, 3, 4}
    (1, True)
    """
    share = rng.uniform(LEAST, MOST)
    within = max(round(share * factors), math.ceil(LEAST * factors))
    return max(1, min(within, math.floor(MOST * factors)))


def hide_by_place(
    places: Sequence[Hashable], count: int, rng: np.random.Generator
) -> tuple[int, ...]:
    """Factors drawn while another known one is possibly identical: the text's constraint.

    places: what must be equal for two factors to be possibly identical once one is unknown. A
    factor that may not be taken now may not be taken later, so walking through a random order is
    drawing evenly from those that may.
    """
    known = Counter(places)
    hidden: list[int] = []
    for factor in rng.permutation(len(places)).tolist():
        if len(hidden) < count and known[places[factor]] > 1:
            known[places[factor]] -= 1
            hidden.append(factor)
    return tuple(sorted(hidden))


def hide_by_group(
    groups: Sequence[Sequence[int]], count: int, rng: np.random.Generator
) -> tuple[int, ...]:
    """As the authors did: colour groups with two known members or more, then one of the members."""
    known = [list(group) for group in groups]
    hidden = []
    for _ in range(count):
        eligible = [group for group in known if len(group) > 1]
        if not eligible:
            break
        group = eligible[rng.integers(len(eligible))]
        hidden.append(group.pop(rng.integers(len(group))))
    return tuple(sorted(hidden))
