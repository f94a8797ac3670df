"""A problem after its lifted steps: how they are told, and how answers walk back through them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.basics.words import counted
from lifagu.inference.lifted.adjoints import Adjoints
from lifagu.inference.lifted.assignment import Assignment, CellValues, GroundValues
from lifagu.inference.lifted.cells import Pattern
from lifagu.inference.lifted.counting import CountStep
from lifagu.inference.lifted.elimination import EliminateStep
from lifagu.inference.lifted.expansion import ExpandStep
from lifagu.inference.lifted.merging import MergeStep
from lifagu.inference.lifted.problem import Problem
from lifagu.inference.lifted.rows import Booleans, ByArity, New

MOST_LINES = 24  # of steps that are told


class WalksBack(Protocol):
    """The record of a step: how probabilities walk back through it."""

    def walk_back(self, after: Adjoints) -> ByArity:
        """The joint marginals of rows before; marginals of variables taken away are added."""


class LiftedStep(WalksBack, Protocol[New]):
    """The record of a step on one kind of rows: how best values walk back through it, too."""

    def trace_back(self, values: Assignment[New]) -> None:
        """Give values to the variables that the (maximising) step took away."""


@dataclass(frozen=True, eq=False)
class Reduced:
    """A problem after all that could be done at once: what is left, and how it got there.

    over_cells: the steps while rows were still over cells; expanded: how they were listed; listed:
    the steps on listed rows; dropped: variables that cannot matter for what is asked.
    """

    problem: Problem[Ints]
    listed: tuple[LiftedStep[Ints], ...] = ()
    expanded: ExpandStep | None = None
    over_cells: tuple[LiftedStep[Pattern], ...] = ()
    dropped: int = 0

    @property
    def steps(self) -> tuple[object, ...]:
        """All steps in turn."""
        expanded = () if self.expanded is None else (self.expanded,)
        return (*self.over_cells, *expanded, *self.listed)

    def __str__(self) -> str:
        lines = (
            [f"drop {counted(self.dropped, 'variable')} that cannot matter"] if self.dropped else []
        )
        lines += told_together([text for step in self.steps if (text := str(step))])
        return "\n".join(f"  {line}" for line in lines)

    def walk_back(self, adjoints: Adjoints, wanted: Ints | None) -> None:
        """Fill in the marginals of all variables taken away, or at least of the wanted."""
        marginals = adjoints.marginals

        def known(step: object) -> bool:
            if wanted is None:
                return False
            if isinstance(step, CountStep) and np.isin(wanted, step.classes.variables).all():
                step.members(adjoints)
            return bool((marginals.of_variable[wanted] >= 0).all())

        listed: list[WalksBack] = [*self.listed[::-1]]
        over_cells: list[WalksBack] = [*self.over_cells[::-1]]
        for step in listed + ([self.expanded] if self.expanded else []) + over_cells:
            if known(step):
                return
            adjoints = replace(adjoints, of_row=step.walk_back(adjoints))

    def looked_at(self) -> dict[int, Booleans]:
        """Which of the rows left have a joint marginal that is looked at on the way back."""
        labels = self.problem.rows.labels
        known = [step for step in self.listed if isinstance(step, MergeStep | EliminateStep)]
        if self.expanded or len(known) < len(self.listed):
            return {arity: np.ones(len(each), dtype=np.bool_) for arity, each in labels.items()}
        marked: dict[int, Booleans] | None = None
        for step in known:
            marked = step.looked_at(marked)
        return marked or {}

    def trace_back(self, values: Ints) -> GroundValues | CellValues:
        """The values of all variables that the (maximising) steps took away; ties go to the lowest.

        values[v]: canonical value of each variable that was left.
        """
        ground = GroundValues(values)
        for step in self.listed[::-1]:
            step.trace_back(ground)
        if self.expanded is None:
            return ground
        found = self.expanded.values(ground)
        for each in self.over_cells[::-1]:
            each.trace_back(found)
        return found


def told_together(texts: Sequence[str]) -> list[str]:
    """Steps in words: runs of the same ones once, with how often; long lists end with a count.

    >>> told_together(["a", "b", "a", "b", "a", "b", "c"])
    ['a', 'b', '… the last 2 steps 3 times', 'c']
    """
    lines: list[str] = []
    place = 0
    while place < len(texts):
        often, length = _repeated(texts, place)
        lines += texts[place : place + length]
        if often > 1:
            lines.append(f"… the last {counted(length, 'step')} {often} times")
        place += length * often
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], f"… and {len(lines) - MOST_LINES + 1} more"]
    return lines


def _repeated(texts: Sequence[str], place: int) -> tuple[int, int]:
    """How often what begins at a place comes again and again, and how long it is."""
    for length in (1, 2, 3, 4):
        often = 1
        while (
            texts[place : place + length]
            == texts[place + often * length : place + (often + 1) * length]
        ):
            often += 1
        if often > 1 and place + length <= len(texts):
            return often, length
    return 1, 1
