"""Candidates: which tables could tell about an attribute, with the rows they would speak of."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from lifagu.basics.arrays import Ints, dense, group_rows
from lifagu.drafting.asking import aliased, quoted
from lifagu.drafting.attributes import Attribute
from lifagu.drafting.columns import ColumnSort
from lifagu.drafting.keys import Link, Sorts
from lifagu.drafting.paths import LinkPath
from lifagu.drafting.seen import SeenColumn, SeenTable
from lifagu.drafting.subjects import DraftSubject
from lifagu.graph.bins import number_of

LEAST_PER_GROUP = 1.1  # rows on average, so that groups can tell something
LEAST_MIXED = 10  # numbers that would go with several labels by chance
MOST_CROSSED = 8  # columns whose values are combined in pairs: those with the most values
ROWS_EACH = 5  # rows for each group, on average, from which on combinations are tried
IN_ORDER = 3  # changes for each label beyond the first from which on there is no order


@dataclass(frozen=True, eq=False)
class Candidate:
    """A table that could tell about attributes of a subject.

    other: the attribute that it looks at, along path where that is another individual's, backwards
    where the path leads from there to here; by: the columns that tell groups apart instead, or in
    addition; with a path it is all that a list says, with a group for each of its values. Row
    rows[m] of the subject has the label codes[m], of size; sql: rows of groups; is_crossed: whether
    columns were combined that are no levels of one another, such as year and month.
    """

    subject: DraftSubject
    other: Attribute | None
    path: LinkPath | None
    backwards: bool
    by: tuple[str, ...]
    rows: Ints
    codes: Ints
    size: int
    sql: str = ""
    is_crossed: bool = False

    @property
    def is_group(self) -> bool:
        """Whether it lets groups differ."""
        return bool(self.by)

    @property
    def is_listed(self) -> bool:
        """Whether it is all that a list says, so that an individual is in several groups."""
        return self.path is not None and self.is_group

    @property
    def told(self) -> str:
        """In words."""
        if self.other is None:
            return f"by {', '.join(self.by)}"
        if self.is_listed:
            return self.told_path
        if self.by:
            return f"{self.other.name}, otherwise by {', '.join(self.by)}"
        if self.path is None:
            return self.other.name
        return f"{self.other.name} of {self.told_path}"

    @property
    def told_path(self) -> str:
        """The path in words, seen from the subject."""
        if self.path is None:
            return ""
        return f"{self.path.subject.name} that belong to it" if self.backwards else self.path.told

    def times(self, other: Candidate, size: int) -> Candidate:
        """The same groups, in each of which another candidate's table or groups may differ."""
        if other.other is not None:
            return replace(self, other=other.other, size=size)
        by = (*other.by, *self.by)
        return replace(self, by=by, sql=rows_by(self.subject, by), size=size, is_crossed=True)


def beside(subject: DraftSubject, attributes: Sequence[Attribute]) -> Iterator[Candidate]:
    """Other attributes of the same individuals."""
    for each in attributes:
        rows = np.flatnonzero(each.codes >= 0)
        yield Candidate(subject, each, None, False, (), rows, each.codes[rows], each.size)


def along(path: LinkPath, attributes: Sequence[Attribute], backwards: bool) -> Iterator[Candidate]:
    """Attributes of those at the other end of a path, or at its beginning."""
    here, there = (path.others, path.rows) if backwards else (path.rows, path.others)
    subject = path.other if backwards else path.subject
    for each in attributes:
        codes = each.codes[there]
        known = codes >= 0
        yield Candidate(subject, each, path, backwards, (), here[known], codes[known], each.size)


def codes_of_groups(
    table: SeenTable, sorts: Mapping[str, ColumnSort], links: Sequence[Link]
) -> dict[str, ColumnSort]:
    """Columns that look like numbers but name groups: each value lies within one row's owner.

    So a ward's number is no quantity if all rows of a ward belong to one hospital. Nor is a
    school's, if it decides whether the school is in a city, and neighbouring numbers differ.
    """
    found = {}
    labels = [table.columns[name].codes for name, sort in sorts.items() if sort.kind == "label"]
    owners = [
        table.columns[name].codes
        for link in links
        if link.table == table.name
        for name in link.columns
    ]
    for name, sort in sorts.items():
        if sort.kind == "number" and sort.is_code:
            codes = table.columns[name].codes
            if any(_lies_within(codes, above) for above in owners if above is not codes):
                why = "its values are names of groups, as each belongs to one owner"
                found[name] = ColumnSort("group", why, is_group=True)
            elif any(_names_alike(table.columns[name], each) for each in labels):
                why = "its values are names of groups, as each goes with one label, in no order"
                found[name] = ColumnSort("group", why, is_group=True)
    return found


def _names_alike(numbers: SeenColumn, labels: Ints) -> bool:
    """Whether each number goes with one label, though chance would not have it, nor an order."""
    values = [number_of(text) for text in numbers.texts]
    is_number = np.array([each is not None for each in values] + [False])  # the last one: no value
    known = is_number[numbers.codes] & (labels >= 0)
    codes, mine = numbers.codes[known], labels[known]
    if not len(mine):
        return False
    shares = np.bincount(mine) / len(mine)
    met, sizes = np.unique(codes, return_counts=True)
    mixed = len(met) - float((shares ** sizes[:, None]).sum())  # how many by chance
    pairs = int(group_rows(np.column_stack([codes, mine])).max()) + 1
    if mixed < LEAST_MIXED or pairs > len(met):
        return False
    label_of = np.zeros(len(numbers.texts), dtype=np.int64)
    label_of[codes] = mine
    order = sorted(met.tolist(), key=lambda code: values[code] or 0.0)
    changes = int(np.count_nonzero(np.diff(label_of[order])))
    return changes > IN_ORDER * (int(np.count_nonzero(shares)) - 1)


def _lies_within(codes: Ints, above: Ints) -> int:
    """Into how many groups others fall, each as a whole; 0 if they do not, or into one."""
    known = (codes >= 0) & (above >= 0)
    if not known.any():
        return 0
    mine, theirs = len(np.unique(codes[known])), len(np.unique(above[known]))
    pairs = int(group_rows(np.column_stack([codes[known], above[known]])).max()) + 1
    return theirs if pairs == mine and 1 < theirs < mine else 0


def groups(
    subject: DraftSubject,
    links: Sequence[Link],
    sorts: Sorts,
    asked: Collection[tuple[str, str] | None],
) -> Iterator[Candidate]:
    """Columns whose values are shared by several rows: links, parts of keys, and names of groups.

    Where a group lies within another, such as wards in hospitals, both are levels of one table.
    What is to be predicted itself is neither, as groups are read whether cells are hidden or not.
    Last come combinations of two columns.
    """
    found, table = _shared(subject, links, sorts, asked), subject.table
    whole: dict[tuple[str, ...], ColumnSort] = {
        (name,): sort
        for name, sort in sorts[table.name].items()
        if not table.columns[name].gaps and (name,) not in found and (table.name, name) not in asked
    }
    codes_of = {columns: table.columns[columns[0]].codes for columns in whole}
    labels = {each: codes_of[each] for each, sort in whole.items() if sort.kind == "label"}
    numbers = {each: codes_of[each] for each, sort in whole.items() if sort.is_code}
    for columns, codes in found.items():
        above = _level_above(columns, codes, {**found, **labels})
        rows = np.flatnonzero(codes >= 0)
        by, size = (*above, *columns), int(codes.max(initial=0)) + 1
        sql = rows_by(subject, by)
        yield Candidate(subject, None, None, False, by, rows, codes[rows], size, sql)
    yield from _crossed(subject, {**found, **labels, **numbers})


def _shared(
    subject: DraftSubject,
    links: Sequence[Link],
    sorts: Sorts,
    asked: Collection[tuple[str, str] | None],
) -> dict[tuple[str, ...], Ints]:
    """Links, parts of keys and names of groups, with the group of each row, -1 for none."""
    found: dict[tuple[str, ...], Ints] = {}
    table = subject.table
    who = [link.columns for link in links if link.table == table.name]
    who += [(name,) for name in subject.key if len(subject.key) > 1]
    who += [
        (name,)
        for name, sort in sorts[table.name].items()
        if sort.is_group and (table.name, name) not in asked
    ]
    for columns in dict.fromkeys(who):
        if columns == subject.key:
            continue
        codes = np.column_stack([table.columns[name].codes for name in columns])
        known = (codes >= 0).all(axis=1)
        single = np.full(table.size, -1, dtype=np.int64)
        single[known] = dense(group_rows(codes[known])) if known.any() else 0
        if known.sum() >= LEAST_PER_GROUP * (int(single.max(initial=-1)) + 1):
            found[columns] = single
    return found


def rows_by(subject: DraftSubject, by: Sequence[str]) -> str:
    """The query for a subject's individuals, with the columns that tell groups apart."""
    chosen = [
        f"{quoted(column)} AS {quoted(variable.lower())}"
        for column, variable in zip(subject.key, subject.variables, strict=True)
    ]
    named = {variable.lower() for variable in subject.variables}
    chosen += [quoted(each) for each in by if each.lower() not in named]
    return f"SELECT {', '.join(chosen)} FROM {aliased(subject.base)}"


def _crossed(subject: DraftSubject, found: Mapping[tuple[str, ...], Ints]) -> Iterator[Candidate]:
    """Pairs of columns whose combinations many rows share, such as the month of a year."""
    sizes = {columns: len(np.unique(codes[codes >= 0])) for columns, codes in found.items()}
    most = sorted(found, key=lambda columns: -sizes[columns])[:MOST_CROSSED]
    for one, other in combinations(most, 2):
        both = np.column_stack([found[one], found[other]])
        rows = np.flatnonzero((both >= 0).all(axis=1))
        if set(one) & set(other) or len(rows) < ROWS_EACH * sizes[one]:
            continue
        codes = dense(group_rows(both[rows]))
        size = int(codes.max(initial=-1)) + 1
        if sizes[one] < size and ROWS_EACH * size <= len(rows):
            by = (*one, *other)
            sql = rows_by(subject, by)
            yield Candidate(subject, None, None, False, by, rows, codes, size, sql, True)


def _level_above(
    columns: tuple[str, ...], codes: Ints, found: Mapping[tuple[str, ...], Ints]
) -> tuple[str, ...]:
    """The finest of other groups within which each of these groups lies."""
    best: tuple[int, tuple[str, ...]] = (0, ())
    for other, above in found.items():
        if other == columns or set(other) & set(columns):
            continue
        if theirs := _lies_within(codes, above):
            best = max(best, (theirs, other))
    return best[1]
