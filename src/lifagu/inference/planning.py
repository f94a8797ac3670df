"""Questions planned: by the ground engine where that is cheap, or by lifted steps.

The lifted engine does what can be done for many places at once; what it leaves falls into connected
parts, which are planned one at a time, those equal up to renaming once. The ground engine takes the
graph's own parts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.cached import cached_property
from lifagu.basics.choices import EXACT_ENGINES
from lifagu.errors import ModelError, TooLargeError
from lifagu.graph.evidence import EvidenceLike
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.parts import parts_without
from lifagu.inference.connected_part import Residual
from lifagu.inference.memory_limit import PlanTooLargeError, memory_limit_of
from lifagu.inference.parts_from_lists import Untouched, count_variables, listed_parts
from lifagu.inference.plan import TooDearError
from lifagu.inference.planning_by_part import plan_parts, plan_rest
from lifagu.inference.prepared import Prepared, Questions
from lifagu.inference.price import (
    ALL_MARGINALS,
    LISTED,
    NOT_SHARED,
    ONE_ANSWER,
    costs_less,
    hardly_shares,
    worth_planning,
)
from lifagu.inference.question_checks import (
    Question,
    TooLarge,
    check_known,
    kept_for,
    known_variables,
    question_of,
)

if TYPE_CHECKING:
    from lifagu.inference.over_islands import OverIslands

MANY_FACTORS = 50_000  # from which on islands are looked for
DEAR = 2**22  # entries in all from which on another plan is looked for


def prepare(
    graph: FactorGraph,
    questions: Sequence[Sequence[str]],
    evidence: EvidenceLike = None,
    *,
    engine: str = "auto",
    memory_limit: int | None = None,
) -> Prepared | OverIslands:
    """Plan the answers to several questions (tuples of names); none at all asks for log Z alone.

    Refuses before anything large is computed: unknown factors in a queried part, tables that would
    not fit.
    """
    limit = memory_limit_of(memory_limit)
    asked = [question_of(graph, names, limit) for names in questions]
    return _inquiry(graph, asked, evidence, engine, limit, everything=False).planned()


def plan_marginals(
    graph: FactorGraph, evidence: EvidenceLike, *, engine: str, limit: int
) -> tuple[Prepared | OverIslands, tuple[TooLarge, ...]]:
    """Plan all single marginals; parts that do not fit are left out, unless that would be all."""
    inquiry = _inquiry(graph, (), evidence, engine, limit, everything=True)
    left: list[TooLarge] = []
    while True:
        try:
            return inquiry.planned(), tuple(left)
        except PlanTooLargeError as error:
            inquiry, more = _without(inquiry, error)
            left += more


def _without(inquiry: Inquiry, error: PlanTooLargeError) -> tuple[Inquiry, list[TooLarge]]:
    """The inquiry without the parts that do not fit, and these; the error, if nothing is left."""
    graph = inquiry.graph
    observed = inquiry.questions.evidence.value_of_each(len(graph.variable_names)) >= 0
    part_of = parts_without(graph, observed)
    included = part_of >= 0 if inquiry.included is None else inquiry.included & (part_of >= 0)
    estimates = {
        int(part_of[part[0]]): estimate
        for part, estimate in error.parts
        if part and isinstance(part[0], int)
    }
    fits = included & ~np.isin(part_of, list(estimates))
    if not fits.any() or len(estimates) == 0:
        raise error
    names = graph.variable_names
    gone = np.flatnonzero(included & ~fits)
    gone = gone[np.argsort(part_of[gone], kind="stable")]
    numbers, starts = np.unique(part_of[gone], return_index=True)
    variables = dict(zip(numbers.tolist(), np.split(gone, starts[1:]), strict=True))
    left = [
        TooLarge(tuple(names.of_nodes(variables[number])), estimate, error.remedy)
        for number, estimate in estimates.items()
    ]
    return Inquiry(graph, replace(inquiry.questions, whole=False), fits), left


def _inquiry(
    graph: FactorGraph,
    asked: Sequence[Question],
    evidence: EvidenceLike,
    engine: str,
    limit: int,
    everything: bool,
) -> Inquiry:
    """Questions checked: the engine exists, and nothing asked for is connected to an unknown."""
    if not isinstance(engine, str) or engine not in EXACT_ENGINES:
        raise ModelError(f"there is no engine '{engine}'; choose one of {', '.join(EXACT_ENGINES)}")
    seen = graph.evidence(evidence)
    included = None
    if len(graph.unknown):
        part_of = parts_without(graph, seen.value_of_each(len(graph.variable_names)) >= 0)
        included = known_variables(graph, part_of)
        if not everything:
            check_known(graph, part_of, included, asked)
    names, whole = graph.variable_names, included is None
    titles = tuple([tuple([names[variable] for variable in question]) for question in asked])
    posed = Questions(graph, seen, engine, tuple(asked), titles, limit, everything, whole)
    return Inquiry(graph, posed, included)


@dataclass(frozen=True, eq=False)
class Inquiry:
    """Questions to a graph that have answers.

    included[v]: whether v takes part, which those connected to unknown factors do not, nor those
    that do not fit; None if all do.
    """

    graph: FactorGraph
    questions: Questions
    included: NDArray[np.bool_] | None

    def planned(self) -> Prepared | OverIslands:
        """A plan by the engine that was chosen; `auto` compares what two of them cost."""
        if self.questions.engine == "auto":
            return self.priced()
        if self.questions.engine == "ground":
            return self.ground()
        return self.lifted() if self.questions.engine == "lifted" else self.attempt(walks=False)

    @cached_property
    def parts(self) -> tuple[Residual, int]:
        """The graph's own parts as far as they matter, and the number of variables that do not."""
        asked = {variable for question in self.questions.asked for variable in question}
        wanted = None if self.questions.everything else asked
        return listed_parts(self.graph, self.questions.evidence, wanted, self.included)

    def ground(self, why: str = "", most: float = math.inf) -> Prepared:
        """The graph's own parts, planned one by one."""
        rest, dropped = self.parts
        untouched = Untouched(self.graph.variable_names, dropped)
        return plan_parts(self.questions, untouched, rest, why=why, most=most)

    def priced(self) -> Prepared | OverIslands:
        """Ground or lifted, whichever should cost less; a ground plan is only made where quick."""
        if (few := self.over_islands()) is not None:
            return few
        if hardly_shares(self.graph):
            return self.ground(NOT_SHARED)
        posed = self.questions
        effort = ALL_MARGINALS if posed.everything or len(posed.asked) > 1 else ONE_ANSWER
        most = worth_planning(
            self.graph, posed.evidence, effort, lambda: count_variables(self.parts[0])
        )
        try:
            found = self.ground(most=most) if most else None
        except (TooDearError, TooLargeError):
            found = None
        if found is None:
            return self._lifted_or_ground()
        return replace(found, why=costs_less(found.total))

    def over_islands(self) -> OverIslands | None:
        """A plan on the few islands of a large graph that stand for all others, if there are."""
        if self.included is not None or len(self.graph.factor_names) < MANY_FACTORS:
            return None
        from lifagu.inference.over_islands import over_islands

        return over_islands(self.graph, self.questions)

    def _lifted_or_ground(self) -> Prepared:
        """Lifted steps; where they leave what is dear or too large, a ground plan if cheaper."""
        listed = len(self.graph.factor_names) <= LISTED
        try:
            lifted = replace(self.lifted(), why="much looks alike" if listed else "")
        except TooLargeError as error:
            if not listed:
                raise
            try:
                return self.ground("what lifted steps leave does not fit")
            except TooLargeError as other:
                raise other if self.questions.everything else error from None
        if lifted.total < DEAR or not listed:
            return lifted
        try:
            return self.ground("what lifted steps leave would cost more", most=lifted.total)
        except (TooDearError, TooLargeError):
            return lifted

    def lifted(self) -> Prepared:
        """Lifted steps, then what they leave.

        One variable that is asked for is kept; where that is dear, perhaps probabilities walk back
        to it instead: what is kept is no longer like others, which can be in the way of counting
        them.
        """
        asked = self.questions.asked
        if len(asked) != 1 or len(asked[0]) > 1:
            return self.attempt(self.questions.everything or len(set(asked)) > 1)
        try:
            kept = self.attempt(walks=False)
            if kept.total < DEAR:
                return kept
        except TooLargeError as error:
            try:
                return self.attempt(walks=True)
            except TooLargeError:
                raise error from None
        try:
            return min(kept, self.attempt(walks=True), key=lambda prepared: prepared.total)
        except TooLargeError:
            return kept

    def attempt(self, walks: bool) -> Prepared:
        """Lifted steps that keep what is asked jointly or does not walk."""
        from lifagu.inference.lifted.engine import reduce

        graph, evidence = self.graph, self.questions.evidence
        free = evidence.value_of_each(len(graph.variable_names)) < 0
        if self.included is not None:
            free &= self.included
        keep = kept_for(self.questions.asked, walks, evidence)
        reduced = reduce(graph, evidence, free, keep, drop=not walks)
        return plan_rest(self.questions, reduced, walks)
