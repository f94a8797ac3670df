"""Colour passing by SQL, as rounds in which only news travels.

A node's colour changes where its neighbours' news tells it from others of its colour. Those that
heard nothing keep their colour; where all heard something, the largest part does. A new colour is
larger than all before it and holds the least id of its part, so it was never used, it tells which
colour it came from, and it depends on nothing but the graph. Hence two nodes of one colour still
look alike iff they heard the same news: what they heard before was the same, and news tells what it
replaces. The rounds end when nothing is new, with the coarsest stable colouring.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.basics.progress import Announce
from lifagu.errors import Remedy, TooLargeError
from lifagu.scale.engines.engine import Engine
from lifagu.scale.equal_multisets import group_owners

WIDEST = 2**62  # colours beyond it would not fit
FIRST_FINISH = 4  # the round after which it is asked first, then after twice as many each time


@dataclass(frozen=True)
class Sizes:
    """How many nodes of either sort there are, and how many start colours."""

    variables: int
    factors: int
    start: int


@dataclass(frozen=True)
class State:
    """Where the rounds are: the tables of current colours, and of news not heard by the others."""

    round: int
    variables: str
    factors: str
    news: str
    changed: int
    colours: int


Finish = Callable[[Engine, State], "State | None"]


def store_start(engine: Engine, of_looks: Ints, types: Ints, of_types: Ints) -> None:
    """Store variable_start and factor_start (id, colour), given the colours of looks and types."""
    engine.register("look_start", {"look": np.arange(len(of_looks)), "colour": of_looks})
    engine.register("type_start", {"type": types, "colour": of_types})
    engine.create(
        "variable_start",
        """
        SELECT v.id, s.colour
        FROM looks v
        JOIN look_start s ON s.look = v.look
        """,
    )
    engine.create(
        "factor_start",
        """
        SELECT t.id, s.colour
        FROM typed t
        JOIN type_start s ON s.type = t.type
        """,
    )


def pass_colours(
    engine: Engine,
    sizes: Sizes,
    most_rounds: int,
    finish: Finish | None = None,
    told: Announce | None = None,
    state: State | None = None,
) -> State:
    """Colour passing over arguments (factor, position, variable), from the start colours.

    state: where to begin, if not there. finish(engine, state) is asked after some rounds and may do
    the rest in memory; told(line): after each. The result's tables (id, colour) hold colours that
    are equal iff nodes look alike; a round costs a few passes over the arguments of those with
    news.
    """
    state = state or State(
        0, "variable_start", "factor_start", "variable_start", sizes.variables, sizes.start
    )
    due = FIRST_FINISH
    while state.changed:
        if state.round == most_rounds:
            raise TooLargeError(
                f"colours still change after {most_rounds} rounds", remedy=Remedy.MORE_MEMORY
            )
        state = _round(engine, sizes, state)
        if told:
            told(f"round {state.round}: {state.colours} colours, {state.changed} variables changed")
        if finish is not None and state.changed and state.round == due:
            due *= 2
            finished = finish(engine, state)
            if finished is not None:
                if told:
                    told(f"what still changed was finished in memory: {finished.colours} colours")
                return finished
    return state


def told_apart(
    engine: Engine, sizes: Sizes, counts: Mapping[str, int], chosen: Ints
) -> tuple[Sizes, State]:
    """Where to go on from stored groups once some variables have colours of their own.

    counts: how many groups of variables and factors there are. Only what is new travels.
    """
    first = counts["variable"] + counts["factor"]
    engine.register("news_apart", {"id": chosen, "colour": first + np.arange(len(chosen))})
    engine.create(
        "variable_apart",
        """
        SELECT g.id, coalesce(n.colour, g.group_id) AS colour
        FROM variable_groups g
        LEFT JOIN news_apart n ON n.id = g.id
        """,
    )
    engine.create("factor_apart", "SELECT id, group_id AS colour FROM factor_groups")
    start = first + len(chosen)
    state = State(1, "variable_apart", "factor_apart", "news_apart", len(chosen), start)
    return Sizes(sizes.variables, sizes.factors, start), state


def _round(engine: Engine, sizes: Sizes, state: State) -> State:
    """Factors hear from variables, then variables from factors."""
    number = state.round + 1
    step = 2 * number - 1
    factors, heard, made = _half(engine, sizes, step, "factor", state.factors, state.news)
    if number == 1:  # in the first round all factors are news
        heard, told = factors, sizes.factors
    else:
        told = made[0]
    if not told:
        return State(number, state.variables, factors, heard, 0, state.colours + made[1])
    variables, news, more = _half(engine, sizes, step + 1, "variable", state.variables, heard)
    kept = {factors, variables, news, "variable_start", "factor_start"}
    engine.discard(*({state.variables, state.factors, state.news, heard} - kept))
    return State(number, variables, factors, news, more[0], state.colours + made[1] + more[1])


def _half(
    engine: Engine, sizes: Sizes, step: int, owner: str, colours: str, news: str
) -> tuple[str, str, list[int]]:
    """One side hears the news: its colours, its own news, how many nodes and colours are new."""
    base = sizes.start + step * max(sizes.variables, sizes.factors)
    if base + max(sizes.variables, sizes.factors) > WIDEST:
        raise TooLargeError(
            f"colours do not fit in 64 bits after {step // 2} rounds", remedy=Remedy.MORE_MEMORY
        )
    new, changed = f"{owner}_colours_{step}", f"{owner}_news_{step}"

    made = _split(engine, owner, colours, news, changed, base)
    if made[0]:
        engine.create(new, recoloured(colours, changed))
    return (new if made[0] else colours), changed, made


def recoloured(colours: str, changed: str) -> str:
    """A query for colours (id, colour), those of changed nodes replaced."""
    return f"""
        SELECT c.id, coalesce(n.colour, c.colour) AS colour
        FROM {colours} c
        LEFT JOIN {changed} n ON n.id = c.id
        """


def _split(
    engine: Engine, owner: str, colours: str, news: str, changed: str, base: int
) -> list[int]:
    """Store (id, colour) of the nodes with a new colour; how many these are, and the colours."""
    engine.create("heard", _heard(owner, news))
    group_owners(engine, "heard", "grouped", colours)
    engine.create("parts", "SELECT old, part, count(*) AS size FROM grouped GROUP BY old, part")
    engine.create("fresh", _fresh(colours))
    engine.create(
        changed,
        f"""
        SELECT g.id, g.part + CAST({base} AS BIGINT) AS colour
        FROM grouped g
        JOIN fresh f ON f.part = g.part
        """,
    )
    made = [engine.count(changed), engine.count("fresh")]
    for name in ("heard", "grouped", "parts", "fresh"):
        engine.drop(name)
    return made


def _fresh(colours: str) -> str:
    """A query for the parts of old colours that get a new one: all but one that may keep it."""
    return f"""
        WITH ranked AS (
            SELECT
                old,
                part,
                sum(size) OVER (PARTITION BY old) AS touched,
                row_number() OVER (PARTITION BY old ORDER BY size DESC, part) AS place
            FROM parts
        ),
        olds AS (
            SELECT DISTINCT old FROM parts
        ),
        whole AS (
            SELECT c.colour, count(*) AS size
            FROM {colours} c
            JOIN olds o ON o.old = c.colour
            GROUP BY c.colour
        )
        SELECT r.part
        FROM ranked r
        JOIN whole w ON w.colour = r.old
        WHERE r.touched < w.size OR r.place > 1
        """


def _heard(owner: str, news: str) -> str:
    """A query for what owners hear (owner, place, colour, times), from the other side's news."""
    if owner == "factor":  # one argument stands at each place
        return f"""
            SELECT a.factor AS owner, a.position AS place, n.colour, 1 AS times
            FROM arguments a
            JOIN {news} n ON n.id = a.variable
            """
    return f"""
        SELECT a.variable AS owner, a.position AS place, n.colour, count(*) AS times
        FROM arguments a
        JOIN {news} n ON n.id = a.factor
        GROUP BY a.variable, a.position, n.colour
        """
