"""The part of a graph whose colours still change, finished by a kernel in memory once it fits.

News stays within reach of where it is: along arguments, among colours, and never through a node
that is alone in its colour and whose own news has been heard, as such a node never changes. So the
colours that can still change are those connected, in the quotient of the graph without such nodes,
to a colour with news. All nodes of these colours are taken, with the arguments between them; what
they hear from everybody else is the same within each colour, and stays so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from lifagu.basics.arrays import Ints, connected_parts, first_places, offsets_of
from lifagu.scale.colour_rounds import Finish, Sizes, State, recoloured
from lifagu.scale.engines.engine import Engine

BYTES = 200  # that an argument takes in memory meanwhile, at most
MOST_ARCS = 4_000_000  # of the quotient, which is looked at in memory
Refine = Callable[[Ints, Ints, Ints, Ints, Ints], tuple[Ints, Ints]]


def finisher(sizes: Sizes, refine: Refine, memory: int) -> Finish:
    """What `pass_colours` asks after some rounds.

    refine(offsets, arguments, positions, variable_start, factor_start) gives the stable colours of
    a graph; memory: in bytes, what it may take.
    """

    def finish(engine: Engine, state: State) -> State | None:
        if not _mark(engine, state, memory):
            return None
        more = _refine_open(engine, state, sizes, refine)
        variables, factors = "variable_colours_last", "factor_colours_last"
        return replace(
            state, variables=variables, factors=factors, changed=0, colours=state.colours + more
        )

    return finish


def _mark(engine: Engine, state: State, memory: int) -> bool:
    """Store the colours that can still change in open_variables and open_factors, if they fit."""
    alone = "SELECT colour FROM {} GROUP BY colour HAVING count(*) = 1"
    engine.create("factor_alone", alone.format(state.factors))
    engine.create(
        "variable_alone",
        f"""
        {alone.format(state.variables)}
        EXCEPT
        SELECT colour FROM {state.news}
        """,
    )
    engine.create(
        "arcs",
        f"""
        SELECT f.colour AS factor, v.colour AS variable, count(*) AS size
        FROM arguments a
        JOIN {state.factors} f ON f.id = a.factor
        JOIN {state.variables} v ON v.id = a.variable
        LEFT JOIN factor_alone g ON g.colour = f.colour
        LEFT JOIN variable_alone w ON w.colour = v.colour
        WHERE g.colour IS NULL AND w.colour IS NULL
        GROUP BY f.colour, v.colour
        """,
    )
    if engine.count("arcs") > MOST_ARCS:
        return False
    factors, variables, size = engine.integers("SELECT * FROM arcs")
    (news,) = engine.integers(f"SELECT DISTINCT colour FROM {state.news}")
    ends, starts = np.unique(factors), np.unique(np.concatenate((variables, news)))
    left, right = np.searchsorted(starts, variables), len(starts) + np.searchsorted(ends, factors)
    part = connected_parts(len(starts) + len(ends), left, right)
    is_open = np.isin(part, part[np.searchsorted(starts, news)])
    if int(size[is_open[left]].sum()) * BYTES > memory:
        return False
    engine.register("open_variables", {"colour": starts[is_open[: len(starts)]]})
    engine.register("open_factors", {"colour": ends[is_open[len(starts) :]]})
    return True


def _refine_open(engine: Engine, state: State, sizes: Sizes, refine: Refine) -> int:
    """Store the last colours, those of the open part refined; how many more colours there are.

    They fit, as the last round left room for one more.
    """
    variables, variable_colours = _open_nodes(engine, "variable", state.variables)
    factors, factor_colours = _open_nodes(engine, "factor", state.factors)
    engine.register("open_variable_ids", {"id": variables})
    engine.register("open_factor_ids", {"id": factors})
    owners, positions, members = engine.integers(
        """
        SELECT a.factor, a.position, a.variable
        FROM arguments a
        JOIN open_factor_ids f ON f.id = a.factor
        JOIN open_variable_ids v ON v.id = a.variable
        ORDER BY a.factor, a.position
        """
    )
    arity = np.bincount(np.searchsorted(factors, owners), minlength=len(factors))
    offsets = offsets_of(arity)
    start = (
        np.unique(colours, return_inverse=True)[1].reshape(-1)
        for colours in (variable_colours, factor_colours)
    )
    refined = refine(offsets, np.searchsorted(variables, members), positions, *start)
    base = sizes.start + (2 * state.round + 1) * max(sizes.variables, sizes.factors)
    more = 0
    for side, ids, old, new, colours in (
        ("variable", variables, variable_colours, refined[0], state.variables),
        ("factor", factors, factor_colours, refined[1], state.factors),
    ):
        engine.register(f"{side}_last", {"id": ids, "colour": base + ids[first_places(new)][new]})
        engine.create(f"{side}_colours_last", recoloured(colours, f"{side}_last"))
        more += int(new.max(initial=-1)) + 1 - len(np.unique(old))
    return more


def _open_nodes(engine: Engine, side: str, colours: str) -> list[Ints]:
    """The ids and the colours of the nodes that can still change."""
    return engine.integers(
        f"""
        SELECT c.id, c.colour
        FROM {colours} c
        JOIN open_{side}s o ON o.colour = c.colour
        ORDER BY c.id
        """
    )
