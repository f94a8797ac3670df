"""Roles: what place an argument holds in the graph, seen from nearby.

The role of an argument is its range and degree, plus its kind where kinds are declared; the
signature of a factor is the multiset of its arguments' roles (the paper's symmetric 2-step
neighbourhoods, computed by grouping).
"""

from __future__ import annotations

import numpy as np

from lifagu.basics.arrays import Ints, group_lists, group_rows, places_within
from lifagu.graph.evidence import Evidence
from lifagu.graph.factor_graph import FactorGraph


def variable_roles(
    graph: FactorGraph, *, kinds: bool = True, evidence: Evidence | None = None
) -> Ints:
    """Each variable's role, (range, degree[, kind][, evidence]), by first occurrence. O(n)."""
    seen = None if evidence is None else observations(graph, evidence)
    return roles(graph.variable_range, graph.degrees, graph.variable_kind if kinds else None, seen)


def roles(ranges: Ints, degrees: Ints, kinds: Ints | None, seen: Ints | None) -> Ints:
    """Each role's number, by first occurrence; kinds and what was seen only where they count."""
    columns = [ranges, degrees, *(each for each in (kinds, seen) if each is not None)]
    return group_rows(np.column_stack(columns))


def place_roles(ranges: Ints, degrees: Ints, kinds: Ints) -> Ints:
    """Roles for cohorts, wider than those of transfer: degrees count only where no kind does."""
    return roles(ranges, np.where(kinds >= 0, 0, degrees), kinds, None)


def observations(graph: FactorGraph, evidence: Evidence) -> Ints:
    """What was observed of each variable: 0 nothing, then by value, then by likelihoods."""
    count = len(graph.variable_names)
    observed = evidence.value_of_each(count) + 1
    first_soft = int(observed.max(initial=0)) + 1
    distinct: dict[bytes, int] = {}
    for place in evidence.unsure.tolist():
        likelihood = evidence.likelihoods[place].tobytes()
        observed[evidence.soft_variables[place]] = first_soft + distinct.setdefault(
            likelihood, len(distinct)
        )
    return observed


def factor_signatures(offsets: Ints, keys: Ints) -> Ints:
    """Each factor's signature, the multiset of its arguments' keys, by first occurrence.

    keys[offsets[m]:offsets[m+1]]: what each argument of factor m looks like; for plain roles,
    roles[graph.arguments].
    """
    return group_lists(offsets, keys, ordered=False)


def by_arity(graph: FactorGraph, values: Ints) -> list[tuple[Ints, Ints]]:
    """Per arity: the factors of that arity, and the matrix of values given per argument."""
    return [
        (factors, values[graph.offsets[factors, None] + np.arange(matrix.shape[1])])
        for factors, matrix in graph.scopes
    ]


def argument_places(graph: FactorGraph) -> Ints:
    """The place of each argument in its factor's list."""
    return places_within(np.diff(graph.offsets))
