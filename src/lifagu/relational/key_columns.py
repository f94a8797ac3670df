"""Who a ground variable or factor is about, by column, as databases know it.

The relation (or parfactor), and a column for each domain with the constants as they came in; so
tables of results can be joined with the tables that a template reads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from lifagu.basics.arrays import Ints, owners, places_within
from lifagu.basics.columns import Column, FreeNames, KeyColumn, Lists, plain_name, taken, texts
from lifagu.basics.names import ChosenNames, CopiedNames, JoinedNames, Names
from lifagu.graph.assembly import taken_lists
from lifagu.graph.factor_graph import FactorGraph
from lifagu.relational.domains import Domain
from lifagu.relational.ground_names import GroundNames, RowNames

# what no column of a domain may be called
FIXED = (
    *("variable", "relation", "kind", "individual", "value", "probability", "lower", "upper"),
    *("own_transferred", "own_weakest_share", "transferred", "weakest_share", "guesses"),
    *("most_probable", "highest"),
)


class Keys(NamedTuple):
    """Columns that say who, and for each relation which of them do, by its name.

    head: the column with the relation itself, "" where there are no relations.
    """

    head: str
    columns: dict[str, Column]
    of: dict[str, tuple[str, ...]]

    def taken(self, places: Ints) -> Keys:
        """Those of some rows, in another order."""
        return self._replace(
            columns={title: taken(each, places) for title, each in self.columns.items()}
        )


NO_KEYS = Keys("", {}, {})


class _Met(NamedTuple):
    """Nodes of one relation: their places among all that are asked for, and rows of constants.

    renaming: for whoever was copied the one who has the copies.
    """

    places: Ints
    names: RowNames
    rows: Ints
    renaming: dict[str, str]

    def copied(self, old: str, new: str) -> _Met:
        """The same of copies."""
        known = {each: new if now == old else now for each, now in self.renaming.items()}
        return self._replace(renaming={old: new} | known)


def keys_of(names: Names, nodes: Ints, head: str, fixed: Sequence[str]) -> Keys:
    """Who these nodes are about; no columns where names come from no relations.

    head: "relation" or "parfactor"; fixed: what no column of a domain may be called. Every domain
    of any relation has its columns, so that these do not depend on what is asked for.
    """
    lists = _lists(names)
    if not lists:
        return NO_KEYS
    free = FreeNames(fixed)
    columns: dict[str, Column] = {}
    of: dict[str, tuple[str, ...]] = {}
    titles: dict[tuple[str, int], str] = {}
    for each in lists:
        for key in _numbered(each.domains):
            if key not in titles:
                again = f"_{key[1]}" if key[1] > 1 else ""
                titles[key] = free.taken(f"{plain_name(key[0])}{again}")
        of[each.prefix] = tuple(titles[key] for key in _numbered(each.domains))
    met = list(_located(names, nodes, np.arange(len(nodes))))
    codes, places = np.full(len(nodes), -1, dtype=np.int64), list(of)
    for part in met:
        codes[part.places] = places.index(part.names.prefix)
    columns[head] = KeyColumn(texts(places), codes)
    domains = {domain.name: domain for each in lists for domain in each.domains}
    for key, title in titles.items():
        columns[title] = _constants(domains[key[0]], key, met, len(nodes))
    return Keys(head, columns, of)


def kind_columns(kinds: Sequence[str | None], individuals: Lists) -> dict[str, Column]:
    """Kinds and individuals of variables without relations, where any of them has some.

    Whoever belongs to several has them in ``individual``, ``individual_2``, …

    >>> lists = Lists(np.array([0, 1, 1, 3]), texts(["eve", "al", "bo"]))
    >>> found = kind_columns([None, None, None], lists)
    >>> {title: column.tolist() for title, column in found.items()}
    {'individual': ['eve', None, 'al'], 'individual_2': [None, None, 'bo']}
    """
    columns: dict[str, Column] = {}
    if any(kind is not None for kind in kinds):
        columns["kind"] = np.array([*kinds, None], dtype=object)[:-1]
    lengths = np.diff(individuals.offsets)
    rows, places = owners(individuals.offsets), places_within(lengths)
    for place in range(int(lengths.max(initial=0))):
        codes = np.full(len(lengths), -1, dtype=np.int64)
        codes[rows[places == place]] = np.flatnonzero(places == place)
        title = f"individual_{place + 1}" if place else "individual"
        columns[title] = texts(individuals.values.tolist(), codes)
    return columns


def _kinds_of(graph: FactorGraph, variables: Ints) -> dict[str, Column]:
    """The same of variables of a graph."""
    ids, ends = taken_lists(graph.individual_offsets, graph.individual_ids, variables)
    offsets = np.concatenate(([0], ends - graph.individual_offsets[-1]))
    kinds = texts(graph.kinds, graph.variable_kind[variables]).tolist()
    return kind_columns(kinds, Lists(offsets, texts(graph.individuals, ids)))


def variable_keys(graph: FactorGraph, variables: Ints) -> Keys:
    """Who these variables are about: relation and constants, else kind and individuals."""
    found = keys_of(graph.variable_names, variables, "relation", FIXED)
    return found if found.head else Keys("", _kinds_of(graph, variables), {})


def _numbered(domains: Sequence[Domain]) -> list[tuple[str, int]]:
    """Each domain with how often it has occurred: the first, the second one, …"""
    met: Counter[str] = Counter()
    found = []
    for domain in domains:
        met[domain.name] += 1
        found.append((domain.name, met[domain.name]))
    return found


def _lists(names: Names) -> tuple[RowNames, ...]:
    """The relations behind names."""
    if isinstance(names, GroundNames):
        return names.rows
    if isinstance(names, ChosenNames | CopiedNames):
        return _lists(names.names)
    return _lists(names.parts[0]) if isinstance(names, JoinedNames) else ()


def _located(names: Names, nodes: Ints, places: Ints) -> Iterator[_Met]:
    """The nodes relation by relation; others are left out. places[i]: that of nodes[i]."""
    if isinstance(names, ChosenNames):
        yield from _located(names.names, names.numbers[nodes], places)
    elif isinstance(names, JoinedNames):
        first, more = names.parts
        inside = nodes < len(first)
        yield from _located(first, nodes[inside], places[inside])
        if isinstance(more, CopiedNames):
            outside, own = nodes[~inside] - len(first), places[~inside]
            for number in np.unique(more.whose[outside]).tolist():
                mine = more.whose[outside] == number
                for part in _located(more.names, more.nodes[outside[mine]], own[mine]):
                    yield part.copied(*more.renamings[number])
    elif isinstance(names, GroundNames):
        which = names.origins(nodes)
        for number, each in enumerate(names.rows, start=1):
            own = np.flatnonzero(which == number)
            if len(own):
                yield _Met(places[own], each, each.rows[nodes[own] - names.start(number)], {})


def _constants(domain: Domain, key: tuple[str, int], met: Sequence[_Met], count: int) -> KeyColumn:
    """The constants of one domain, for each node; whoever was added has a name of their own."""
    numbers = np.full(count, -1, dtype=np.int64)
    added: list[str] = []
    for each in met:
        of = _numbered(each.names.domains)
        if key not in of:
            continue
        own = each.rows[:, of.index(key)]
        for old, new in each.renaming.items():
            copied = domain.find(old.removeprefix(f"{domain.name}:"))
            if copied is not None and (own == copied).any():
                own = np.where(own == copied, domain.size + len(added), own)
                added.append(new)
        numbers[each.places] = own
    return domain.column(numbers, added)
