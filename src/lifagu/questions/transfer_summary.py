"""What a transfer lent to whom and what it left: a line for each kind of factor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Floats, Ints, first_places, group_lists, group_rows
from lifagu.basics.words import stem
from lifagu.filling.record import OF_CLASSES
from lifagu.filling.record_columns import RecordColumns, record_columns
from lifagu.filling.result import Transfer
from lifagu.graph.assembly import taken_lists
from lifagu.graph.factor_graph import FactorGraph

# single factors, whole individuals, hidden cohorts
UNITS = ("factor", "individual", "cohort")


@dataclass(frozen=True)
class Lent:
    """Unknown factors of one kind that took the same table in the same way.

    factors: the kind, such as ``intake(Age, Sick, Epid)``; first: the first of them. donor: whose
    table it is, the one declared first if several lend it; potentials: what it holds, in the order
    of the donor's arguments. unit: what was compared, as in UNITS; ties: for how many of them
    another table was as frequent. candidates: how many could lend, tables: how many different ones
    they have, both at most; way: what answers use, as in `Filling.combine`. guesses: for how many
    of them the best table, which they take, is hardly better than a guess.
    """

    factors: str
    count: int
    first: str
    donor: str
    potentials: tuple[float, ...]
    unit: str
    lowest_share: float
    highest_share: float
    ties: int
    candidates: int
    tables: int
    way: str
    guesses: int

    @property
    def takes(self) -> str:
        """What they take, in words."""
        if self.unit == "cohort" and self.way != "best":
            return OF_CLASSES
        return f"the table of {self.donor}"


@dataclass(frozen=True)
class Left:
    """Unknown factors of one kind that stay unknown for the same reason, worded for the first.

    lowest_share, highest_share: of the candidates that agree; None without candidates.
    """

    factors: str
    count: int
    first: str
    status: str
    lowest_share: float | None
    highest_share: float | None
    reason: str


def summary(
    moved: Transfer, sizes: Ints | None = None
) -> tuple[tuple[Lent, ...], tuple[Left, ...]]:
    """What was lent, and what was left, the most frequent first within each kind.

    sizes[f]: how many factors each factor stands for, None for one each.

    >>> from lifagu.filling.transfer import transfer
    >>> graph = FactorGraph.build().variables(["A", "B", "C", "D"])
    >>> graph = graph.factor("f1", ["A", "B"], [1, 2, 3, 4])
    >>> graph = graph.factor("f2", ["C", "B"], None).factor("g", ["D"], None).graph()
    >>> lent, left = summary(transfer(graph))
    >>> lent[0].first, lent[0].donor, lent[0].highest_share, left[0].status
    ('f2', 'f1', 1.0, 'no_candidate')
    """
    records = record_columns(moved)
    many = np.ones(len(moved.unknown), dtype=np.int64) if sizes is None else sizes[moved.unknown]
    sorts, titles = factor_sorts(moved.original, moved.unknown)
    left = [
        Left(
            titles[int(sorts[group[0]])],
            int(many[group].sum()),
            moved.original.factor_names[int(moved.unknown[group[0]])],
            str(records.status[group[0]]),
            *_ends(records.share[group]),
            str(records.reason[group[0]]),
        )
        for group in _groups(many, sorts, np.flatnonzero(records.donors < 0), moved.statuses)
    ]
    return tuple(_lent(moved, records, many, sorts, titles)), tuple(left)


def _lent(
    moved: Transfer, records: RecordColumns, many: Ints, sorts: Ints, titles: Sequence[str]
) -> Iterator[Lent]:
    """What was lent; many: how many factors each one stands for."""
    names, donors, shares = moved.original.factor_names, records.donors, records.share
    units, *keys = _taken_alike(moved, records)
    for group in _groups(many, sorts, np.flatnonzero(donors >= 0), units, *keys):
        donor, unit = int(donors[group].min()), UNITS[int(units[group[0]])]
        yield Lent(
            titles[int(sorts[group[0]])],
            int(many[group].sum()),
            names[int(moved.unknown[group[0]])],
            names[donor],
            _potentials(moved, donor),
            unit,
            float(shares[group].min()),
            float(shares[group].max()),
            int(many[group][records.tie[group]].sum()),
            int(records.candidates[group].max()),
            int(records.tables[group].max()),
            moved.way_of(unit),
            int(many[group][records.guess[group]].sum()),
        )


def _taken_alike(moved: Transfer, records: RecordColumns) -> tuple[Ints, Ints]:
    """For each unknown factor: what was compared, a place in UNITS; and its table."""
    tables = moved.graph.factor_table[moved.unknown]
    units = np.where(records.unit == "individual", 1, np.where(records.unit == "cohort", 2, 0))
    if moved.way != "best":  # by cohorts, each takes something of its own
        tables = np.where(units == 2, -1, tables)
    return units, tables


def _ends(shares: Floats) -> tuple[float | None, float | None]:
    """The smallest and the largest share, None where there are none."""
    return (
        (None, None)
        if np.isnan(shares).all()
        else (float(np.nanmin(shares)), float(np.nanmax(shares)))
    )


def _groups(many: Ints, sorts: Ints, places: Ints, *keys: Ints) -> list[Ints]:
    """Places with equal sorts and keys: by first sort, then the largest groups first.

    many: how many factors each place stands for.
    """
    if not len(places):
        return []
    alike = group_rows(np.column_stack([sorts[places], *(key[places] for key in keys)]))
    sizes, first = np.bincount(alike), first_places(alike)
    total = np.bincount(alike, many[places]).astype(np.int64)
    ordered = np.lexsort((first, -total, sorts[places[first]]))
    by_group = np.split(places[np.argsort(alike, kind="stable")], np.cumsum(sizes)[:-1])
    return [by_group[number] for number in ordered.tolist()]


def factor_sorts(graph: FactorGraph, factors: Ints) -> tuple[Ints, list[str]]:
    """The kind of each of these factors, numbered by first occurrence, and the kinds in words.

    Factors of one kind have arguments of equal kinds (ranges, where none is declared) in the same
    order, and names made from the same parfactor where there is one.
    """
    kinds = np.where(
        graph.variable_kind >= 0, graph.variable_kind, len(graph.kinds) + graph.variable_range
    )
    arguments, ends = taken_lists(graph.offsets, kinds[graph.arguments], factors)
    scopes = group_lists(np.concatenate(([0], ends - graph.offsets[-1])), arguments)
    sorts = group_rows(np.column_stack((scopes, graph.factor_names.origins(factors))))
    titles = [_title(graph, int(factors[place])) for place in first_places(sorts).tolist()]
    return sorts, titles


def _title(graph: FactorGraph, factor: int) -> str:
    """Such as ``intake(Age, Sick, Epid)``: what begins the name, and the arguments' kinds."""
    name = stem(graph.factor_names[factor])
    kinds = [
        graph.kinds[kind] if kind >= 0 else "?"
        for kind in graph.variable_kind[graph.scope(factor)].tolist()
    ]
    return f"{name}({', '.join(kinds)})" if set(kinds) - {"?"} else name


def _potentials(moved: Transfer, donor: int) -> tuple[float, ...]:
    """The table that was taken."""
    table = moved.original.factors[donor].table
    return () if table is None else tuple(table.reshape(-1).tolist())
