"""Individuals in hidden cohorts, and what somebody who knows the cohorts would fill in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import lifagu
from lifagu.filling.cohorts.places import places_of_individuals
from lifagu.filling.result import Transfer
from lifagu.filling.rules import Filling
from lifagu.filling.transfer import found_by_cohorts
from lifagu.likeness.roles import factor_signatures, variable_roles

RANGES = {"A": ["no", "yes"], "B": ["low", "mid", "high"], "C": ["w", "x", "y", "z"], "Epid": None}
PLACES = {"fa": ("A",), "fb": ("A", "B"), "fc": ("B", "C"), "fd": ("C", "Epid")}
# which table each cohort has in each place: two places together tell all cohorts apart
MAP = {"fa": (0, 0, 1), "fb": (0, 1, 1), "fc": (0, 1, 2), "fd": (1, 0, 1)}


@dataclass
class Population:
    """A graph with holes, and for each hole the table that is behind it, arguments as in PLACES."""

    graph: lifagu.FactorGraph
    cohort: dict[str, int]
    truth: dict[str, np.ndarray] = field(default_factory=dict)


def size_of(place: str) -> tuple[int, ...]:
    """The shape of a place's tables."""
    return tuple(len(RANGES[kind] or ["false", "true"]) for kind in PLACES[place])


def tables_of(seed: int) -> dict[str, list[np.ndarray]]:
    """Three clearly different tables for each place, the same mass in other entries."""
    rng = np.random.default_rng(seed)
    found = {}
    for place in PLACES:
        size = int(np.prod(size_of(place)))
        table = rng.permutation(np.round(np.geomspace(1, 60, size), 1))
        steps = range(0, 3 * max(size // 3, 1), max(size // 3, 1))
        found[place] = [np.roll(table, step).reshape(size_of(place)) for step in steps]
    found["fa"] = [np.array([9.0, 1.0]), np.array([2.0, 8.0]), np.array([1.0, 1.0])]
    return found


def population(
    people: int = 30,
    seed: int = 0,
    *,
    unknown: float = 0.1,
    absent: float = 0.0,
    records: int | None = None,
    own: float | None = None,
    noise: float = 0.0,
    permuted: bool = False,
    scaled: bool = False,
    twice: bool = False,
    kinds: bool = True,
    individuals: bool = True,
    holes: tuple[str, ...] = (),
    tables: dict[str, list[np.ndarray]] | None = None,
) -> Population:
    """People of three cohorts around a shared variable; some of their factors are holes.

    unknown, absent: shares of factors; records: behind each table, own: Dirichlet variation of an
    individual's table; noise: of each potential, as a share; twice: two factors in place fa.
    """
    rng = np.random.default_rng([seed, 1])
    tables = tables or tables_of(seed)
    builder = lifagu.FactorGraph.build().variable("Epid", kind="Epid" if kinds else None)
    builder.factor("season", ["Epid"], [3, 1])
    found = Population(None, {})  # type: ignore[arg-type]
    for number in range(people):
        name = f"p{number}"
        cohort = found.cohort[name] = int(rng.integers(3))
        for kind in "ABC":
            builder.variable(
                f"{kind}.{name}",
                RANGES[kind],
                kind=kind if kinds else None,
                individual=name if individuals else (),
            )
        for place, arguments in PLACES.items():
            for copy in range(1 + (twice and place == "fa")):
                factor = f"{place}.{name}" + (f".{copy}" if copy else "")
                table = tables[place][MAP[place][cohort]]
                shares = table / table.sum()
                if own is not None:
                    shares = rng.dirichlet(own * shares.reshape(-1)).reshape(shares.shape)
                given, support = table, None
                if records is not None:
                    counts = rng.multinomial(records, shares.reshape(-1)).reshape(shares.shape)
                    given, support = counts + 0.5, records
                given = given * rng.lognormal(0, noise, given.shape) if noise else given
                given = given * rng.choice([0.5, 1, 2, 8]) if scaled else given
                order = rng.permutation(len(arguments)) if permuted else np.arange(len(arguments))
                is_hole, gone = rng.random() < unknown, rng.random() < absent
                if factor in holes:
                    is_hole, gone = True, False
                if gone:
                    continue
                if is_hole:
                    found.truth[factor] = shares
                names = [each if each == "Epid" else f"{each}.{name}" for each in arguments]
                more: dict[str, Any] = {}
                if support is not None and not is_hole:
                    more = {"support": support, "prior": 0.5}
                builder.factor(
                    factor,
                    [names[each] for each in order],
                    None if is_hole else given.transpose(order).reshape(-1),
                    **more,
                )
    found.graph = builder.graph()
    return found


def filled(graph: lifagu.FactorGraph, name: str) -> np.ndarray:
    """A factor's table, summing to 1, its arguments in the order of PLACES."""
    factor = graph.factor(name)
    kinds = [each.split(".")[0] for each in factor.arguments]
    order = [kinds.index(kind) for kind in PLACES[name.split(".")[0]]]
    table = factor.table.transpose(order)
    return table / table.sum()


def by_cohorts(graph, **settings):
    """Every hole by cohorts, also where all candidates agree, which by default lend their table."""
    signatures = factor_signatures(graph.offsets, variable_roles(graph)[graph.arguments])
    nobody = np.full(len(graph.factor_names), -1)
    empty = Transfer(graph, Filling(**settings), (), signatures, nobody, "exactly", None)
    return found_by_cohorts(empty, places_of_individuals(graph, graph.unknown), [])
