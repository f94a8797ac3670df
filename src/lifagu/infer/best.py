"""A most probable assignment: the same lifted steps and ground elimination, with maxima in place of sums."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lifagu.arrays import Ints
from lifagu.errors import ModelError, NoAnswerError, TooLargeError
from lifagu.evidence import EvidenceLike
from lifagu.infer import maximise
from lifagu.infer.asked import check_known, why_zero
from lifagu.infer.lifted import do_nothing, reduce, residual, trace_back
from lifagu.infer.plan import default_memory_limit
from lifagu.model import FactorGraph
from lifagu.parts import parts_without

ENGINES = ("auto", "lifted", "ground")


@dataclass(frozen=True, eq=False)
class Best:
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


def _name(graph: FactorGraph, variable: int) -> str:
    count = len(graph.variable_names)
    return graph.variable_names[variable] if variable < count else f"histogram {variable - count}"


def best_assignment(
    graph: FactorGraph,
    evidence: EvidenceLike = None,
    *,
    engine: str = "auto",
    memory_limit: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Best:
    """A most probable assignment that agrees with the evidence; of equally good ones always the same."""
    if engine not in ENGINES:
        raise ModelError(f"the best assignment is found by the engines {', '.join(ENGINES)}, not '{engine}'")
    limit = default_memory_limit() if memory_limit is None else memory_limit
    observation = graph.evidence(evidence)
    values = observation.value_of_each(len(graph.variable_names))
    part_of = parts_without(graph, values >= 0)
    check_known(graph, part_of, np.ones(len(values), dtype=np.bool_), [], what="the best assignment")
    if engine == "ground":
        reduced = do_nothing(graph, observation, values < 0, ())
    else:
        reduced = reduce(graph, observation, values < 0, (), maximise=True)
    rest = residual(reduced.state)
    values = np.concatenate((values, np.full(len(reduced.state.sizes) - len(values), -1)))
    logs, shown = [rest.log_constant], [str(reduced)] if reduced.steps else []
    for done, part in enumerate(rest.parts, 1):
        plan = maximise.plan(part, lambda variable: _name(graph, variable))
        shown += [str(plan)] if done <= 3 else []
        if obstacle := plan.obstacle(limit):
            raise TooLargeError(f"the best assignment {obstacle}")
        log_weight, chosen = maximise.map_part(part, plan, lambda _: None)
        logs.append(log_weight)
        values[list(chosen)] = list(chosen.values())
        if progress:
            progress(done, len(rest.parts))
    if -math.inf in logs:
        raise NoAnswerError(why_zero(observation))
    trace_back(reduced.steps, values)
    return Best(graph, math.fsum(logs), values[: len(graph.variable_names)], "\n".join(shown))
