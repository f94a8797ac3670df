"""A most probable assignment: the same steps and eliminations, with maxima in place of sums."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Ints, frozen
from lifagu.basics.choices import EXACT_ENGINES
from lifagu.basics.frozen import Frozen
from lifagu.basics.html import Shown
from lifagu.basics.progress import Tell
from lifagu.basics.words import counted
from lifagu.errors import ModelError, NoAnswerError, Remedy, TooLargeError
from lifagu.graph.evidence import Evidence, EvidenceLike
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.parts import parts_without
from lifagu.inference import maximisation
from lifagu.inference.connected_part import Residual
from lifagu.inference.lifted.assignment import CellValues, GroundValues
from lifagu.inference.lifted.engine import reduce
from lifagu.inference.lifted.reduced import Reduced
from lifagu.inference.lifted.residual import residual
from lifagu.inference.memory_limit import memory_limit_of
from lifagu.inference.parts_from_lists import Untouched, listed_parts
from lifagu.inference.plan import Plan, TooDearError
from lifagu.inference.prepared import Staying
from lifagu.inference.price import (
    BEST_ASSIGNMENT,
    NOT_SHARED,
    costs_less,
    hardly_shares,
    worth_planning,
)
from lifagu.inference.question_checks import check_known, why_zero


@dataclass(frozen=True, eq=False, repr=False)
class Best(Frozen, Shown):
    """A most probable assignment of a graph.

    Attributes
    ----------
    graph : FactorGraph
        What it is about.
    log_weight : float
        Natural log of the product of all potentials at the assignment.
    values : array
        The canonical value of each variable.
    plan : str
        What was computed, in words.

    Examples
    --------
    >>> import lifagu
    >>> builder = lifagu.FactorGraph.build().variables(["A", "B"])
    >>> graph = builder.factor("f", ["A", "B"], [[1, 2], [3, 4]]).graph()
    >>> best = lifagu.map_assignment(graph, evidence={"A": "false"})
    >>> best.assignment, round(best.log_weight, 6)
    ({'A': 'false', 'B': 'true'}, 0.693147)
    """

    graph: FactorGraph
    log_weight: float
    values: Ints
    plan: str

    def __repr__(self) -> str:
        count = counted(len(self.values), "variable")
        return f"<Best: {count}, log weight {self.log_weight:.6g}>"

    @property
    def assignment(self) -> dict[str, str]:
        """Label of each variable, by name."""
        graph, canonical = self.graph, self.graph.ranges.canonical
        own = zip(
            graph.variable_names, graph.variable_range.tolist(), self.values.tolist(), strict=True
        )
        return {name: canonical[number][value] for name, number, value in own}


@dataclass(frozen=True, eq=False, repr=False)
class Search(Staying):
    """The search after the lifted steps: what is left, and a plan for each part of it."""

    reduced: Reduced | Untouched
    rest: Residual
    plans: tuple[Plan, ...]
    why: str = ""

    @property
    def total(self) -> int:
        """Numbers to be computed for what the lifted steps have left."""
        return sum(plan.total for plan in self.plans)

    def __str__(self) -> str:
        dearest = sorted(self.plans, key=lambda plan: -plan.total)[:3]
        engine = "lifted" if self.reduced.steps else "ground"
        lines = [f"{engine} engine, because {self.why}"] if self.why else []
        lines += [str(self.reduced)] if self.reduced.steps else []
        lines += map(str, dearest)
        if more := len(self.plans) - len(dearest):
            lines.append(f"and {counted(more, 'smaller part')}")
        return "\n".join(lines)

    def run(
        self, evidence: Evidence, progress: Tell | None
    ) -> tuple[float, GroundValues | CellValues]:
        """The log weight of a best assignment, and its values, traced back."""
        values = np.full(len(self.rest.part_of), -1, dtype=np.int64)
        values[evidence.variables] = evidence.values
        logs = [self.rest.log_constant]
        for done, (part, plan) in enumerate(zip(self.rest.parts, self.plans, strict=True), 1):
            log_weight, chosen = maximisation.map_part(part, plan, lambda _: None)
            logs.append(log_weight)
            values[list(chosen)] = list(chosen.values())
            if progress:
                progress(done, len(self.plans))
        if -math.inf in logs:
            raise NoAnswerError(why_zero(evidence))
        if isinstance(self.reduced, Untouched):
            return math.fsum(logs), GroundValues(values)
        return math.fsum(logs), self.reduced.trace_back(values)


def plan_search(reduced: Reduced, limit: int) -> Search:
    """Plan the search in what the lifted steps have left; what does not fit is refused."""
    return _search(reduced, residual(reduced.problem), reduced.problem.variables.name, limit)


def _search(
    reduced: Reduced | Untouched,
    rest: Residual,
    names: Callable[[int], str],
    limit: int,
    most: float = math.inf,
) -> Search:
    """A plan for each part; what does not fit is refused.

    More than `most` entries are a `TooDearError`.
    """
    plans = tuple([maximisation.plan(part, names, most) for part in rest.parts])
    for plan in plans:
        if obstacle := plan.obstacle(limit):
            raise TooLargeError(f"the best assignment {obstacle}", remedy=Remedy.ASK_FOR_LESS)
    return Search(reduced, rest, plans)


@dataclass(frozen=True, eq=False, repr=False)
class PreparedBest(Shown):
    """The search for a best assignment, planned and ready to run; `str` shows the plan."""

    graph: FactorGraph
    evidence: Evidence
    search: Search
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join([str(self.search), *self.notes])

    def run(self, progress: Tell | None = None) -> Best:
        """Find it; progress(done, total) is called now and then."""
        log_weight, values = self.search.run(self.evidence, progress)
        every = np.arange(len(self.graph.variable_names))
        return Best(self.graph, log_weight, frozen(values.of(every)), str(self))


def prepare_best(
    graph: FactorGraph,
    evidence: EvidenceLike = None,
    *,
    engine: str = "auto",
    memory_limit: int | None = None,
) -> PreparedBest:
    """Plan the search for a most probable assignment; what does not fit is refused."""
    if not isinstance(engine, str) or engine not in EXACT_ENGINES:
        raise ModelError(
            f"the best assignment is found by the engines {', '.join(EXACT_ENGINES)}, "
            f"not '{engine}'"
        )
    limit = memory_limit_of(memory_limit)
    observation = graph.evidence(evidence)
    free = observation.value_of_each(len(graph.variable_names)) < 0
    part_of = parts_without(graph, ~free)
    check_known(graph, part_of, free, [], what="the best assignment")
    search = None
    if engine == "ground":
        search = _on_the_ground(graph, observation, limit)
    elif engine == "auto":
        search = _priced(graph, observation, free, limit)
    if search is None:
        search = plan_search(reduce(graph, observation, free, (), maximise=True), limit)
    return PreparedBest(graph, observation, search)


def _on_the_ground(
    graph: FactorGraph, evidence: Evidence, limit: int, most: float = math.inf
) -> Search:
    names, (rest, _) = graph.variable_names, listed_parts(graph, evidence, None, None)
    return _search(Untouched(names), rest, names.__getitem__, limit, most)


def _priced(
    graph: FactorGraph, evidence: Evidence, free: NDArray[np.bool_], limit: int
) -> Search | None:
    """The search on the ground where that is expected to cost less than lifted steps, else None."""
    if hardly_shares(graph):
        return replace(_on_the_ground(graph, evidence, limit), why=NOT_SHARED)
    most = worth_planning(graph, evidence, BEST_ASSIGNMENT, lambda: int(free.sum()))
    if not most:
        return None
    try:
        search = _on_the_ground(graph, evidence, limit, most)
    except (TooDearError, TooLargeError):
        return None
    return replace(search, why=costs_less(search.total))
