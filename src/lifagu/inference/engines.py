"""The engines that solve connected parts: which one plans and runs a part, and what it promises."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from lifagu.basics.arrays import Floats
from lifagu.inference import conditioning, elimination
from lifagu.inference.connected_part import AnyPart
from lifagu.inference.plan import Plan
from lifagu.inference.question_checks import Question
from lifagu.inference.table import log_sum

# what is promised about one part: its cost, in words too, and what would not fit
PartPlan = Plan | conditioning.Conditioned


def plan_part(
    part: AnyPart,
    questions: Sequence[Question],
    names: Callable[[int], str],
    limit: int,
    most: float = math.inf,
) -> PartPlan:
    """The plan for one part, with conditioning where elimination does not fit.

    most: entries beyond which elimination is not wanted, which is a `TooDearError`.
    """
    plan = elimination.plan(part, questions, names, most)
    return conditioning.plan(part, plan, questions, limit) if plan.obstacle(limit) else plan


def run_part(
    part: AnyPart, plan: PartPlan, questions: Sequence[Question], tick: Callable[[int], None]
) -> tuple[float, list[Floats]]:
    """log Z of one part and the log marginal of each question."""
    if isinstance(plan, Plan):
        return elimination.run(part, plan, questions, tick)
    part_log, tables = conditioning.run(part, plan, questions, tick)
    if part_log == -math.inf:
        return part_log, tables
    return part_log, [table - log_sum(table) for table in tables]
