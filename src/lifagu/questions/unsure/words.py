"""How unsure answers were got, in words: plans, and notes beside answers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lifagu.basics.words import counted
from lifagu.questions.unsure.mixing import Combined
from lifagu.questions.unsure.units import Unit

UNRELIABLE = 20  # draws of equal weight below which their spread says little


def combinations_of(unit: Unit) -> str:
    """How many combinations there are, roughly where they are many.

    >>> combinations_of(Unit((0,), (1, 2), (), (0,), True, math.log(12)))
    '12'
    >>> combinations_of(Unit((0,), (1, 2), (), (0,), True, 70.0))
    'about 10^30'
    """
    if unit.log_combinations < math.log(10**9):
        return f"{round(math.exp(unit.log_combinations)):,}"
    return f"about 10^{round(unit.log_combinations / math.log(10))}"


def plan_of(unknown: str, units: Sequence[Unit], draws: int, winning: str) -> str:
    """The plan: how many combinations, or how many draws of them, each as the winning one."""
    largest = max(units, key=lambda unit: (not unit.exact, unit.log_combinations))
    every = f"{combinations_of(largest)} combinations of competing tables"
    most = "at most " if len({unit.log_combinations for unit in units}) > 1 else ""
    if largest.exact:
        return f"{unknown} over {most}{every}, each:\n{winning}"
    return f"{unknown} over {counted(draws, 'draw')} of {most}{every}, each:\n{winning}"


def note_on(unknown: str, unit: Unit, draws: int, found: Combined) -> str:
    """How an answer was got where not all combinations were computed; else nothing."""
    if unit.exact:
        return ""
    every = f"{combinations_of(unit)} combinations of competing tables"
    if found.error is None:
        return (
            f"over the winning tables and {counted(draws, 'draw')} of {every}; "
            "the true bounds may be wider"
        )
    worth = ""
    if found.effective is not None and found.effective < 0.9 * draws:
        worth = f", worth {found.effective:.0f} of equal weight"
        if found.effective < UNRELIABLE:
            worth += " (too few to rely on: the evidence speaks for combinations that are rare)"
    return (
        f"by {counted(draws, 'draw')} of {every}{worth}; "
        f"standard error at most {_rounded_up(float(found.error.max()))}"
    )


def _rounded_up(error: float) -> str:
    """A number of one or two digits that is not below the error.

    >>> _rounded_up(0.00312), _rounded_up(0.0), _rounded_up(0.0871)
    ('0.0032', '0', '0.088')
    """
    if error <= 0:
        return "0"
    digit = 10.0 ** (math.floor(math.log10(error)) - 1)
    return f"{math.ceil(error / digit - 1e-9) * digit:.2g}"
