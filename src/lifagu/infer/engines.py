"""The engines that solve connected parts: which one plans and runs a part, and what it promises."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Protocol

from lifagu.arrays import Floats
from lifagu.infer import condition, eliminate, enumeration
from lifagu.infer.asked import Question
from lifagu.infer.plan import Plan
from lifagu.infer.problem import Part

ENGINES: dict[str, ModuleType] = {
    "auto": eliminate,
    "lifted": eliminate,
    "ground": eliminate,
    "enumerate": enumeration,
}


class PartPlan(Protocol):
    """What an engine promises about one part: its cost, in words too, and what would not fit."""

    @property
    def total(self) -> int:
        """Numbers to be computed, for showing progress."""

    def obstacle(self, limit: int) -> str | None:
        """Why the part does not fit into so many bytes, None if it does."""


def plan_part(
    engine: str, part: Part, questions: Sequence[Question], names: Callable[[int], str], limit: int
) -> PartPlan:
    """An engine's plan for one part; where elimination does not fit, a plan that conditions on some variables."""
    plan: PartPlan = ENGINES[engine].plan(part, questions, names)
    if isinstance(plan, Plan) and plan.obstacle(limit):
        return condition.plan(part, plan, questions, limit)
    return plan


def run_part(
    engine: str, part: Part, plan: PartPlan, questions: Sequence[Question], tick: Callable[[int], None]
) -> tuple[float, list[Floats]]:
    """log Z of one part and the unnormalised log table of each question."""
    if isinstance(plan, condition.Conditioned):
        return condition.run(part, plan, questions, tick)
    found: tuple[float, list[Floats]] = ENGINES[engine].run(part, plan, questions, tick)
    return found
