"""Attributes: what can be said of a subject's individuals, as relations with their evidence.

Here are those that columns of its own tables say, and parts of moments that repeat; `lists` has
those that rows elsewhere say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Ints
from lifagu.basics.cached import cached_property
from lifagu.drafting.asking import Asker, aliased, quoted
from lifagu.drafting.column_values import coded, finely_coded, value_sql
from lifagu.drafting.keys import Key, Link, Sorts, names_of
from lifagu.drafting.naming import GivenNames
from lifagu.drafting.seen import SeenTable
from lifagu.drafting.subjects import DraftSubject

BOOLEAN = ("false", "true")
LEAST_KNOWN, LEAST_SHARE = 20, 0.01  # rows with a value, and without, so that this may tell
MOST_BINS, LEAST_BINS, ROWS_FOR_ANOTHER = 5, 3, 400  # of numbers where nobody says how many
FINER = 3  # bins within each bin of a number that is predicted, if these tell more about others
ROWS_FOR_FINER = 1000  # with a value, from which on finer bins may tell more
MOST_TELLING = 12  # the same of numbers that only tell about others, and of which none is missing


@dataclass(frozen=True, eq=False)
class Attribute:
    """One relation: its range, its evidence, and its values on the sampled individuals.

    column: where it stands, table and column, None if it was made of several rows; labels: those of
    its range, none for bins of numbers; size: how many labels there are; codes[n]: of sampled
    individuals, -1 for NULL; gaps: individuals without a value, in columns alone; origin: in words;
    bins: how many a template asks for; key, value and base: of a column, what its evidence selects
    from where; rows: of a table beside the subject's own, which sampled individuals it has rows of;
    listed: the list it was made of; known_of: the one of which it says whether it has a value;
    cohorts: how many hidden sorts there are, of one that nobody observes; coarser: the same number
    in the bins in which it is predicted, each of which has so many finer ones.
    """

    name: str
    subject: DraftSubject
    column: tuple[str, str] | None
    labels: tuple[str, ...]
    size: int
    codes: Ints
    gaps: int
    evidence: str
    origin: str
    bins: int = 0
    key: tuple[str, ...] = ()
    value: str = ""
    base: str = ""
    rows: Ints | None = None
    listed: str = ""
    known_of: Attribute | None = None
    cohorts: int = 0
    coarser: Attribute | None = None

    @cached_property
    def there(self) -> NDArray[np.bool_]:
        """Which sampled individuals could have a value."""
        found = np.full(len(self.codes), self.rows is None)
        if self.rows is not None:
            found[self.rows[self.rows >= 0]] = True
        return found

    @property
    def is_number(self) -> bool:
        """Whether its labels are bins of numbers."""
        return not self.labels

    @property
    def atom(self) -> str:
        """As it stands among the arguments of a parfactor."""
        return f"{self.name}({self.subject.atom_terms})"


@dataclass(frozen=True, eq=False)
class Surroundings:
    """What finding attributes needs to know; twice: names of columns that several tables have.

    bins: how many numbers are put into, 0 where rows decide.
    """

    tables: Mapping[str, SeenTable]
    sorts: Sorts
    keys: Mapping[str, Key]
    links: tuple[Link, ...]
    asker: Asker
    names: GivenNames
    twice: frozenset[str]
    bins: int = 0

    def bins_of(self, subject: DraftSubject, most: int = MOST_BINS) -> int:
        """How many bins numbers of a subject have: more where there are rows to fill them."""
        more = subject.table.rows // ROWS_FOR_ANOTHER
        return self.bins or min(most, LEAST_BINS + more)


@dataclass(frozen=True, eq=False)
class OwnColumns:
    """Columns of a subject's own tables as attributes."""

    around: Surroundings

    def of(self, subject: DraftSubject) -> Iterator[Attribute]:
        """Columns of a subject's own tables that are no keys and no links."""
        yield from self._of_table(subject, subject.table, subject.key, None)
        for name, side in subject.sides.items():
            table = self.around.tables[name]
            rows = subject.rows_of(table, side.columns, side.by)
            yield from self._of_table(subject, table, (side.key,), rows)

    def _of_table(
        self, subject: DraftSubject, table: SeenTable, key: tuple[str, ...], rows: Ints | None
    ) -> Iterator[Attribute]:
        base = subject.base if rows is None else subject.sides[table.name].base
        keys = ", ".join(map(quoted, key))
        who = names_of(table.name, key, self.around.links)
        for column in table.columns.values():
            sort = self.around.sorts[table.name][column.name]
            if column.name in who or sort.kind in ("left out", "group"):
                continue
            for part in sort.parts or ("",):
                words = f"{column.name} {part}".strip()
                again = part == "" and column.name.lower() in self.around.twice
                name = self.around.names.relation(words, table.name, again)
                value = value_sql(column, sort, part, self.around.asker)
                labels, size, codes = coded(column, sort, part, self.around.bins_of(subject))
                gaps = 0 if part else column.gaps
                if rows is not None:
                    codes = spread(codes, rows, subject.table.size)
                yield Attribute(
                    name,
                    subject,
                    None if part else (table.name, column.name),
                    labels,
                    size,
                    codes,
                    gaps,
                    f"SELECT {keys}, {value} FROM {aliased(base)}",
                    f"{words} of {table.name}",
                    self.around.bins_of(subject),
                    key,
                    value,
                    base,
                    rows,
                )

    def telling(self, one: Attribute) -> Attribute:
        """A column that only tells about others: in more bins, if it is a number without gaps."""
        if one.column is None or one.gaps or one.rows is not None or not one.is_number:
            return one
        table, name = one.column
        column, sort = self.around.tables[table].columns[name], self.around.sorts[table][name]
        bins = self.around.bins_of(one.subject, MOST_TELLING)
        _, size, codes = coded(column, sort, "", bins)
        return replace(one, size=size, codes=codes, bins=bins)

    def finer(self, one: Attribute) -> Attribute | None:
        """A column of numbers in finer bins; None for anything else, or where rows are few."""
        few = np.count_nonzero(one.codes >= 0) < ROWS_FOR_FINER
        if one.column is None or not one.is_number or few:
            return None
        table, name = one.column
        column, sort = self.around.tables[table].columns[name], self.around.sorts[table][name]
        size, codes = finely_coded(column, sort, one.bins, FINER)
        if one.rows is not None:
            codes = spread(codes, one.rows, one.subject.table.size)
        return replace(
            one,
            name=self.around.names.described(f"{one.name} in finer bins"),
            column=None,
            size=size,
            codes=codes,
            gaps=0,
            evidence="",
            origin=f"{one.origin}, in finer bins",
            bins=FINER,
            coarser=one,
        )

    def known(self, columns: Sequence[Attribute]) -> Iterator[Attribute]:
        """Whether columns have a value: that nobody measured something tells as well."""
        for each in columns:
            known = (each.codes >= 0) & each.there
            few = min(int(known.sum()), int((each.there & ~known).sum()))
            if each.column is None or few < max(LEAST_KNOWN, LEAST_SHARE * len(known)):
                continue
            keys = ", ".join(map(quoted, each.key))
            value = f"CASE WHEN {each.value} IS NULL THEN 0 ELSE 1 END"
            yield replace(
                each,
                name=self.around.names.described(f"{each.name} is known"),
                column=None,
                labels=BOOLEAN,
                size=2,
                codes=np.where(each.there, known, -1),
                gaps=0,
                evidence=f"SELECT {keys}, {value} FROM {aliased(each.base)}",
                origin=f"whether {each.origin} is known",
                known_of=each,
            )


def spread(codes: Ints, rows: Ints, size: int) -> Ints:
    """Codes of rows elsewhere as codes of a subject's rows."""
    found = np.full(size, -1, dtype=np.int64)
    found[rows[rows >= 0]] = codes[rows >= 0]
    return found
