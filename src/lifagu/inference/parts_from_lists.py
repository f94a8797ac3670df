"""Connected parts straight from a graph's lists, for the ground engine: no lifted problem is made.

What cannot matter for the questions is left out first; then tables are cut to the observed values,
and what hangs together is found by search.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.names import Names
from lifagu.basics.words import counted
from lifagu.graph.evidence import Evidence
from lifagu.graph.factor_graph import FactorGraph
from lifagu.inference.connected_part import Residual, TablePart
from lifagu.inference.outline import outline_of
from lifagu.inference.table import Table, clamp, from_potentials, log_values


@dataclass(frozen=True)
class Untouched:
    """What stands in place of lifted steps where there are none; dropped: how many variables."""

    names: Names
    dropped: int = 0
    steps: tuple[object, ...] = ()
    listed: Mapping[int, tuple[int, str]] = field(default_factory=dict)

    def __str__(self) -> str:
        return (
            f"  drop {counted(self.dropped, 'variable')} that cannot matter" if self.dropped else ""
        )

    @property
    def originals(self) -> int:
        """How many variables there are."""
        return len(self.names)

    def name(self, variable: int) -> str:
        """The name of a variable."""
        return self.names[variable]


def listed_parts(
    graph: FactorGraph,
    evidence: Evidence,
    asked: Iterable[int] | None,
    included: NDArray[np.bool_] | None,
) -> tuple[Residual, int]:
    """The connected parts that matter for what is asked (None: all), and how many variables do not.

    included[v]: whether v, and so the factors on it, takes part; None if all do.
    """
    outline = outline_of(graph)
    observed = dict(zip(evidence.variables.tolist(), evidence.values.tolist(), strict=True))
    if asked is None:
        variables: Collection[int] = range(len(outline.sizes))
        factors: Collection[int] = range(len(outline.tables))
        log_constant = 0.0
    else:
        variables, factors, log_constant = outline.needed(
            [*asked, *observed, *evidence.soft_variables.tolist()]
        )
    dropped = len(outline.sizes) - len(variables)
    tables = [table for factor in factors if (table := outline.tables[factor]) is not None]
    if observed:
        tables = _cut(tables, observed)
        variables = [variable for variable in variables if variable not in observed]
    if evidence.likelihoods:
        tables += _soft(evidence, observed)
    if included is not None:
        inside = included.tolist()
        tables = [table for table in tables if all(map(inside.__getitem__, table.ranks))]
        variables = [variable for variable in variables if inside[variable]]
    logs = [float(log_values(table)) for table in tables if not table.ranks]
    may_drop = asked is not None and not outline.clear
    found = _search(outline.sizes, variables, tables, may_drop)
    part_of = np.full(len(outline.sizes), -1, dtype=np.int64)
    for number, part in enumerate(found):
        part_of[list(part.variables)] = number
    return Residual(tuple(found), part_of, (), math.fsum([log_constant, *logs])), dropped


def count_variables(rest: Residual) -> int:
    """How many variables there are in all parts."""
    return sum([len(part.variables) for part in rest.parts])


def _cut(tables: Iterable[Table], observed: dict[int, int]) -> list[Table]:
    """The tables at the observed values; those cut alike from one table share their values."""
    known: dict[tuple[int, tuple[tuple[int, int], ...]], np.ndarray] = {}
    found = []
    for table in tables:
        fixed = tuple(
            [(axis, observed[rank]) for axis, rank in enumerate(table.ranks) if rank in observed]
        )
        if fixed:
            key = id(table.values), fixed
            if key not in known:
                known[key] = np.asarray(clamp(table.values, *zip(*fixed, strict=True)))
            ranks = tuple([rank for rank in table.ranks if rank not in observed])
            table = Table(ranks, known[key], table.low, table.high, table.logs)
        found.append(table)
    return found


def _soft(evidence: Evidence, observed: dict[int, int]) -> Iterable[Table]:
    """Soft evidence as tables."""
    for variable, likelihood in zip(
        evidence.soft_variables.tolist(), evidence.likelihoods, strict=True
    ):
        ranks = () if variable in observed or len(likelihood) == 1 else (variable,)
        values = np.asarray(likelihood if ranks else likelihood[observed.get(variable, 0)])
        low, high = math.log(likelihood[likelihood > 0].min()), math.log(likelihood.max())
        yield from_potentials(ranks, values, low, high)


def _search(
    sizes: list[int], variables: Iterable[int], tables: list[Table], may_drop: bool
) -> list[TablePart]:
    """What hangs together, parts by their first variable."""
    at: dict[int, list[int]] = {variable: [] for variable in variables}
    for place, table in enumerate(tables):
        for variable in table.ranks:
            at[variable].append(place)
    found = []
    seen: set[int] = set()
    for first in at:
        if first in seen:
            continue
        seen.add(first)
        members, inside = [first], set[int]()
        for variable in members:  # grows on the way
            for place in at[variable]:
                if place not in inside:
                    inside.add(place)
                    new = [each for each in tables[place].ranks if each not in seen]
                    seen.update(new)
                    members += new
        members.sort()
        own = [tables[place] for place in sorted(inside)]
        found.append(
            TablePart(tuple(members), {each: sizes[each] for each in members}, own, may_drop)
        )
    return found
