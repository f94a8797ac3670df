"""Questions to a case: which model answers them, in memory or by SQL, and what comes back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.basics.choices import LIFTED_ENGINES
from lifagu.errors import ModelError, NoAnswerError, Remedy
from lifagu.graph.evidence import EvidenceLike
from lifagu.graph.factor_graph import FactorGraph
from lifagu.inference.prepared import Asked, Planned, Result
from lifagu.questions import in_memory
from lifagu.questions.place import HERE
from lifagu.questions.planning import prepare, prepare_map, prepare_marginals
from lifagu.questions.statement import Statement
from lifagu.questions.where_to_work import choose, with_reason
from lifagu.relational.parfactor_graph import ParfactorGraph

if TYPE_CHECKING:
    from lifagu.filling.result import Transfer
    from lifagu.inference.marginals import AllMarginals
    from lifagu.inference.most_probable import Best
    from lifagu.inference.relational.marginals import ClassMarginals
    from lifagu.inference.relational.most_probable import RelationalBest
    from lifagu.likeness.tolerance_bound import Merging
    from lifagu.questions.belief_propagation import BeliefMarginals

    Marginals = AllMarginals | ClassMarginals | BeliefMarginals


def plan(
    case: Statement, questions: Sequence[tuple[str, ...]], engine: str, bp: Mapping[str, Any]
) -> Asked:
    """Plan the answers to questions, none for log Z alone."""
    asked = [name for question in questions for name in question]
    case = with_guests_that_matter(case, asked)
    where = choose(case, "ask" if questions else "log_partition", engine)
    if where.on != "memory":
        from lifagu.questions.by_sql.asking import plan_by_sql

        with with_reason(where):
            return plan_by_sql(questions=questions, **by_sql(case, where.on))
    _refuse_relations(case, asked)
    model, evidence = subject(case, engine)
    refuse_conditions(case, asked, evidence)
    way = "best" if isinstance(model, FactorGraph | ParfactorGraph) else case.way
    planned = prepare(
        model, questions, evidence, combine=way, engine=engine, memory_limit=case.room, bp=bp
    )
    if case.filling is None or case.filling.interval is None:
        return planned
    from lifagu.questions.intervals import WithIntervals

    if engine == "bp" or not questions:
        raise ModelError("an interval is about exact answers about variables; leave it out")
    share, seed = case.filling.interval, case.filling.seed
    return WithIntervals(planned, model, in_memory.bound(case), share, seed, case.room)


def _refuse_relations(case: Statement, names: Iterable[str]) -> None:
    """A whole relation is no variable, and has a verb of its own."""
    for name in names:
        if case.is_relation(name):
            what = f"'{name}' is a whole relation, not one variable"
            raise ModelError(what, remedy=Remedy.ASK_ALL)


def with_guests_that_matter(case: Statement, asked: Sequence[str]) -> Statement:
    """The case without those admitted who are neither asked about nor observed: they move nobody.

    Others' tables do not depend on them either.
    """
    if not case.admitted:
        return case
    guests = in_memory.guests_of(case)
    variables = guests.graph.variable_names.find_each(asked)
    return in_memory.with_guests(case, np.union1d(guests.owner_of(variables), _observed(case)))


def _observed(case: Statement) -> Ints:
    """Those admitted of whom something is observed, by number; -1 if others are observed."""
    seen = in_memory.bound(case).bound
    return in_memory.guests_of(case).owner_of(seen.about)


def with_known_guests(case: Statement) -> Statement:
    """The case without those admitted of whom nothing is observed and some table stays unknown."""
    if not case.admitted or case.filling is None:
        return case
    guests, moved = in_memory.guests_of(case), in_memory.transferred(case)
    left = np.setdiff1d(moved.unknown, moved.transferred)
    blocked = np.searchsorted(guests.first_factor, left, side="right") - 1
    gone = np.setdiff1d(blocked, _observed(case))
    return in_memory.with_guests(case, np.setdiff1d(np.arange(len(guests)), gone))


def refuse_conditions(case: Statement, names: Iterable[str], evidence: EvidenceLike) -> None:
    """Conditions of learned tables that nobody observed are not predicted."""
    loaded = case.opened.loaded(case.place)
    if loaded.unlearned is not None:
        from lifagu.questions import conditions

        conditions.refuse_conditions(loaded, names, evidence)


def by_sql(case: Statement, on: str) -> dict[str, Any]:
    """What every verb by SQL is told about a case, for work on an engine."""
    return {
        "folder": case.opened.path,
        "evidence": case.beside_own,
        "filling": case.filling,
        "place": replace(case.place, on=on),
    }


def subject(
    case: Statement, engine: str, classes: bool = False
) -> tuple[FactorGraph | ParfactorGraph | Transfer, EvidenceLike]:
    """What is asked, and the evidence: the model as it is where nothing is filled or merged.

    classes: a relational model that was filled is lifted again, so that it answers by class as
    well.
    """
    model, filling = case.model, case.filling
    as_it_is = filling is None or (in_memory.is_whole(case) and engine in LIFTED_ENGINES)
    if isinstance(model, ParfactorGraph) and not (case.added or case.admitted) and as_it_is:
        return model, model.layered(in_memory.layers(case))
    if case.admitted and filling is None:
        return in_memory.without_side_effects(case), in_memory.bound(case)
    seen = in_memory.bound(case)
    if not in_memory.fills(case):
        return in_memory.grounded(case), seen
    moved = in_memory.transferred(case)
    lifts = classes and isinstance(model, ParfactorGraph) and engine in LIFTED_ENGINES
    if lifts and moved.way == "best" and moved.equality == "exactly":
        return in_memory.lifted(case), dict(seen)
    return moved, seen


def plan_marginals(case: Statement, engine: str, bp: Mapping[str, Any]) -> Planned[Marginals]:
    """Plan all marginals."""
    choose(case, "marginals", engine)
    case = with_known_guests(case)
    if engine == "bp":
        from lifagu.questions.belief_propagation import PlannedBeliefs

        graph = in_memory.grounded(case)
        return PlannedBeliefs(
            graph, plan(case, [(name,) for name in graph.variable_names], engine, bp)
        )
    model, evidence = subject(case, engine, classes=True)
    planned: Planned[Marginals] = _plan_one(case, prepare_marginals, model, evidence, engine)
    return planned


def plan_best(case: Statement, engine: str) -> Planned[Best | RelationalBest]:
    """Plan a most probable assignment."""
    choose(case, "most_probable", engine)
    case = with_known_guests(case)
    planned: Planned[Best | RelationalBest] = _plan_one(
        case, prepare_map, *subject(case, engine), engine
    )
    return planned


def _plan_one(
    case: Statement, prepare: Any, model: Any, evidence: EvidenceLike, engine: str
) -> Any:
    """A plan on one model; where nothing is unknown, there is nothing to combine."""
    way = "best" if isinstance(model, FactorGraph | ParfactorGraph) else case.way
    return prepare(model, evidence, combine=way, engine=engine, memory_limit=case.room)


def merging(case: Statement, engine: str) -> Merging | None:
    """How tables were compared, and how far that can move exact answers on one model."""
    filling = case.filling
    if (
        filling is None
        or not (filling.merges_tables or filling.up_to_scale)
        or case.place.on not in HERE
    ):
        return None
    model, evidence = subject(case, engine)
    if isinstance(model, FactorGraph | ParfactorGraph) or model.equality == "exactly":
        return None
    from lifagu.likeness.tolerance_bound import Merging

    bounded = model.way == "best" and engine != "bp"
    return Merging(model.equality, model.bound(evidence) if bounded else None)


def only_log_partition(result: Result) -> float:
    """Log Z, which must be there."""
    if result.log_partition is None:
        raise NoAnswerError("log Z was left out")
    return result.log_partition
