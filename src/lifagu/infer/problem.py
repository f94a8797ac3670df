"""A question's side of the graph: evidence fixed, tables as logs, and the connected parts that remain."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from lifagu.arrays import Floats, Ints, members
from lifagu.evidence import Evidence
from lifagu.infer.table import clamp
from lifagu.model import FactorGraph
from lifagu.parts import parts_without

LogFactor = tuple[tuple[int, ...], Floats]  # variables, and log potentials with one axis for each


@dataclass(frozen=True, eq=False)
class Part:
    """Variables connected by factors once the observed ones are removed, and the factors on them."""

    variables: tuple[int, ...]
    sizes: dict[int, int]
    factors: tuple[LogFactor, ...]
    unknown: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Problem:
    """The graph with evidence fixed: parts, the part of each free variable, and what is left without variables.

    observed[v] is the canonical value of variable v or -1; part_of[v] is -1 for observed variables;
    log_constant is the log weight of factors whose arguments are all observed, unknown ones among them apart.
    """

    parts: tuple[Part, ...]
    part_of: Ints
    observed: Ints
    log_constant: float
    unknown_constants: tuple[int, ...]


def make_problem(graph: FactorGraph, evidence: Evidence) -> Problem:
    """Fix the evidence and take the graph apart. Cost: linear in the graph."""
    observed = evidence.value_of_each(len(graph.variable_names))
    part_of = parts_without(graph, observed >= 0)
    count = int(part_of.max(initial=-1)) + 1
    factors: list[list[LogFactor]] = [[] for _ in range(count)]
    unknown: list[list[int]] = [[] for _ in range(count + 1)]
    constants = []
    for factor, (scope, values) in enumerate(_clamped(graph, observed)):
        if values is None:
            unknown[part_of[scope[0]] if scope else count].append(factor)
        elif scope:
            factors[part_of[scope[0]]].append((scope, values))
        else:
            constants.append(float(values))
    with np.errstate(divide="ignore"):
        for variable, likelihood in zip(evidence.soft_variables.tolist(), evidence.likelihoods, strict=True):
            if observed[variable] < 0:
                factors[part_of[variable]].append(((variable,), np.log(likelihood)))
            else:
                constants.append(float(np.log(likelihood[observed[variable]])))
    free = np.flatnonzero(observed < 0)
    parts = [
        Part(
            tuple(free[group].tolist()),
            dict(zip(free[group].tolist(), graph.sizes[free[group]].tolist(), strict=True)),
            tuple(factors[number]),
            tuple(unknown[number]),
        )
        for number, group in enumerate(members(part_of[free]))
    ]
    return Problem(tuple(parts), part_of, observed, math.fsum(constants), tuple(unknown[count]))


def _clamped(graph: FactorGraph, observed: Ints) -> Iterator[tuple[tuple[int, ...], Floats | None]]:
    """For each factor its free arguments and the log potentials that the evidence leaves; None for unknown ones."""
    with np.errstate(divide="ignore"):
        log_tables = replace(graph.tables, values=np.log(graph.tables.values))
    values = observed.tolist()
    offsets, arguments, tables = graph.offsets.tolist(), graph.arguments.tolist(), graph.factor_table.tolist()
    for factor, number in enumerate(tables):
        scope = arguments[offsets[factor] : offsets[factor + 1]]
        fixed = [position for position, variable in enumerate(scope) if values[variable] >= 0]
        table = log_tables[number] if number >= 0 else None
        if fixed and table is not None:
            table = clamp(table, fixed, [values[scope[position]] for position in fixed])
        yield tuple(variable for variable in scope if values[variable] < 0), table
