"""The lifted engine: eliminate what is cheap and alike, count what is interchangeable.

The rest is left to others. Every step is exact on any graph, whatever it looks like; symmetry only
decides how many places a step serves at once. A model over cells goes through the same steps twice:
over cells, and what is left of it listed row by row.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints, distinct
from lifagu.graph.evidence import Evidence
from lifagu.graph.factor_graph import FactorGraph
from lifagu.inference.barren import TOLERANCE, peel_rows
from lifagu.inference.lifted.cells import Pattern
from lifagu.inference.lifted.chain import chain
from lifagu.inference.lifted.counting import MOST_ENTRIES, count, count_cheapest
from lifagu.inference.lifted.elimination import eliminate
from lifagu.inference.lifted.expansion import expand
from lifagu.inference.lifted.fifty_digits import weighed
from lifagu.inference.lifted.joining import join
from lifagu.inference.lifted.logs import log_sum
from lifagu.inference.lifted.merging import merge
from lifagu.inference.lifted.pivot import pivot
from lifagu.inference.lifted.problem import Problem, start
from lifagu.inference.lifted.reduced import LiftedStep, Reduced
from lifagu.inference.lifted.rows import Booleans, New
from lifagu.inference.lifted.weighted_counting import weighted_count

SHARED = 2.0  # rows per table below which nothing is shared and the ground engine is better
ALWAYS = 4.0  # log2 of the entries of a new table that is small enough in any case
DEAR = 14.0  # log2 of the entries of a new table from which on the ground engine plans better
SMALL = 6.0  # the same of a table that costs less than looking for something to count …
MODEST = 10.0  # … and of one that costs less than a plan for its part
EASY = 26.0  # log2 of the states of a part that the ground engine may take as it is …
QUICK = 20.0  # … and of one for which that costs less than joining variables
SMALL_GROUP = 32  # variables that hang together apart from a few that everybody knows
MANY = 2000  # rows that are looked at together even if they share no tables
MANY_APART = 64  # variables to be eliminated for which that pays, …
PAYS = 2  # … and how many for each shape
MOST_JOINED = 4  # variables of one individual that become one
MOST_PAIRS = 64  # values of two variables that become one
FEW_ENTRIES = 2**16  # of tables that are made to see whether joining pays
MOST_TRIED = 8  # joins that are tried before what is left is left to others
FEW_PATTERNS = 256  # over cells; fewer are looked at again and again at no great cost
ROWS_PER_PATTERN = 256  # that are listed in the time that looking at one pattern takes
# span of a log table that double precision would spoil, so that the ground engine must not see it
HUGE = 1e6

Done = tuple[Problem[New], list[LiftedStep[New]]]  # a smaller problem, and how it got there


# ---- doors


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

    maximise: steps keep the best weight over what they take away instead of the sum. drop:
    variables that cannot matter may be left out without a record, as nobody asks about them.
    """
    problem = start(graph, evidence, included, keep, maximise)
    dropped = 0
    if drop:
        problem, dropped = _drop(problem)
    return reduce_listed(problem, dropped)


def reduce_listed(problem: Problem[Ints], dropped: int = 0) -> Reduced:
    """Shrink a problem whose rows are listed."""
    problem, done = shrink(problem)
    return Reduced(problem, tuple(done), dropped=dropped)


def reduce_cells(problem: Problem[Pattern]) -> Reduced:
    """Shrink a problem over cells; what is left at the end is listed and shrunk further."""
    over_cells: list[LiftedStep[Pattern]] = []
    if not _cheap_to_list(problem):
        problem, over_cells = shrink(problem)
    listed_problem, expanded = expand(problem)
    listed_problem, listed = shrink(listed_problem)
    if listed_problem.ties:
        listed_problem, chained = chain(listed_problem)
        listed_problem, more = shrink(listed_problem)
        listed = [*listed, chained, *more]
    return Reduced(listed_problem, tuple(listed), expanded, tuple(over_cells))


def _cheap_to_list(problem: Problem[Pattern]) -> bool:
    """Whether there are so many patterns that listing rows costs no more than looking again."""
    patterns = sum(map(len, problem.rows.labels.values()))
    return patterns > FEW_PATTERNS and problem.rows.count() <= ROWS_PER_PATTERN * patterns


# ---- which step comes next


def shrink(problem: Problem[New]) -> Done[New]:
    """All steps that pay, in turn; after each of them rows over the same variables are merged."""
    done: list[LiftedStep[New]] = []
    if not (problem.ties or _alike(problem)):
        return problem, done
    cheap = _goes_on(problem) and _shares(problem)
    found: Done[New] | None = (_eliminate_cheap(problem) if cheap else None) or (problem, [])
    while found is not None:
        problem, steps = _also_merged(found)
        done += steps
        found = _next(problem)
    return problem, done


def _next(problem: Problem[New]) -> Done[New] | None:
    """The next steps for merged rows; None if what is left is better left to others."""
    if (tied := _count_ties(problem)) is not None:
        return tied
    if not _goes_on(problem):
        return None
    if not _shares(problem):
        return _eliminate_apart(problem)
    return (
        _eliminate_cheap(problem)
        or _eliminate_groups(problem, SMALL)
        or _one(weighted_count(problem))
        or _count(problem)
        or _pivot(problem)
        or _join_and_count(problem)
        or _eliminate_groups(problem, MODEST)
        or _eliminate_groups(problem, DEAR, hard=True)
        or _eliminate_cheapest(problem)
    )


def _count_ties(problem: Problem[New]) -> Done[New] | None:
    """Count what is tied to a histogram, unless told apart one by one or counted twice."""
    often = Counter(each for tie in problem.ties for each in tie.classes.variables.tolist())
    aside = {each for deferred in problem.deferred for each, _ in deferred.arguments}
    for tie in problem.ties:
        members = set(tie.classes.variables.tolist())
        if members & (aside | problem.kept) or max(often[each] for each in members) > 1:
            continue
        found = _one(count(problem, tie.classes, tie.variables)) or _one(
            weighted_count(problem, tie.classes, tie.variables)
        )
        if found is not None:
            return found
    return None


def _one(found: tuple[Problem[New], LiftedStep[New]] | None) -> Done[New] | None:
    """What was done, if it was, as a list of one step."""
    return None if found is None else (found[0], [found[1]])


def _goes_on(problem: Problem[New]) -> bool:
    """Whether something can be taken away for many places at once."""
    return problem.rows.count() > 0 and bool(problem.variables.open.any()) and _alike(problem)


def _alike(problem: Problem[New]) -> bool:
    """Whether many places can be served at once: they share tables, or there are many."""
    return problem.rows.count() >= MANY or _shares(problem)


def _shares(problem: Problem[New]) -> bool:
    """Whether enough rows share tables, or their numbers are too much for other engines."""
    used = np.zeros(len(problem.tables), dtype=np.bool_)
    for labels in problem.rows.labels.values():
        used[labels] = True
    shared = problem.rows.count() >= SHARED * int(used.sum())
    if shared or problem.tables.widest <= HUGE:
        return shared
    return bool((problem.tables.spans(np.flatnonzero(used)) > HUGE).any())


def _hard(problem: Problem[New], easy: float) -> Booleans:
    """Which open variables are in parts with more states (log2) than the ground engine likes."""
    return problem.variables.open & (problem.rows.states_around(problem.variables.log_sizes) > easy)


def _also_merged(found: Done[New]) -> Done[New]:
    merged = merge(found[0])
    return found if merged is None else (merged[0], [*found[1], merged[1]])


def _drop(problem: Problem[Ints]) -> tuple[Problem[Ints], int]:
    """Leave out variables that sum out to a constant, and say how many."""

    def constants(labels: Ints, slot: int) -> Floats:
        found = np.full(len(labels), np.nan)
        for same in problem.tables.alike_in_shape(labels):
            sums = log_sum(problem.tables.stack(labels[same]).values, (slot,)).reshape(
                -1, len(same)
            )
            highest, lowest = sums.max(axis=0), sums.min(axis=0)
            with np.errstate(invalid="ignore"):
                found[same] = np.where(highest - lowest <= TOLERANCE, highest, np.nan)
        return found

    rows, arities = problem.rows, problem.rows.arities()
    if _shares(problem):  # so few tables that all of them are quickly looked at
        wide = [
            (distinct(rows.labels[arity]), slot)
            for arity in arities
            if arity > 1
            for slot in range(arity)
        ]
        if all(np.isnan(constants(labels, slot)).all() for labels, slot in wide):
            return problem, 0
    given = [(rows.scopes(each), rows.labels[each]) for each in arities]
    peeled = peel_rows(given, ~problem.variables.open, constants)
    gone = {
        arity: np.flatnonzero(dropped)
        for arity, dropped in zip(arities, peeled.dropped, strict=True)
    }
    left, _ = rows.without(gone)
    variables = problem.variables.without(np.flatnonzero(peeled.gone))
    return problem.after(left, variables, [weighed(peeled.log_constant, 1)]), int(peeled.gone.sum())


def _eliminate_cheap(problem: Problem[New]) -> Done[New] | None:
    """Eliminate all variables whose new table is no larger than those it is made of, or small."""
    costs = problem.costs
    cheap = costs.new <= np.maximum(costs.old, ALWAYS)
    return _eliminate(problem, costs.variables[cheap], costs.new[cheap])


def _eliminate_cheapest(problem: Problem[New]) -> Done[New] | None:
    """Eliminate the variables with the smallest new table, unless even that is dear.

    Parts that are no trouble for the ground engine, whatever its order, are left alone.
    """
    costs = problem.costs
    hard = _hard(problem, EASY)[costs.variables]
    least = float(costs.new.min(where=hard, initial=np.inf))
    if least > DEAR:
        return None
    cheapest = hard & (costs.new <= least)
    return _eliminate(problem, costs.variables[cheapest], costs.new[cheapest])


def _eliminate_apart(problem: Problem[New]) -> Done[New] | None:
    """Eliminate variables without shared tables where tables grow no larger; else small groups.

    None where hardly any variable looks like another: then a plan for the whole part is better.
    """
    costs = problem.costs
    cheap = costs.new <= costs.old
    return (
        _eliminate_alike(problem, costs.variables[cheap], costs.new[cheap])
        or _eliminate_groups(problem, MODEST)
        or _eliminate_groups(problem, DEAR, hard=True)
    )


def _eliminate_groups(problem: Problem[New], dear: float, hard: bool = False) -> Done[New] | None:
    """Eliminate in small groups that hang together, apart from a few that everybody knows.

    In each of them what is cheaper than all near it: the groups do not wait for one another. hard:
    only where the ground engine might be in trouble.
    """
    costs = problem.costs
    cheap = costs.new <= dear
    if hard:
        cheap &= _hard(problem, EASY)[costs.variables]
    chosen = problem.rows.in_small_groups(
        costs.variables[cheap], len(problem.variables), SMALL_GROUP
    )
    small = chosen[costs.variables]
    return _eliminate_alike(problem, costs.variables[small], costs.new[small], lowest=True)


def _eliminate_alike(
    problem: Problem[New], variables: Ints, new: NDArray[np.float64], lowest: bool = False
) -> Done[New] | None:
    """Eliminate if there are several of each shape; lowest: only what is cheapest near it."""
    if len(variables) < MANY_APART:
        return None
    chosen = problem.rows.independent(variables, new, len(problem.variables), lowest)
    blocks = problem.rows.blocks(chosen, problem.variables.sizes)
    if len(chosen) < PAYS * len(blocks):
        return None
    return _one(eliminate(problem, chosen, blocks))


def _eliminate(
    problem: Problem[New], variables: Ints, new: NDArray[np.float64]
) -> Done[New] | None:
    if not len(variables):
        return None
    chosen = problem.rows.independent(variables, new, len(problem.variables))
    return _one(eliminate(problem, chosen))


def _pivot(problem: Problem[New], most: int = MOST_ENTRIES) -> Done[New] | None:
    found = pivot(problem, most)
    return None if found is None else (found[0], [*found[1]])


def _count(problem: Problem[New], wanted: Booleans | None = None) -> Done[New] | None:
    """Count the interchangeable variables that work out, the ones with fewest histograms first."""
    wanted = problem.variables.open if wanted is None else wanted
    proposals = problem.rows.twins(wanted, problem.variables.sizes, problem.tables.slot_classes)
    return _one(count_cheapest(problem, proposals))


def _join_and_count(problem: Problem[New]) -> Done[New] | None:
    """Join variables of one individual if the pairs, triples, … can be counted; shortest first."""
    waiting: deque[tuple[Problem[New], list[LiftedStep[New]], int]] = deque([(problem, [], 1)])
    tried = 0
    while waiting:
        start_from, before, together = waiting.popleft()
        for first, second in _matchings(start_from):
            tried += 1
            joined = _joined(start_from, first, second) if tried <= MOST_TRIED else None
            if joined is None:
                continue
            smaller, steps, pairs = joined
            if (found := _count(smaller, pairs) or _pivot(smaller, FEW_ENTRIES)) is not None:
                return found[0], [*before, *steps, *found[1]]
            if together + 1 < MOST_JOINED:
                waiting.append((smaller, [*before, *steps], together + 1))
    return None


def _matchings(problem: Problem[New]) -> Iterator[tuple[Ints, Ints]]:
    """Pairs that could be counted if they were joined."""
    sizes = problem.variables.sizes
    for first, second in problem.rows.matchings(_hard(problem, QUICK)):
        if int(sizes[first[0]]) * int(sizes[second[0]]) <= MOST_PAIRS:
            yield first, second


def _joined(
    problem: Problem[New], first: Ints, second: Ints
) -> tuple[Problem[New], list[LiftedStep[New]], Booleans] | None:
    """The problem with pairs joined and rows merged, and which variables are pairs."""
    found = join(problem, first, second)
    if found is None:
        return None
    smaller, steps = _also_merged((found[0], [found[1]]))
    return smaller, steps, np.isin(np.arange(len(smaller.variables)), found[1].joined)
