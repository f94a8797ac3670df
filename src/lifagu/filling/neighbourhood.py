"""k-step neighbourhoods: what an argument's place looks like from further away.

Two steps are the paper's neighbourhood: the roles of a factor's arguments. Beyond, messages walk
the graph without
turning back: variable to factor (its role, and what its other factors sent it), factor to variable
(its table, the variable's slot in it, and what its other arguments sent). A factor's own table
never enters its own signature. Hubs, variables shared by everybody, send only their name.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Ints, group_rows
from lifagu.graph.factor_graph import FactorGraph
from lifagu.likeness.roles import by_arity

HUB_FACTOR = 10  # a hub has more than so many times the median degree


def hubs(graph: FactorGraph, *, kinds: bool) -> NDArray[np.bool_]:
    """Variables shared by everybody: alone of their kind while others repeat, or of high degree."""
    found = (
        graph.degrees > HUB_FACTOR * np.median(graph.degrees)
        if len(graph.degrees)
        else graph.degrees > 0
    )
    if kinds and len(graph.kinds):
        members = np.bincount(
            graph.variable_kind[graph.variable_kind >= 0], minlength=len(graph.kinds)
        )
        if (members > 1).any():
            found |= (graph.variable_kind >= 0) & (members[graph.variable_kind] == 1)
    return np.asarray(found)


def neighbourhood_keys(
    graph: FactorGraph, roles: Ints, aligned: Ints, depth: int, hub: NDArray[np.bool_]
) -> list[Ints]:
    """What each argument looks like within 2, 4, …, 2·depth steps, an array of keys for each.

    aligned[m]: number of each factor's role-sorted table, -1 if unknown. Cost: near-linear per
    step, times the degree of ordinary variables.
    """
    keys = [roles[graph.arguments]]
    slots = np.empty(len(graph.arguments), dtype=np.int64)
    for factors, matrix in by_arity(graph, keys[0]):
        order = np.argsort(np.argsort(matrix, axis=1, kind="stable"), axis=1)
        slots[graph.offsets[factors, None] + np.arange(matrix.shape[1])] = order
    for _ in range(depth - 1):
        keys.append(_to_factors(graph, roles, _to_variables(graph, keys[-1], aligned, slots), hub))
    return keys


def _to_variables(graph: FactorGraph, keys: Ints, aligned: Ints, slots: Ints) -> Ints:
    """Messages from factors: (table or unknown, receiver's slot, the other arguments' messages)."""
    messages = np.empty(len(graph.arguments), dtype=np.int64)
    count = 0
    for factors, matrix in by_arity(graph, keys):
        arity = matrix.shape[1]
        if not arity:
            continue
        places = graph.offsets[factors, None] + np.arange(arity)
        by_slot = np.empty_like(matrix)
        np.put_along_axis(by_slot, slots[places], matrix, axis=1)
        rows = np.empty((len(factors), arity, arity + 1), dtype=np.int64)
        rows[:, :, 0] = aligned[factors, None] + 1
        rows[:, :, 1] = slots[places]
        others = np.argsort(np.arange(arity) == np.arange(arity)[:, None], axis=1, kind="stable")[
            :, :-1
        ]
        rows[:, :, 2:] = by_slot[np.arange(len(factors))[:, None, None], others[slots[places]]]
        groups = group_rows(rows.reshape(-1, arity + 1))
        messages[places.reshape(-1)] = count + groups
        count += int(groups.max(initial=-1)) + 1
    return messages


def _to_factors(graph: FactorGraph, roles: Ints, messages: Ints, hub: NDArray[np.bool_]) -> Ints:
    """Messages from variables: (role, messages of their other factors); hubs send their name."""
    keys = np.empty(len(graph.arguments), dtype=np.int64)
    by_variable = np.lexsort((messages, graph.arguments))  # each variable's messages, sorted
    starts = np.cumsum(graph.degrees) - graph.degrees
    count = 0
    degrees = np.where(hub, 0, graph.degrees)
    for degree in np.flatnonzero(np.bincount(degrees, minlength=1)).tolist():
        variables = np.flatnonzero(degrees == degree)
        if not degree:
            continue
        places = by_variable[starts[variables, None] + np.arange(degree)]
        others = np.array(
            [[other for other in range(degree) if other != one] for one in range(degree)],
            dtype=np.int64,
        )
        rows = np.empty((len(variables), degree, degree), dtype=np.int64)
        rows[:, :, 0] = roles[variables, None]
        rows[:, :, 1:] = messages[places][:, others.reshape(degree, degree - 1)]
        groups = group_rows(rows.reshape(-1, degree))
        keys[places.reshape(-1)] = count + groups
        count += int(groups.max(initial=-1)) + 1
    shared = hub[graph.arguments]
    keys[shared] = count + graph.arguments[shared]
    return keys
