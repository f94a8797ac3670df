"""A most probable assignment: the same lifted steps and ground elimination, with maxima in place of sums."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lifagu.arrays import Ints
from lifagu.errors import ModelError, NoAnswerError, TooLargeError
from lifagu.evidence import Evidence, EvidenceLike
from lifagu.infer import maximise
from lifagu.infer.asked import check_known, why_zero
from lifagu.infer.lifted import CellValues, GroundValues, Reduced, Residual, do_nothing, reduce, residual
from lifagu.infer.plan import Plan, default_memory_limit
from lifagu.model import FactorGraph
from lifagu.parts import parts_without
from lifagu.showing import Shown
from lifagu.views import counted

ENGINES = ("auto", "lifted", "ground")
Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Best(Shown):
    """A most probable assignment, as canonical values of all variables, and the natural log of its weight."""

    graph: FactorGraph
    log_weight: float
    values: Ints
    plan: str

    @property
    def assignment(self) -> dict[str, str]:
        """Label of each variable, by name."""
        graph = self.graph
        labels = [graph.ranges.canonical[number] for number in graph.variable_range.tolist()]
        return {
            name: labels[variable][value]
            for variable, (name, value) in enumerate(zip(graph.variable_names, self.values.tolist(), strict=True))
        }


@dataclass(frozen=True, eq=False)
class Search:
    """The search for a best assignment after the lifted steps: what is left, and a plan for each part of it."""

    reduced: Reduced
    rest: Residual
    plans: tuple[Plan, ...]

    def __str__(self) -> str:
        dearest = sorted(self.plans, key=lambda plan: -plan.total)[:3]
        lines = [str(self.reduced)] if self.reduced.steps else []
        more = len(self.plans) - len(dearest)
        return "\n".join([*lines, *map(str, dearest), *([f"and {counted(more, 'smaller part')}"] if more else [])])

    def run(self, evidence: Evidence, progress: Progress | None) -> tuple[float, GroundValues | CellValues]:
        """The log weight of a best assignment, and its values, traced back through the lifted steps."""
        values = np.full(len(self.reduced.problem.variables), -1, dtype=np.int64)
        values[evidence.variables] = evidence.values
        logs = [self.rest.log_constant]
        for done, (part, plan) in enumerate(zip(self.rest.parts, self.plans, strict=True), 1):
            log_weight, chosen = maximise.map_part(part, plan, lambda _: None)
            logs.append(log_weight)
            values[list(chosen)] = list(chosen.values())
            if progress:
                progress(done, len(self.plans))
        if -math.inf in logs:
            raise NoAnswerError(why_zero(evidence))
        return math.fsum(logs), self.reduced.trace_back(values)


def plan_search(reduced: Reduced, limit: int) -> Search:
    """Plan the search in what the lifted steps have left; what does not fit is refused."""
    rest = residual(reduced.problem)
    plans = tuple(maximise.plan(part, reduced.problem.variables.name) for part in rest.parts)
    for plan in plans:
        if obstacle := plan.obstacle(limit):
            raise TooLargeError(f"the best assignment {obstacle}")
    return Search(reduced, rest, plans)


@dataclass(frozen=True, eq=False)
class PreparedBest(Shown):
    """The search for a best assignment planned and ready to run; `str` shows the plan and its cost."""

    graph: FactorGraph
    evidence: Evidence
    search: Search
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join([str(self.search), *self.notes])

    def run(self, progress: Progress | None = None) -> Best:
        """Find it; progress(done, total) is called now and then."""
        log_weight, values = self.search.run(self.evidence, progress)
        return Best(self.graph, log_weight, values.of(np.arange(len(self.graph.variable_names))), str(self))


def prepare_best(
    graph: FactorGraph, evidence: EvidenceLike = None, *, engine: str = "auto", memory_limit: int | None = None
) -> PreparedBest:
    """Plan the search for a most probable assignment that agrees with the evidence; what does not fit is refused."""
    if engine not in ENGINES:
        raise ModelError(f"the best assignment is found by the engines {', '.join(ENGINES)}, not '{engine}'")
    limit = default_memory_limit() if memory_limit is None else memory_limit
    observation = graph.evidence(evidence)
    free = observation.value_of_each(len(graph.variable_names)) < 0
    part_of = parts_without(graph, ~free)
    check_known(graph, part_of, free, [], what="the best assignment")
    if engine == "ground":
        reduced = do_nothing(graph, observation, free, ())
    else:
        reduced = reduce(graph, observation, free, (), maximise=True)
    return PreparedBest(graph, observation, plan_search(reduced, limit))
