"""The part of a graph whose colours still change, handed over to a kernel in memory once it fits.

News stays within reach of where it is: along arguments, among colours, and never through a node
that is alone in its colour and whose own news has been heard, as such a node never changes. So the
colours that can still change are those connected, in the quotient of the graph without such nodes,
to a colour with news. All nodes of these colours are handed over, with the arguments between them;
what they hear from everybody else is the same within each colour, and stays so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from lifagu.basics.arrays import Ints, connected_parts, first_places
from lifagu.scale.colour_rounds import WIDEST, Sizes, State
from lifagu.scale.journal import Journal

BYTES = 200  # that an argument takes in memory while it is handed over, at most
MOST_ARCS = 4_000_000  # of the quotient, which is looked at in memory
Refine = Callable[[Ints, Ints, Ints, Ints, Ints], tuple[Ints, Ints]]


def handing_over(
    sizes: Sizes, refine: Refine, memory: int
) -> Callable[[Journal, State], State | None]:
    """What `pass_colours` asks after some rounds.

    refine(offsets, arguments, positions, variable_start, factor_start) gives the stable colours of
    a graph; memory: in bytes, what it may take.
    """

    def hand_over(journal: Journal, state: State) -> State | None:
        def work() -> list[int] | None:
            if not _mark(journal, state, memory):
                return None
            return [_finish(journal, state, sizes, refine)]

        more = journal.once(f"handing over after round {state.round}", work)
        if more is None:
            return None
        variables, factors = "variable_colours_last", "factor_colours_last"
        return replace(
            state, variables=variables, factors=factors, changed=0, colours=state.colours + more[0]
        )

    return hand_over


def _mark(journal: Journal, state: State, memory: int) -> bool:
    """Store which colours can still change, if their arguments fit in memory: tables
    open_variables, open_factors.
    """
    engine = journal.engine
    for side, colours in (("variable", state.variables), ("factor", state.factors)):
        engine.create(
            f"{side}_alone",
            f"SELECT colour FROM {colours} GROUP BY colour HAVING count(*) = 1 EXCEPT SELECT colour FROM {state.news}"
            if side == "variable"
            else f"SELECT colour FROM {colours} GROUP BY colour HAVING count(*) = 1",
        )
    engine.create(
        "arcs",
        "SELECT f.colour AS factor, v.colour AS variable, count(*) AS size FROM arguments a "
        f"JOIN {state.factors} f ON f.id = a.factor JOIN {state.variables} v ON v.id = a.variable "
        "LEFT JOIN factor_alone g ON g.colour = f.colour LEFT JOIN variable_alone w ON w.colour = v.colour "
        "WHERE g.colour IS NULL AND w.colour IS NULL GROUP BY f.colour, v.colour",
    )
    ((count,),) = engine.rows("SELECT count(*) FROM arcs")
    if count > MOST_ARCS:
        return False
    factors, variables, size = (
        np.ma.getdata(each) for each in engine.columns("SELECT * FROM arcs")
    )
    news = np.ma.getdata(engine.columns(f"SELECT DISTINCT colour FROM {state.news}")[0])
    ends, starts = np.unique(factors), np.unique(np.concatenate((variables, news)))
    left, right = np.searchsorted(starts, variables), len(starts) + np.searchsorted(ends, factors)
    part = connected_parts(len(starts) + len(ends), left, right)
    is_open = np.isin(part, part[np.searchsorted(starts, news)])
    if int(size[is_open[left]].sum()) * BYTES > memory:
        return False
    engine.register("open_variables", {"colour": starts[is_open[: len(starts)]]})
    engine.register("open_factors", {"colour": ends[is_open[len(starts) :]]})
    return True


def _finish(journal: Journal, state: State, sizes: Sizes, refine: Refine) -> int:
    """Colours of the open part as they are in the end, put beside the others; how many more there
    are.
    """
    engine = journal.engine

    def nodes(side: str, colours: str) -> tuple[Ints, Ints]:
        found = engine.columns(
            f"SELECT c.id, c.colour FROM {colours} c JOIN open_{side}s o ON o.colour = c.colour ORDER BY c.id"
        )
        ids, held = (np.ma.getdata(each).astype(np.int64) for each in found)
        return ids, held

    variables, variable_colours = nodes("variable", state.variables)
    factors, factor_colours = nodes("factor", state.factors)
    engine.register("open_variable_ids", {"id": variables})
    engine.register("open_factor_ids", {"id": factors})
    found = engine.columns(
        "SELECT a.factor, a.position, a.variable FROM arguments a JOIN open_factor_ids f ON f.id = a.factor "
        "JOIN open_variable_ids v ON v.id = a.variable ORDER BY a.factor, a.position"
    )
    owners, positions, members = (np.ma.getdata(each).astype(np.int64) for each in found)
    arity = np.bincount(np.searchsorted(factors, owners), minlength=len(factors))
    offsets = np.concatenate(([0], np.cumsum(arity)))
    start = (
        np.unique(colours, return_inverse=True)[1].reshape(-1)
        for colours in (variable_colours, factor_colours)
    )
    refined = refine(offsets, np.searchsorted(variables, members), positions, *start)
    base = sizes.start + (2 * state.round + 1) * max(sizes.variables, sizes.factors)
    assert base + max(sizes.variables, sizes.factors) < WIDEST, (
        "the last round was within bounds, with room for this"
    )
    more = 0
    for side, ids, old, new, colours in (
        ("variable", variables, variable_colours, refined[0], state.variables),
        ("factor", factors, factor_colours, refined[1], state.factors),
    ):
        engine.register(f"{side}_last", {"id": ids, "colour": base + ids[first_places(new)][new]})
        engine.create(
            f"{side}_colours_last",
            f"SELECT c.id, coalesce(n.colour, c.colour) AS colour FROM {colours} c LEFT JOIN {side}_last n "
            "ON n.id = c.id",
        )
        more += int(new.max(initial=-1)) + 1 - len(np.unique(old))
    return more
