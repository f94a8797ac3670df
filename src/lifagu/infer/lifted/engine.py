"""The lifted engine: eliminate what is cheap and alike, count what is interchangeable, leave the rest to others.

Every step is exact on any graph, whatever it looks like; symmetry only decides how many places a step serves at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lifagu.arrays import Ints
from lifagu.evidence import Evidence
from lifagu.infer.barren import TOLERANCE
from lifagu.infer.lifted import steps
from lifagu.infer.lifted.algebra import log_sum
from lifagu.infer.lifted.cells import NotLiftedError
from lifagu.infer.lifted.expand import expand
from lifagu.infer.lifted.join import join
from lifagu.infer.lifted.matrices import Matrices
from lifagu.infer.lifted.pivot import pivot
from lifagu.infer.lifted.rows import Twins
from lifagu.infer.lifted.state import State, start
from lifagu.infer.lifted.step_kinds import Step
from lifagu.infer.lifted.unary import count_unary
from lifagu.infer.peel import peel_rows
from lifagu.model import FactorGraph
from lifagu.views import counted

SHARED = 2.0  # rows per table below which nothing is shared and the ground engine is better
ALWAYS = 4.0  # log2 of the entries of a new table that is small enough in any case
DEAR = 12.0  # log2 of the entries of a new table from which on the ground engine plans better


@dataclass(frozen=True, eq=False)
class Reduced:
    """A problem after all that could be done for many places at once: what is left, and how it got there."""

    state: State
    steps: tuple[Step, ...]
    dropped: int = 0  # variables that cannot matter for what is asked

    def __str__(self) -> str:
        lines = [f"  drop {counted(self.dropped, 'variable')} that cannot matter"] if self.dropped else []
        return "\n".join([*lines, *(f"  {text}" for step in self.steps if (text := str(step)))])


def reduce(
    graph: FactorGraph,
    evidence: Evidence,
    included: NDArray[np.bool_],
    keep: Iterable[int],
    *,
    maximise: bool = False,
    drop: bool = False,
) -> Reduced:
    """Shrink a graph's problem by steps that serve many places at once; kept variables stay.

    maximise: steps keep the best weight over what they take away instead of the sum. drop: variables that cannot
    matter may be left out without a record, as nobody asks about them.
    """
    state = start(graph, evidence, included, keep)
    state.maximise = maximise
    dropped = _drop(state) if drop else 0
    done = shrink(state, walks=not (drop or maximise))
    return Reduced(state, tuple(done), dropped)


def reduce_cells(state: State, *, walks: bool) -> Reduced:
    """Shrink a problem over cells; what is left at the end is listed and shrunk further."""
    done = shrink(state, walks)
    if state.ties:
        raise NotLiftedError(f"what {state.name(next(iter(state.ties)))} counts is tied to single individuals")
    done.append(expand(state))
    return Reduced(state, (*done, *shrink(state, walks)))


def shrink(state: State, walks: bool) -> list[Step]:
    """All steps that pay, in turn. walks: marginals are wanted later."""
    done: list[Step] = []
    while state.open.any() and state.rows.count():
        if state.rows.count() < SHARED * sum(len(np.unique(labels)) for labels in state.rows.labels.values()):
            break
        step = _eliminate_cheap(state, ALWAYS) or _count(state, done, walks)
        if step is None and (several := pivot(state) or _join_and_count(state)):
            done += several
        elif step := step or _eliminate_cheapest(state):
            done.append(step)
        else:
            break
        if merged := steps.merge(state):
            done.append(merged)
    return done


def _drop(state: State) -> int:
    """Leave out variables that sum out to a constant, and say how many."""

    def constant(label: int, slot: int) -> float | None:
        sums = log_sum(state.pool[label], axis=slot)
        highest, lowest = sums.max(), sums.min()
        return float(highest) if lowest > -np.inf and highest - lowest <= TOLERANCE else None

    rows = state.rows
    assert isinstance(rows, Matrices)
    arities = rows.arities()
    peeled = peel_rows([(rows.matrix[each], rows.labels[each]) for each in arities], ~state.open, constant)
    gone = {arity: np.flatnonzero(dropped) for arity, dropped in zip(arities, peeled.dropped, strict=True)}
    state.rows, _ = state.rows.without(gone)
    state.retire(np.flatnonzero(peeled.gone))
    state.pool.scales.append(peeled.log_constant)
    return int(peeled.gone.sum())


def do_nothing(graph: FactorGraph, evidence: Evidence, included: NDArray[np.bool_], keep: Iterable[int]) -> Reduced:
    """The problem as it is, for engines that want all of it."""
    return Reduced(start(graph, evidence, included, keep), ())


def _eliminate_cheap(state: State, always: float) -> Step | None:
    """Eliminate all variables whose new table is no larger than those it is made of, or small."""
    costs = state.rows.elimination_costs(state.open, state.log_sizes)
    cheap = costs.new <= np.maximum(costs.old, always)
    return _eliminate(state, costs.variables[cheap], costs.new[cheap])


def _eliminate_cheapest(state: State) -> Step | None:
    """Eliminate the variables with the smallest new table, unless even that is dear."""
    costs = state.rows.elimination_costs(state.open, state.log_sizes)
    if not len(costs.new) or costs.new.min() > DEAR:
        return None
    cheapest = costs.new <= costs.new.min()
    return _eliminate(state, costs.variables[cheapest], costs.new[cheapest])


def _eliminate(state: State, variables: Ints, new: NDArray[np.float64]) -> Step | None:
    if not len(variables):
        return None
    return steps.eliminate(state, state.rows.independent(variables, new, len(state.sizes)))


def _count(state: State, done: list[Step], walks: bool) -> Step | None:
    """Count the first class of interchangeable variables that works out, the ones with fewest histograms first."""
    if merged := steps.merge(state):
        done.append(merged)
    for variable, tied in state.ties.items():
        if step := steps.count(state, tied, into=variable):
            del state.ties[variable]
            state.open[variable] = True
            return step
    if unary := count_unary(state, walks):
        return unary
    classes = state.rows.twins(state.open, state.sizes, state.pool.slot_classes)
    classes.sort(key=lambda twins: (_power(twins, state), int(twins.variables[0])))
    for twins in classes:
        before, order = state.rows, steps.bring_forward(state, twins)
        if step := steps.count(state, twins):
            done.append(order)
            return step
        state.rows = before
    return None


def _power(twins: Twins, state: State) -> int:
    return int(twins.count ** (int(state.sizes[twins.variables[0]]) - 1))


def _join_and_count(state: State) -> list[Step] | None:
    """Join variables that belong together pairwise, if the pairs can then be counted; else the state is as it was."""
    restore = state.save()
    for first, second in state.rows.matchings(state.open):
        joined = join(state, first, second)
        if joined is not None:
            done: list[Step] = [joined]
            if merged := steps.merge(state):
                done.append(merged)
            twins = Twins(joined.joined, joined.before.members(joined.first), 0)
            done.append(steps.bring_forward(state, twins))
            if counted_step := steps.count(state, twins):
                return [*done, counted_step]
        restore()
    return None
