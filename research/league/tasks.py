"""What the league asks: which cells of which database are hidden, and what is known beside them.

*Autocomplete* hides cells by chance. *As it really is* hides those that are missing together in
another row of the same table. *New individuals* are rows of which only some cells are known, *new
groups* all rows of a hospital or a lecturer but for a few. *Learning curves* leave out most rows,
while the hidden cells stay the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.league.holes import Holes, Observed

HIDDEN = 0.2  # of the cells, by chance
TESTED, TESTED_CELLS = 0.2, 0.4  # rows of a learning curve that are asked about, and their cells
NEW_ROWS = 100  # of each sort: so many of whom no cell is known, so many of whom one is, …
KNOWN = (0, 1, 3, 10)  # own cells of new rows, own rows of new groups
LEFT = 3  # cells that are known of the other rows of a new group
SHARES = (0.05, 0.1, 0.3, 1.0)  # of the rows
Ints = NDArray[np.int64]
Tables = Mapping[str, Any]
Hide = Callable[[Sequence[Observed], Tables, np.random.Generator], Holes]


@dataclass(frozen=True)
class Task:
    """One question of the league: its kind, the database, what is hidden, and how much is left.

    group: the column whose rows stand or fall together; empty where every row is for itself.
    """

    kind: str
    database: str
    hide: Hide
    left: str = ""
    group: str = ""

    @property
    def name(self) -> str:
        """In words, as files are called."""
        return " ".join(filter(None, (self.kind, self.database, self.left)))


def _by_chance(seen: Sequence[Observed], _: Tables, draw: np.random.Generator) -> Holes:
    return Holes({each.relation: each.rows[draw.random(len(each.rows)) < HIDDEN] for each in seen})


def _as_it_is(seen: Sequence[Observed], tables: Tables, draw: np.random.Generator) -> Holes:
    """Each row loses the cells that some other row of its table does not have."""
    donors = {
        table: draw.permutation(len(tables[table])) for table in sorted({s.table for s in seen})
    }
    return Holes(
        {
            each.relation: each.rows[~np.isin(donors[each.table][each.rows], each.rows)]
            for each in seen
        }
    )


def _new_rows(
    count: int, seen: Sequence[Observed], tables: Tables, draw: np.random.Generator
) -> Holes:
    """Some new rows of which no cell is known, as many of which one is, and so on."""
    rows = draw.permutation(len(tables[seen[0].table]))
    kinds = np.full(len(rows), "", dtype=object)
    cells: dict[str, Ints] = {}
    for place, known in enumerate(KNOWN):
        new = rows[place * count : (place + 1) * count]
        kinds[new] = f"{known} cells"
        _add(cells, _all_but(known, seen, new, draw))
    return Holes(cells, kinds=kinds.tolist())


def _new_groups(
    column: str, count: int, seen: Sequence[Observed], tables: Tables, draw: np.random.Generator
) -> Holes:
    """Some new groups of which no row is known, as many of which one is, and so on.

    Of the other rows some cells are known, if more than one is asked about.
    """
    groups = tables[seen[0].table][column]
    shuffled = draw.permutation(np.unique(groups.dropna()))
    place = groups.groupby(groups).cumcount()
    kinds = np.full(len(groups), "", dtype=object)
    cells: dict[str, Ints] = {}
    for number, known in enumerate(KNOWN):
        new = shuffled[number * count : (number + 1) * count]
        rows = np.flatnonzero((groups.isin(new) & (place >= known)).to_numpy())
        kinds[rows] = f"{known} rows"
        _add(cells, _all_but(min(LEFT, len(seen) - 1), seen, rows, draw))
    return Holes(cells, kinds=kinds.tolist())


def _add(cells: dict[str, Ints], more: Mapping[str, Ints]) -> None:
    for relation, rows in more.items():
        cells[relation] = np.concatenate((cells.get(relation, rows[:0]), rows))


def _some_rows(
    share: float, seen: Sequence[Observed], tables: Tables, draw: np.random.Generator
) -> Holes:
    """Cells of a fifth of the rows; of the other rows, so many are left out."""
    table = seen[0].table
    rows = draw.permutation(len(tables[table]))
    tested, others = np.split(rows, [round(TESTED * len(rows))])
    cells = {
        each.relation: each.rows[
            np.isin(each.rows, tested) & (draw.random(len(each.rows)) < TESTED_CELLS)
        ]
        for each in seen
    }
    return Holes(cells, {table: others[round(share * len(others)) :]})


def _all_but(
    known: int, seen: Sequence[Observed], rows: Ints, draw: np.random.Generator
) -> dict[str, Ints]:
    """The cells of rows, but for so many of each row by chance."""
    own = np.concatenate([each.rows for each in seen])
    whose = np.repeat(np.arange(len(seen)), [len(each.rows) for each in seen])
    order = np.lexsort((draw.random(len(own)), own))  # the cells of each row in some order
    first = np.r_[True, own[order][1:] != own[order][:-1]]
    place = np.arange(len(own)) - np.maximum.accumulate(np.where(first, np.arange(len(own)), 0))
    hidden = order[(place >= known) & np.isin(own[order], rows)]
    return {
        each.relation: np.sort(own[hidden[whose[hidden] == number]])
        for number, each in enumerate(seen)
    }


def _tasks() -> Iterator[Task]:
    for name in ("eicu", "insteval", "portal", "schools", "uwcse", "webkb"):
        yield Task("autocomplete", name, _by_chance)
    for name in ("eicu", "portal"):
        yield Task("as it really is", name, _as_it_is)
    for name in ("eicu", "schools"):
        yield Task("new individuals", name, partial(_new_rows, NEW_ROWS))
    for name, column, count in (("eicu", "hospital", 15), ("schools", "School", 15)):
        yield Task("new groups", name, partial(_new_groups, column, count), group=column)
    yield Task("new groups", "insteval", partial(_new_groups, "d", 100), group="d")
    for name in ("eicu", "portal", "schools"):
        for share in SHARES[:-1] if name == "eicu" else SHARES:  # autocomplete is almost the last
            yield Task("learning curve", name, partial(_some_rows, share), f"{share:.0%}")


TASKS = tuple(_tasks())
