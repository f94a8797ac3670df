"""Small crowds of individuals with holes, odd in every way that answers by posterior must bear."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import lifagu

LABELS = {"A": ["no", "yes"], "B": ["low", "mid", "high"], "S": ["false", "true"], "R": ["0", "1"]}
PLACES = {"fa": ("A",), "fb": ("A", "B"), "fs": ("B", "S"), "fr": ("A", "R", "S")}


@dataclass(frozen=True)
class Oddities:
    """What is odd about a crowd; estimated: how many records are behind a table, 0 for exact."""

    people: int = 7
    cohorts: int = 2
    hole: float = 0.3
    estimated: int = 0
    given: bool = False
    exact_too: bool = False
    zeros: bool = False
    twice: bool = False
    permuted: bool = False
    relabelled: bool = False
    declared: bool = True
    two_shared: bool = False
    no_candidate: bool = False
    between: bool = False


@dataclass
class Crowd:
    """A graph, and names of variables that are worth asking about."""

    graph: lifagu.FactorGraph
    names: list[str] = field(default_factory=list)


def crowd(seed: int, odd: Oddities) -> Crowd:
    """Individuals of a few cohorts around shared variables; some of their factors are holes."""
    rng = np.random.default_rng([seed, 7])
    places = {name: PLACES[name] for name in (["fa", "fb", "fs"] + ["fr"] * odd.two_shared)}
    tables = {place: _tables(rng, place, odd) for place in places}
    builder = lifagu.FactorGraph.build()
    for shared in "SR"[: 1 + odd.two_shared]:
        builder.variable(shared, LABELS[shared], kind=shared)
        builder.factor(f"prior.{shared}", [shared], [3, 2])
    for number in range(odd.people):
        cohort, name = int(rng.integers(odd.cohorts)), f"p{number}"
        for kind in "AB":
            labels = LABELS[kind][::-1] if odd.relabelled and number % 2 else LABELS[kind]
            individual = name if odd.declared else ()
            builder.variable(f"{kind}.{name}", labels, kind=kind, individual=individual)
        for place in places:
            for copy in range(1 + (odd.twice and place == "fa")):
                known = number > 1 or place == "fs"  # somebody shows something in each place
                is_hole = rng.random() < (odd.hole if known else 0.9)
                _factor(builder, rng, odd, f"{place}.{name}.{copy}", place, name, is_hole,
                        tables[place][cohort])  # fmt: skip
    if odd.no_candidate:
        builder.factor("lonely", ["A.p1", "B.p0"], None)
    if odd.between:
        for number in range(odd.people - 1):
            table = None if number == 1 else [[4, 1, 1, 4], [1, 3, 2, 1]][number % 2]
            builder.factor(f"link{number}", [f"A.p{number}", f"A.p{number + 1}"], table)
    names = ["S", "A.p0", "B.p0", "A.p1", f"B.p{odd.people - 1}"]
    return Crowd(builder.graph(), names)


def _tables(rng: np.random.Generator, place: str, odd: Oddities) -> list[np.ndarray]:
    shape = tuple(len(LABELS[kind]) for kind in PLACES[place])
    found = []
    for _ in range(odd.cohorts):
        table = rng.integers(1, 30, shape).astype(float)
        if odd.zeros and table.size > 2:
            table.reshape(-1)[int(rng.integers(table.size))] = 0
        found.append(table)
    return found


def _factor(
    builder: Any,
    rng: np.random.Generator,
    odd: Oddities,
    factor: str,
    place: str,
    name: str,
    is_hole: bool,
    table: np.ndarray,
) -> None:
    kinds = PLACES[place]
    arguments = [kind if kind in "SR" else f"{kind}.{name}" for kind in kinds]
    order = rng.permutation(len(kinds)) if odd.permuted else np.arange(len(kinds))
    behind: dict[str, Any] = {}
    exact = not odd.estimated or (odd.exact_too and rng.random() < 0.3)
    if not exact:
        shares = (table / table.sum()).reshape(-1)
        table = rng.multinomial(odd.estimated, shares).reshape(table.shape) + 0.5
        behind = {"support": odd.estimated, "prior": 0.5}
        if odd.given and len(kinds) > 1:
            rest = tuple(range(1, len(kinds)))
            behind["support"] = (table - 0.5).sum(axis=rest).tolist()
            behind["given"] = [arguments[0]]
    if odd.relabelled and int(name[1:]) % 2:
        table = table[tuple(slice(None, None, -1 if kind in "AB" else 1) for kind in kinds)]
        if isinstance(behind.get("support"), list):
            behind["support"] = behind["support"][::-1]
    builder.factor(
        factor,
        [arguments[each] for each in order],
        None if is_hole else table.transpose(order).reshape(-1),
        **({} if is_hole else behind),
    )
