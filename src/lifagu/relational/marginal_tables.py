"""Marginals as tables: a long one with a row for each label, and a wide one for each relation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Floats, Ints, offsets_of
from lifagu.basics.columns import (
    MOST_BYTES,
    Column,
    Columns,
    FreeNames,
    KeyColumn,
    ResultTable,
    Wide,
    plain_name,
    taken,
    texts,
)
from lifagu.graph.assembly import taken_lists
from lifagu.relational.key_columns import FIXED, Keys

LONG = "marginals"
MOST_LABELS = 200  # of a relation that has a wide table


@dataclass(frozen=True, eq=False)
class MarginalTables:
    """n marginals: of whom, who that is, and distributions[of[i]] of the i-th: label → probability.

    Few distributions may be those of many variables.
    """

    variables: Column
    keys: Keys
    of: Ints
    distributions: Sequence[Mapping[str, float]]

    @property
    def rows(self) -> Ints:
        """For each row of the long table the number of its marginal."""
        sizes = np.array([len(each) for each in self.distributions], dtype=np.int64)
        return np.repeat(np.arange(len(self.of)), sizes[self.of])

    def long(self) -> dict[str, Column]:
        """A row for each label of each variable."""
        sizes = np.array([len(each) for each in self.distributions], dtype=np.int64)
        labels = [label for each in self.distributions for label in each]
        shares = [share for each in self.distributions for share in each.values()]
        places, _ = taken_lists(offsets_of(sizes), np.arange(len(labels)), self.of)
        rows = self.rows
        return {
            "variable": taken(self.variables, rows),
            **{title: taken(each, rows) for title, each in self.keys.columns.items()},
            "value": texts(labels, places),
            "probability": np.array(shares, dtype=np.float64)[places],
        }

    def tables(self) -> dict[str, Columns]:
        """The long table, and the wide one of each relation."""
        return {LONG: ResultTable(self.long()), **self.wide()}

    def wide(self) -> dict[str, Wide]:
        """One row for each individual: the probability of each label, and the likeliest one."""
        free = FreeNames(most_bytes=MOST_BYTES - len("lifagu_"))  # which databases put before it
        return {
            free.taken(f"wide_{plain_name(relation)}"): self._wide(relation, mine)
            for relation, mine in self._of_relations()
        }

    def _of_relations(self) -> Iterator[tuple[str, Ints]]:
        """The marginals of each relation about somebody, unless it has too many labels."""
        heads = self.keys.columns.get(self.keys.head)
        if not isinstance(heads, KeyColumn):
            return
        for code, relation in enumerate(heads.values.tolist()):
            mine = np.flatnonzero(heads.codes == code)
            if len(mine) and self.keys.of[relation] and len(self._labels(mine)) <= MOST_LABELS:
                yield relation, mine

    def _labels(self, mine: Ints) -> list[str]:
        return list(self.distributions[int(self.of[mine[0]])])

    def _wide(self, relation: str, mine: Ints) -> Wide:
        labels = self._labels(mine)
        met, places = np.unique(self.of[mine], return_inverse=True)
        each = [list(self.distributions[number].values()) for number in met.tolist()]
        shares: Floats = np.array(each, dtype=np.float64)[places.reshape(-1)]
        keys = self.keys.of[relation]
        free = FreeNames([*FIXED, *keys])
        titles = {label: free.taken(f"p_{label.lower()}") for label in labels}
        likeliest = shares.argmax(axis=1)  # of equal ones the first
        columns: dict[str, Column] = {
            "variable": taken(self.variables, mine),
            **{key: taken(self.keys.columns[key], mine) for key in keys},
            **{title: shares[:, place] for place, title in enumerate(titles.values())},
            "most_probable": texts(labels, likeliest),
            "probability": shares[np.arange(len(shares)), likeliest],
        }
        return Wide(relation, keys, titles, columns)
