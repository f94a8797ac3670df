"""Two rules that fill holes by counting, to see what they are worth: naive, on small graphs.

What a rule offers for the holes of an individual are *completions*: weights that sum to 1, and for
each of its holes as many tables, axes as the hole lists its arguments. They are used in three ways:
the weightiest tables, their mean, or answers averaged over them (`mixture.py`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import islice, product
from typing import NamedTuple

import numpy as np

import lifagu
from research.harness import Floats

MOST = 256  # completions of an individual whose holes are filled one by one
Signature = tuple[tuple[object, ...], ...]
Token = tuple[bytes, ...]


class OwnCompletions(NamedTuple):
    """What an individual's holes may be: weights, and for each of its holes as many tables."""

    weights: Floats
    tables: dict[int, list[Floats]]


Offered = dict[str, OwnCompletions]  # by individual


class Place(NamedTuple):
    """Where a factor stands: its owner, the sorted roles of its arguments, and their order."""

    owner: str
    signature: Signature
    order: tuple[int, ...]


def places(graph: lifagu.FactorGraph) -> list[Place]:
    """Of each factor; an argument's role is its range, its degree, and its kind if it has one."""
    variables = {each.name: each for each in graph.variables}
    factors = list(graph.factors)
    degree = Counter(argument for factor in factors for argument in factor.arguments)
    found = []
    for factor in factors:
        own = [variables[name] for name in factor.arguments]
        roles = [(sorted(each.range), degree[each.name], each.kind or "") for each in own]
        order = sorted(range(len(roles)), key=lambda place, roles=roles: roles[place])
        signature = tuple((*roles[place][0], *roles[place][1:]) for place in order)
        owners = [name for each in own for name in each.individuals]
        found.append(Place(owners[0] if owners else "", signature, tuple(order)))
    return found


def by_share(graph: lifagu.FactorGraph) -> Offered:
    """Each hole by itself: the tables in places with its signature, by how many have them."""
    where, tables = places(graph), [factor.table for factor in graph.factors]
    known: dict[Signature, list[Floats]] = defaultdict(list)
    for place, table in zip(where, tables, strict=True):
        if table is not None:
            known[place.signature].append(table.transpose(place.order))
    holes = _holes(where, tables)
    return {
        owner: _apart({hole: _counted(known[where[hole].signature]) for hole in own}, where)
        for owner, own in holes.items()
    }


def by_profile(graph: lifagu.FactorGraph) -> Offered:
    """All holes of an individual together, from those who agree with it in most known places.

    Only who has a table wherever the individual has a hole can lend; where nobody has, each hole is
    filled by itself. A table that occurs but once agrees with nobody and so tells nothing.
    """
    where, tables = places(graph), [factor.table for factor in graph.factors]
    seen: dict[str, dict[Signature, list[Floats]]] = defaultdict(lambda: defaultdict(list))
    for place, table in zip(where, tables, strict=True):
        if table is not None and place.owner:
            seen[place.owner][place.signature].append(table.transpose(place.order))
    tokens = {
        owner: {signature: _token(own) for signature, own in profile.items()}
        for owner, profile in seen.items()
    }
    alone, found = by_share(graph), {}
    for owner, own in _holes(where, tables).items():
        wanted = Counter(where[hole].signature for hole in own)
        profile = {name: each for name, each in tokens.get(owner, {}).items() if name not in wanted}
        donors = [
            other
            for other in tokens
            if other != owner
            and all(len(seen[other][each]) >= many for each, many in wanted.items())
        ]
        if not donors:
            found[owner] = alone[owner]
            continue
        agreed = {
            other: sum(tokens[other].get(name) == each for name, each in profile.items())
            for other in donors
        }
        best = [other for other in donors if agreed[other] == max(agreed.values())]
        found[owner] = _together(own, [seen[other] for other in best], where)
    return found


def weightiest(offered: Offered) -> dict[int, Floats]:
    """Each hole with its table in the weightiest completion; the first of equals."""
    return {
        hole: each[int(np.argmax(own.weights))]
        for own in offered.values()
        for hole, each in own.tables.items()
    }


def averaged(offered: Offered) -> dict[int, Floats]:
    """Each hole with the weighted mean of its tables, each scaled to sum 1."""
    return {
        hole: np.einsum("c,c...->...", own.weights, [table / table.sum() for table in each])
        for own in offered.values()
        for hole, each in own.tables.items()
    }


# ---- one by one, and together


def _holes(where: Sequence[Place], tables: Sequence[Floats | None]) -> dict[str, list[int]]:
    holes: dict[str, list[int]] = defaultdict(list)
    for number, (place, table) in enumerate(zip(where, tables, strict=True)):
        if table is None:
            holes[place.owner].append(number)
    return holes


def _counted(tables: Sequence[Floats]) -> list[tuple[float, Floats]]:
    """Different tables with their shares, the commonest first, then the first declared."""
    first = {table.tobytes(): table for table in reversed(tables)}
    count = Counter(table.tobytes() for table in tables)
    return [(many / len(tables), first[key]) for key, many in count.most_common()]


def _apart(
    alternatives: Mapping[int, list[tuple[float, Floats]]], where: Sequence[Place]
) -> OwnCompletions:
    """Combinations of tables that are chosen hole by hole, at most so many; ones where none are."""
    holes = [hole for hole, each in alternatives.items() if each]
    chosen = list(islice(product(*(alternatives[hole] for hole in holes)), MOST))
    weights = np.array([np.prod([share for share, _ in each]) for each in chosen])
    tables = {
        hole: [_listed(each[place][1], where[hole]) for each in chosen]
        for place, hole in enumerate(holes)
    }
    return OwnCompletions(weights / weights.sum(), tables)


def _together(
    holes: Sequence[int], donors: Sequence[Mapping[Signature, list[Floats]]], where: Sequence[Place]
) -> OwnCompletions:
    """The tables of whole donors, equal ones counted together."""
    count: Counter[Token] = Counter()
    tables: dict[Token, list[Floats]] = {}
    for donor in donors:
        left = {signature: iter(own) for signature, own in donor.items()}
        own = [_listed(next(left[where[hole].signature]), where[hole]) for hole in holes]
        count[_token(own)] += 1
        tables.setdefault(_token(own), own)
    kept = [key for key, _ in count.most_common()]
    weights = np.array([count[key] for key in kept]) / count.total()
    return OwnCompletions(
        weights, {hole: [tables[key][place] for key in kept] for place, hole in enumerate(holes)}
    )


def _token(tables: Sequence[Floats]) -> Token:
    return tuple(np.ascontiguousarray(table).tobytes() for table in tables)


def _listed(table: Floats, place: Place) -> Floats:
    """A table in the order of sorted roles, with its axes as the hole lists its arguments."""
    return np.ascontiguousarray(table.transpose(np.argsort(place.order)))
