"""Questions that depend on the same connected parts, and whether all combinations are computed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Ints, distinct
from lifagu.questions.unsure.choices_as_values import Piece
from lifagu.questions.unsure.parts_and_classes import PartsAndClasses

WORK = 2_000_000  # copies times their factors that are computed to be exact
BESIDE = 25  # factors that a copy costs at least
MOST_TOGETHER = 2**16  # combinations of the classes of several parts


@dataclass(frozen=True, eq=False)
class Unit:
    """Questions (by place) about the same parts, the open classes in these, and who speaks of them.

    exact: whether all combinations are computed; else some are drawn.
    """

    parts: tuple[int, ...]
    classes: tuple[int, ...]
    witnesses: tuple[int, ...]
    places: tuple[int, ...]
    exact: bool
    log_combinations: float


def needed_by(units: Iterable[Unit]) -> dict[int, None]:
    """The parts of units, and those that bear witness, each once."""
    needed: dict[int, None] = {}
    met: set[tuple[int, ...]] = set()
    for unit in units:
        needed |= dict.fromkeys(unit.parts)
        if unit.classes not in met:  # equal classes have equal witnesses, and these may be many
            met.add(unit.classes)
            needed |= dict.fromkeys(unit.witnesses)
    return needed


def units_of(whole: PartsAndClasses, asked: Sequence[Piece], draws: int) -> list[Unit]:
    """Questions, each a tuple of variables, by the parts that they are about."""
    by_parts: dict[tuple[int, ...], list[int]] = {}
    for place, question in enumerate(asked):
        parts = whole.part_of[list(question)]
        by_parts.setdefault(tuple(distinct(parts[parts >= 0]).tolist()), []).append(place)
    return [_unit(whole, parts, places, draws) for parts, places in by_parts.items()]


def _unit(
    whole: PartsAndClasses, parts: tuple[int, ...], places: Sequence[int], draws: int
) -> Unit:
    classes = whole.classes_of(np.array(parts, dtype=np.int64))
    witnesses = whole.witnesses_of(classes)
    logs = float(np.log(whole.sizes[classes]).sum())
    needed = distinct(np.concatenate((np.array(parts, dtype=np.int64), witnesses)))
    exact = _affordable(whole, needed, draws)
    if len(parts) > 1:
        exact = exact and logs <= math.log(MOST_TOGETHER)
    return Unit(
        parts, tuple(classes.tolist()), tuple(witnesses.tolist()), tuple(places), exact, logs
    )


def _affordable(whole: PartsAndClasses, parts: Ints, draws: int) -> bool:
    """Whether all combinations of each part cost no more than draws would, or little in all."""
    combinations = whole.combinations[parts]
    if combinations.max(initial=0) <= draws:
        return True
    return float((combinations * (whole.factor_counts[parts] + BESIDE)).sum()) <= WORK
