"""What the lifted steps leave: a ground problem in connected parts, for the ground engine."""

from __future__ import annotations

import numpy as np

from lifagu.basics.arrays import Ints, by_first_occurrence, connected_parts, members
from lifagu.inference.connected_part import Part, Residual
from lifagu.inference.lifted.problem import Problem


def residual(problem: Problem[Ints]) -> Residual:
    """The rows as factors, in connected parts; a variable in no row is a part of its own."""
    count, rows, sizes = len(problem.variables), problem.rows, problem.variables.sizes
    first, second = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for arity in rows.arities():
        matrix = rows.scopes(arity)
        for slot in range(1, arity):
            first.append(matrix[:, 0])
            second.append(matrix[:, slot])
    numbers = connected_parts(count, np.concatenate(first), np.concatenate(second))
    variables = np.flatnonzero(problem.variables.present)
    part_of = np.full(count, -1, dtype=np.int64)
    part_of[variables] = by_first_occurrence(numbers[variables])
    groups = members(part_of[variables])
    factors: list[list[tuple[tuple[int, ...], np.ndarray]]] = [[] for _ in groups]
    row_of: list[list[tuple[int, int]]] = [[] for _ in groups]
    tables: dict[int, np.ndarray] = {}
    for arity in rows.arities():
        scopes, labels = rows.scopes(arity).tolist(), rows.labels[arity].tolist()
        for label in set(labels) - tables.keys():
            tables[label] = np.asarray(problem.tables[label], dtype=np.float64)
        for row, (scope, label) in enumerate(zip(scopes, labels, strict=True)):
            part = part_of[scope[0]]
            factors[part].append((tuple(scope), tables[label]))
            row_of[part].append((arity, row))
    parts = tuple(
        Part(
            tuple(variables[group].tolist()),
            dict(zip(variables[group].tolist(), sizes[variables[group]].tolist(), strict=True)),
            tuple(factors[number]),
        )
        for number, group in enumerate(groups)
    )
    return Residual(parts, part_of, tuple(map(tuple, row_of)), problem.log_constant)
