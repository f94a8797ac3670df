"""Paths from one subject to another: along links to whom one belongs, and through lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.drafting.asking import quoted
from lifagu.drafting.keys import Link
from lifagu.drafting.naming import capitalised
from lifagu.drafting.seen import SeenTable
from lifagu.drafting.subjects import DraftSubject

CROWD = 3  # individuals that belong to one, on average
MOST_NEIGHBOURS = 200_000  # rows of a list that are walked along


@dataclass(frozen=True, eq=False)
class LinkPath:
    """Who goes with whom: rows[m] of one subject, others[m] of another, both as sampled.

    sql: the query for all such pairs, columns called as the variables; variables: those of the
    other subject, which are called otherwise where both speak of the same domain.
    """

    subject: DraftSubject
    other: DraftSubject
    rows: Ints
    others: Ints
    variables: tuple[str, ...]
    sql: str
    told: str

    @property
    def is_crowded(self) -> bool:
        """Whether so many belong to one that they would shout it down.

        A gap of the one would be told by each of them as if the others had said nothing, and so far
        too surely. Lists say what they have in common.
        """
        return len(self.rows) > CROWD * len(np.unique(self.others))

    def atom(self, name: str) -> str:
        """A relation of the other subject as it stands among the arguments of a parfactor."""
        return f"{name}({', '.join(self.variables)})"


@dataclass(frozen=True, eq=False)
class PathFinder:
    """Finds paths; subject_of: the one that each table is about."""

    tables: Mapping[str, SeenTable]
    links: Sequence[Link]
    subject_of: Mapping[str, DraftSubject]

    def up(self, subject: DraftSubject) -> Iterator[LinkPath]:
        """To those that its individuals belong to, and to those that these belong to."""
        for table in (subject.name, *subject.sides):
            for first in self._links(table):
                if self._is_own(subject, first):
                    continue
                path = self._along(subject, [first])
                if path is not None:
                    yield path
                    for second in self._links(path.other.name):
                        if second.target != subject.name:
                            longer = self._along(subject, [first, second])
                            if longer is not None:
                                yield longer

    def across(self, subject: DraftSubject, lists: Sequence[str]) -> Iterator[LinkPath]:
        """To those that a list names in the same row as its individuals."""
        for name in lists:
            links = [each for each in self._links(name) if each.target in self.subject_of]
            for place, one in enumerate(links):
                for other, two in enumerate(links):
                    both = self.subject_of[one.target] is self.subject_of[two.target]
                    if other == place or (both and other < place):  # read from both ends anyway
                        continue
                    if self.subject_of[one.target] is subject:
                        path = self._through(subject, one, two)
                        if path is not None:
                            yield path

    def _links(self, table: str) -> list[Link]:
        return [each for each in self.links if each.table == table]

    def _is_own(self, subject: DraftSubject, link: Link) -> bool:
        """Whether a link only says that a table is about the same individuals."""
        side = subject.sides.get(link.table)
        return side is not None and link.columns == side.columns

    def _along(self, subject: DraftSubject, steps: list[Link]) -> LinkPath | None:
        table = self.tables[steps[0].table]
        rows = np.arange(table.size)
        if table is not subject.table:
            side = subject.sides[table.name]
            rows = subject.rows_of(table, side.columns, side.by)
        others, there = np.arange(table.size), subject
        for link in steps:
            here, target = self.tables[link.table], self.subject_of.get(link.target)
            if target is None or target.name != link.target:
                return None
            found = target.rows_of(here, link.columns, link.target_columns)
            others, there = np.where(others >= 0, found[others], -1), target
        known = (rows >= 0) & (others >= 0)
        if there is subject:  # nobody goes with oneself
            known &= rows != others
        told = " of its ".join(each.target for each in reversed(steps))
        variables = self._variables(subject, there, steps[0])
        sql = self._sql(subject, there, steps, variables)
        return LinkPath(subject, there, rows[known], others[known], variables, sql, f"its {told}")

    def _variables(self, subject: DraftSubject, other: DraftSubject, link: Link) -> tuple[str, ...]:
        """Variables of the other subject; one that both share has the same name."""
        own = dict(
            zip(subject.key, zip(subject.variables, subject.domains, strict=True), strict=True)
        )
        found = []
        pairs = dict(zip(link.target_columns, link.columns, strict=True))
        for part, variable, domain in zip(other.key, other.variables, other.domains, strict=True):
            here = pairs.get(part)
            if link.table == subject.name and here in own and own[here][1] == domain:
                found.append(own[here][0])
                continue
            name = variable
            if name in subject.variables:
                name = capitalised(here) if here else f"{variable}_2"
            while name.lower() in (each.lower() for each in (*subject.variables, *found)):
                name += "_2"
            found.append(name)
        return tuple(found)

    def _sql(
        self,
        subject: DraftSubject,
        other: DraftSubject,
        steps: list[Link],
        variables: tuple[str, ...],
    ) -> str:
        """The pairs: each individual, and the one at the end of the path."""
        first = steps[0]
        side = subject.sides.get(first.table)
        key = (side.key,) if side else subject.key
        base = side.base if side else subject.base
        chosen = [
            f"a.{quoted(column)} AS {_alias(variable)}"
            for column, variable in zip(key, subject.variables, strict=True)
        ]
        new = [
            (part, variable)
            for part, variable in zip(other.key, variables, strict=True)
            if variable not in subject.variables
        ]
        by_key = first.target_columns == other.key
        if len(steps) == 1 and by_key and not first.dangling and other.is_whole:
            here = dict(zip(first.target_columns, first.columns, strict=True))
            chosen += [f"a.{quoted(here[part])} AS {_alias(variable)}" for part, variable in new]
            given = " AND ".join(f"a.{quoted(column)} IS NOT NULL" for column in first.columns)
            if other is subject:
                given += f" AND a.{quoted(first.columns[0])} <> a.{quoted(key[0])}"
            return f"SELECT {', '.join(chosen)} FROM {base} AS a WHERE {given}"
        joins, last = "", "a"
        for number, link in enumerate(steps):
            alias = "bcd"[number]
            there = self.subject_of[link.target]
            joins += f" JOIN {there.base} AS {alias} ON {same_values(link, last, alias)}"
            last = alias
        chosen += [f"{last}.{quoted(part)} AS {_alias(variable)}" for part, variable in new]
        if other is subject:
            joins += f" WHERE {last}.{quoted(other.key[0])} <> a.{quoted(key[0])}"
        return f"SELECT {', '.join(chosen)} FROM {base} AS a{joins}"

    def _through(self, subject: DraftSubject, one: Link, two: Link) -> LinkPath | None:
        """Through a list whose rows name both."""
        table, other = self.tables[one.table], self.subject_of[two.target]
        if table.rows > MOST_NEIGHBOURS or table.is_sampled:
            return None
        if not (subject.is_single and other.is_single and subject.is_whole and other.is_whole):
            return None
        rows = subject.rows_of(table, one.columns, one.target_columns)
        others = other.rows_of(table, two.columns, two.target_columns)
        known = (rows >= 0) & (others >= 0)
        if other is subject:
            known &= rows != others
        pairs = np.unique(np.column_stack([rows[known], others[known]]), axis=0)
        variable = other.variables[0]
        if other is subject:
            variable = capitalised(two.columns[0])
            variable += "_2" if variable.lower() == subject.variables[0].lower() else ""
        base, here, there = table.base, quoted(one.columns[0]), quoted(two.columns[0])
        by_key = one.target_columns == subject.key and two.target_columns == other.key
        if not by_key:
            base = (
                f"(SELECT b.{quoted(subject.key[0])} AS one, c.{quoted(other.key[0])} AS other "
                f"FROM {base} AS a JOIN {subject.base} AS b ON {same_values(one, 'a', 'b')} "
                f"JOIN {other.base} AS c ON {same_values(two, 'a', 'c')}) AS pairs"
            )
            here, there = "one", "other"
        apart = f" AND {here} <> {there}" if other is subject else ""
        for link, column, end in ((one, here, subject), (two, there, other)):
            if link.dangling and by_key:  # rows that name nobody are left out
                apart += f" AND {column} IN (SELECT {quoted(end.key[0])} FROM {end.base})"
        sql = (
            f"SELECT DISTINCT {here} AS {_alias(subject.variables[0])}, "
            f"{there} AS {_alias(variable)} FROM {base} "
            f"WHERE {here} IS NOT NULL AND {there} IS NOT NULL{apart}"
        )
        told = f"those that {one.table} names with it ({two.columns[0]})"
        return LinkPath(subject, other, pairs[:, 0], pairs[:, 1], (variable,), sql, told)


def same_values(link: Link, here: str, there: str) -> str:
    """The condition that a row belongs to a row, by what both are called in a query."""
    pairs = zip(link.columns, link.target_columns, strict=True)
    return " AND ".join(f"{there}.{quoted(to)} = {here}.{quoted(name)}" for name, to in pairs)


def _alias(variable: str) -> str:
    return quoted(variable.lower())
