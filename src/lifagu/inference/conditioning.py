"""Conditioning: a part that does not fit is run once for each value of a few variables.

Cutset conditioning (Pearl 1988) around ground elimination: with the chosen variables fixed, what is
left has smaller tables. It trades time for memory and stays exact. Variables are chosen one at a
time, from the largest tables of a greedy order, and the rest is planned anew after each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from lifagu.basics.arrays import Floats
from lifagu.basics.memory import readable_size
from lifagu.errors import listed
from lifagu.inference import elimination, elimination_orders
from lifagu.inference.connected_part import AnyPart, Part
from lifagu.inference.plan import (
    BYTES_PER_ENTRY,
    WORKING_COPIES,
    Order,
    Plan,
    make_plan,
    neighbours,
    readable_count,
    with_core,
)
from lifagu.inference.question_checks import Question
from lifagu.inference.table import clamp, log_sum

MOST_RUNS = 2**12  # combinations beyond which conditioning is refused …
MOST_WORK = 2**36  # … and entries of all runs together
SMALL = 1000  # variables up to which more than one search is tried
WORTHWHILE = 2**4  # times too much work up to which a search goes on: the next order may be better

# how much a step of so many entries counts, the largest having so many
Weigh = Callable[[int, int], float]


@dataclass(frozen=True)
class Conditioned:
    """Fix some variables in every way and run the rest; whole: the plan without that.

    Where no choice is good enough, one of them that does not fit either; without variables if that
    was clear at once.
    """

    whole: Plan
    variables: tuple[int, ...]
    runs: int
    each: Plan

    @property
    def total(self) -> int:
        """Entries of all tables of all runs: proportional to the running time."""
        return self.runs * self.each.total

    def obstacle(self, limit: int) -> str | None:
        """Why even this does not fit, as the end of a sentence; None if it does."""
        fits = self.each.memory <= limit
        if fits and self.runs <= MOST_RUNS and self.total <= MOST_WORK:
            return None
        if fits or self.variables:
            cost = (
                f"conditioning on {self._chosen} would take {self.runs} runs "
                f"and {readable_count(self.total)} entries in all"
            )
            cost += "" if fits else f" and still need {readable_size(self.each.memory)}"
        else:
            cost = (
                f"conditioning would take {readable_count(self.whole.memory // max(limit, 1) + 1)} "
                f"runs or more and {readable_count(self.whole.total)} entries in all"
            )
        most = f"{MOST_RUNS} runs and {readable_count(MOST_WORK)} entries"
        return f"{self.whole.obstacle(limit)}; {cost}, but the most are {most}"

    def __str__(self) -> str:
        return (
            f"condition on {self._chosen}: {self.runs} runs, {self.total} entries in all, "
            f"instead of {readable_size(self.whole.memory)} at once; each run:\n{self.each}"
        )

    @property
    def _chosen(self) -> str:
        return listed(map(self.whole.names, self.variables), limit=12)


def plan(part: AnyPart, whole: Plan, questions: Sequence[Question], limit: int) -> Conditioned:
    """Choose what to condition on where the plan of `elimination.plan` does not fit into the limit.

    Conditioning hardly ever saves work, so nothing is searched where there would be too much of it
    even so. Cost: planning, a few times for each variable chosen.
    """
    if (
        whole.memory > limit * MOST_RUNS
        or whole.largest > MOST_WORK
        or whole.total > WORTHWHILE * MOST_WORK
    ):
        return Conditioned(whole, (), 1, whole)
    core = _Core(part, whole, questions)
    searches = SEARCHES if len(core.sizes) <= SMALL else SEARCHES[:1]
    found = [_search(core, limit, order, weigh) for order, weigh in searches]
    return min(found, key=lambda each: (max(each.each.memory, limit), each.total))


def run(
    part: AnyPart, plan: Conditioned, questions: Sequence[Question], progress: Callable[[int], None]
) -> tuple[float, list[Floats]]:
    """log Z and the log weight of each question's values, added up over all runs."""
    logs = []
    totals = [
        np.full([part.sizes[variable] for variable in question], -np.inf) for question in questions
    ]
    for values, fixed in _slices(part, plan):
        if any(table.max(initial=-np.inf) == -np.inf for _, table in fixed.factors):
            progress(plan.each.total)
            continue
        log_weight, tables = elimination.run(fixed, plan.each, questions, progress)
        if log_weight == -math.inf:
            continue
        logs.append(log_weight)
        for total, table, question in zip(totals, tables, questions, strict=True):
            place = tuple(
                slice(values[each], values[each] + 1) if each in values else slice(None)
                for each in question
            )
            total[place] = np.logaddexp(total[place], table + log_weight)
    return float(log_sum(np.array(logs))) if logs else -math.inf, totals


def _slices(part: AnyPart, plan: Conditioned) -> Iterator[tuple[dict[int, int], Part]]:
    """For each combination of values the part with these fixed, without dropped factors."""
    chosen = set(plan.variables)
    factors = [
        factor
        for place, factor in enumerate(part.factors)
        if place not in plan.whole.dropped_factors
    ]
    sizes = part.sizes | dict.fromkeys(plan.variables, 1)
    places = [
        [axis for axis, variable in enumerate(scope) if variable in chosen] for scope, _ in factors
    ]
    for combination in product(*(range(part.sizes[variable]) for variable in plan.variables)):
        values = dict(zip(plan.variables, combination, strict=True))
        fixed = []
        for (scope, table), axes in zip(factors, places, strict=True):
            if axes:
                table = np.asarray(clamp(table, axes, [values[scope[axis]] for axis in axes]))
                scope = tuple(variable for variable in scope if variable not in chosen)
            fixed.append((scope, table))
        yield values, Part(part.variables, sizes, tuple(fixed))


class _Core:
    """What of a part matters for the questions, by structure alone, whatever is fixed to what."""

    def __init__(self, part: AnyPart, whole: Plan, questions: Sequence[Question]) -> None:
        self.whole, self.questions = whole, questions
        self.asked = {variable for question in questions for variable in question}
        gone = set(whole.dropped)
        self.sizes = {
            variable: size for variable, size in part.sizes.items() if variable not in gone
        }
        self.scopes = [
            table.ranks
            for place, table in enumerate(part.tables)
            if place not in whole.dropped_factors
        ]

    def without(self, chosen: Collection[int]) -> tuple[list[Question], dict[int, int], Question]:
        """Scopes, sizes and variables to keep when some are fixed.

        Questions that share a walk back are scopes.
        """
        sizes = {variable: size for variable, size in self.sizes.items() if variable not in chosen}
        scopes = [
            tuple([variable for variable in scope if variable in sizes]) for scope in self.scopes
        ]
        asked = [
            tuple(variable for variable in question if variable in sizes)
            for question in self.questions
        ]
        if len(asked) == 1:
            return scopes, sizes, asked[0]
        return scopes + [question for question in asked if len(question) > 1], sizes, ()

    def plan(self, chosen: Collection[int]) -> Plan:
        """How each run eliminates what is not fixed."""
        scopes, sizes, keep = self.without(chosen)
        found = make_plan(
            scopes, sizes, keep, keeps_tables=len(self.questions) > 1, names=self.whole.names
        )
        found = with_core(found, [*scopes, keep], sizes)
        return replace(found, dropped=self.whole.dropped, log_constant=self.whole.log_constant)

    def choose(
        self, chosen: Collection[int], fitting: int, order: Order, weigh: Weigh
    ) -> int | None:
        """The variable in most of the largest tables, for what it costs; None if none is left.

        fitting: entries of tables that fit and are of no concern. Ties go to those that are not
        asked for, then to what was declared first.
        """
        scopes, sizes, keep = self.without(chosen)
        near = neighbours(scopes, sizes, keep)
        made = [(variable, *around) for variable, around in order(near, sizes, set(keep))] + [keep]
        entries = [math.prod([sizes[variable] for variable in scope]) for scope in made]
        largest, score = max(entries), dict.fromkeys(sizes, 0.0)
        enough = min(fitting, largest // 4)  # steps up to this size do not matter
        for scope, size in zip(made, entries, strict=True):
            if (weight := weigh(size, largest)) and size > enough:
                for variable in scope:
                    score[variable] += weight
        cost = {variable: -score[variable] / math.log2(size) for variable, size in sizes.items()}
        ranked = [(cost[variable], variable in self.asked, variable) for variable in sizes]
        return min(ranked)[2] if ranked else None


def _search(core: _Core, limit: int, order: Order, weigh: Weigh) -> Conditioned:
    """Fix one variable after the other until the rest fits, or takes too many runs or entries."""
    chosen: list[int] = []
    runs, each = 1, core.whole
    while each.memory > limit and runs * each.total <= WORTHWHILE * MOST_WORK:
        variable = core.choose(chosen, limit // (BYTES_PER_ENTRY * WORKING_COPIES), order, weigh)
        if variable is None or runs * core.sizes[variable] > MOST_RUNS:
            break
        chosen.append(variable)
        runs *= core.sizes[variable]
        each = core.plan(chosen)
    return Conditioned(core.whole, tuple(sorted(chosen)), runs, each)


def _entries(entries: int, largest: int) -> float:
    """A step counts as much as its table is large."""
    return entries / largest


def _largest(entries: int, largest: int) -> float:
    """Only the largest tables count."""
    return float(entries == largest)


SEARCHES: tuple[tuple[Order, Weigh], ...] = (
    (elimination_orders.min_fill, _largest),
    (elimination_orders.min_weight, _entries),
    (elimination_orders.min_fill, _entries),
    (elimination_orders.min_weight, _largest),
)
