"""Rows in a database: a table per arity, a label and the variables in its slots, all different."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from lifagu.scale.eliminating.labelled_tables import LabelledTables
from lifagu.scale.eliminating.work import Work, columns, listed, union, values

MOST_LABELS = 20_000  # different tables that rows may have: each is computed here, one at a time


class ObstacleError(Exception):
    """Why the rows cannot be made fewer by statements that serve many of them at once."""


@dataclass
class StoredRows:
    """All rows by arity and label.

    tables[k]: the name of the table (label, v0 … vk-1) with all rows of arity k; counts[k]: rows by
    label; next_id: beyond all ids of variables; merged: whether no equal rows were left apart.
    """

    work: Work
    labels: LabelledTables
    tables: dict[int, str] = field(default_factory=dict)
    counts: dict[int, dict[int, int]] = field(default_factory=dict)
    next_id: int = 0
    merged: bool = False

    @property
    def arguments(self) -> int:
        """Number of arguments of all rows."""
        return sum(arity * sum(counts.values()) for arity, counts in self.counts.items())

    @property
    def count(self) -> int:
        """Number of rows."""
        return sum(sum(counts.values()) for counts in self.counts.values())

    @property
    def width(self) -> int:
        """A number larger than every slot, by which a place (label, slot) becomes one number."""
        return max(self.tables, default=0) + 1

    def place(self, label: int, slot: int) -> int:
        """The number of a place."""
        return label * self.width + slot

    def label_slot(self, place: int) -> tuple[int, int]:
        """The label and the slot of a place."""
        return divmod(place, self.width)

    def arity_of(self) -> dict[int, int]:
        """The arity of each label in use."""
        return {label: arity for arity, counts in self.counts.items() for label in counts}

    def entries(self, others: int = 0) -> str:
        """A query for places of variables: v, place, and others in the row (o0, …) or null."""
        found = []
        for arity, table in sorted(self.tables.items()):
            for slot in range(arity):
                beside = [f"v{other}" for other in range(arity) if other != slot][:others]
                beside += ["CAST(NULL AS BIGINT)"] * (others - len(beside))
                near = "".join(f", {each} AS o{number}" for number, each in enumerate(beside))
                found.append(
                    f"""
                    SELECT
                        v{slot} AS v,
                        CAST(label * {self.width} + {slot} AS BIGINT) AS place{near}
                    FROM {table}
                    """
                )
        return union(found)

    def degrees(self) -> str:
        """A table with the number of places of each variable (many), and its least place."""
        return self.work.store(
            "degrees",
            f"""
            WITH entries AS (
                {self.entries()}
            )
            SELECT v, count(*) AS many, min(place) AS place
            FROM entries
            GROUP BY v
            """,
        )

    def fresh(self) -> int:
        """The id of a new variable."""
        self.next_id += 1
        return self.next_id - 1

    def replaced(self, queries: dict[int, list[str]]) -> None:
        """Rows of these arities are those of the queries from now on, equal ones merged."""
        old = [self.tables[arity] for arity in queries if arity in self.tables]
        for arity, parts in queries.items():
            self.tables.pop(arity, None)
            self.counts.pop(arity, None)
            if parts:
                self._merged(arity, union(parts))
        self.work.drop(*old)

    def _merged(self, arity: int, query: str) -> None:
        """Equal rows become one with a table to the power of their number."""
        slots = listed(columns(arity))
        grouped = self.work.store(
            f"rows_{arity}",
            f"""
            WITH parts AS (
                {query}
            )
            SELECT label, {slots}, count(*) AS many
            FROM parts
            GROUP BY label, {slots}
            """,
        )
        found = self.work.rows(
            f"""
            SELECT label, many, count(*)
            FROM {grouped}
            GROUP BY label, many
            ORDER BY label, many
            """
        )
        if not found:
            return
        if len(found) > MOST_LABELS:  # too many new tables: they stay apart
            self._unmerged(arity, query)
            return
        new: dict[tuple[int, int], int] = {}
        counts: dict[int, int] = {}
        for label, many, rows in found:
            merged = new[label, many] = label if many == 1 else self.labels.power(label, many, rows)
            counts[merged] = counts.get(merged, 0) + rows
        self.tables[arity], self.counts[arity] = grouped, counts
        if any(many > 1 for _, many, _ in found):
            self.tables[arity] = self._relabelled(arity, grouped, new)
        # a table to a power may be one that stands there already
        if len(set(new.values())) < len(new):
            self._merged(arity, projected(self.tables[arity], "label", range(arity)))

    def _relabelled(self, arity: int, grouped: str, new: dict[tuple[int, int], int]) -> str:
        """A table of grouped rows, with the label that is new for their label and number."""
        named = values(["old", "times", "label"], [(*key, label) for key, label in new.items()])
        shown = listed(f"g.{slot} AS {slot}" for slot in columns(arity))
        return self.work.store(
            f"rows_{arity}",
            f"""
            SELECT CAST(n.label AS BIGINT) AS label, {shown}
            FROM {grouped} AS g
            JOIN {named} AS n ON g.label = n.old AND g.many = n.times
            """,
        )

    def _unmerged(self, arity: int, query: str) -> None:
        """All rows of a query as they are."""
        self.merged = False
        self.tables[arity] = self.work.store(f"rows_{arity}", query)
        self.counts[arity] = dict(
            self.work.rows(
                f"""
                SELECT label, count(*)
                FROM {self.tables[arity]}
                GROUP BY label
                ORDER BY label
                """
            )
        )


def projected(table: str, label: str, slots: Sequence[int], where: str = "1 = 1") -> str:
    """A query for some slots of a table's rows, with a new label."""
    shown = "".join(f", v{slot} AS v{number}" for number, slot in enumerate(slots))
    return f"""
        SELECT CAST({label} AS BIGINT) AS label{shown}
        FROM {table}
        WHERE {where}
        """
