"""Subjects: what a model speaks about. Tables with the same individuals are one, lists are none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.basics.cached import cached_property
from lifagu.drafting.asking import aliased, quoted
from lifagu.drafting.keys import Key, Link
from lifagu.drafting.naming import GivenNames, free_name, row_name
from lifagu.drafting.seen import SeenTable

Places = Mapping[tuple[str | None, ...], int]  # rows by what their columns say


@dataclass(frozen=True)
class DraftedDomain:
    """A domain, and the query for its constants."""

    name: str
    sql: str


@dataclass(frozen=True)
class Side:
    """A further table about the same individuals: their names there, and what stands after FROM.

    by: the columns of the main table that its own have the values of.
    """

    key: str
    base: str
    columns: tuple[str, ...]
    by: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class DraftSubject:
    """Individuals, or combinations of them, that the rows of a table are about.

    base: what stands after FROM; domains: of each column of the key, by name; variables: what
    logical variables over them are called; sides: further tables about the same individuals;
    is_numbered: whether only its number tells a row.
    """

    table: SeenTable
    key: tuple[str, ...]
    base: str
    domains: tuple[str, ...]
    variables: tuple[str, ...]
    sides: Mapping[str, Side] = field(default_factory=dict)
    is_numbered: bool = False

    @property
    def name(self) -> str:
        """How people speak of it: by its table."""
        return self.table.name

    @property
    def is_whole(self) -> bool:
        """Whether it has all rows of its table, as they are."""
        return self.base == self.table.base

    @property
    def is_single(self) -> bool:
        """Whether its individuals are constants of one domain."""
        return len(self.domains) == 1

    @property
    def atom_terms(self) -> str:
        """Its logical variables as they stand between parentheses."""
        return ", ".join(self.variables)

    @cached_property
    def _places(self) -> dict[tuple[str, ...], Places]:
        return {}

    def places(self, by: tuple[str, ...]) -> Places:
        """For all that was sampled in columns that tell rows apart the row, NULLs aside."""
        if by not in self._places:
            self._places[by] = {
                each: row for row, each in enumerate(_texts(self.table, by)) if None not in each
            }
        return self._places[by]

    def rows_of(self, table: SeenTable, columns: Sequence[str], by: tuple[str, ...]) -> Ints:
        """For each sampled row of a table the sampled row here with the same, -1 for none."""
        places = self.places(by)
        if len(columns) == 1:
            one = table.columns[columns[0]]
            found = [places.get((text,), -1) for text in one.texts]
            return np.array([*found, -1], dtype=np.int64)[one.codes]
        keys = _texts(table, columns)
        return np.fromiter((places.get(key, -1) for key in keys), dtype=np.int64, count=table.size)


def _texts(table: SeenTable, columns: Sequence[str]) -> Iterator[tuple[str | None, ...]]:
    """What each sampled row says in columns, None for NULL."""
    seen = [table.columns[name] for name in columns]
    texts = [np.array([*each.texts, None], dtype=object)[each.codes] for each in seen]
    return zip(*texts, strict=True)


@dataclass(frozen=True, eq=False)
class Understanding:
    """All subjects by their main table, the domains that they speak of, and lists: other tables."""

    subjects: Mapping[str, DraftSubject]
    domains: tuple[DraftedDomain, ...]
    lists: tuple[str, ...]


@dataclass(eq=False)
class _Finder:
    """Finds subjects one by one, those that others depend on first."""

    tables: Mapping[str, SeenTable]
    bases: Mapping[str, str]
    keys: Mapping[str, Key]
    links: Sequence[Link]
    names: GivenNames
    subjects: dict[str, DraftSubject] = field(default_factory=dict)
    domains: dict[str, DraftedDomain] = field(default_factory=dict)
    side_of: dict[str, Link] = field(default_factory=dict)
    begun: set[str] = field(default_factory=set)

    def main_of(self, name: str) -> str:
        """The table that says who there is among those a table is about."""
        while name in self.side_of:
            name = self.side_of[name].target
        return name

    def add(self, name: str) -> None:
        """A table becomes a subject, or a side of one."""
        if name in self.begun:
            return
        self.begun.add(name)
        table, key = self.tables[name], self.keys[name].columns
        owner = self._owner(name, key) if len(key) == 1 else None
        if owner is not None:
            self.side_of[name] = owner
            return
        base = self.bases[name]
        parts = key or (row_name(table.columns),)
        domains = tuple(self._domain(table, base, part, len(parts)) for part in parts)
        variables = self.names.variables(domains, parts)
        self.subjects[name] = DraftSubject(
            table, parts, base, domains, variables, is_numbered=not key
        )

    def _is_to_key(self, link: Link) -> bool:
        """Whether a link names individuals as the model does."""
        return link.target_columns == self.keys[link.target].columns

    def _owner(self, name: str, key: tuple[str, ...]) -> Link | None:
        """The link to the table whose individuals a table's key names, each at most once.

        There is none if others name its rows otherwise, since the owner does not know how.
        """
        if any(link.target == name and not self._is_to_key(link) for link in self.links):
            return None
        for link in self.links:
            mine = link.table == name and link.columns == key and not link.dangling
            if mine and len(self.keys[link.target].columns) < 2 and link.target != name:
                self.add(link.target)
                main = link.target if not self._is_to_key(link) else self.main_of(link.target)
                if main in self.subjects:
                    return link
        return None

    def _domain(self, table: SeenTable, base: str, part: str, parts: int) -> str:
        """The domain of one column of a key: another subject's, or its own."""
        if parts > 1:
            for link in self.links:
                mine = link.table == table.name and link.columns == (part,)
                if mine and self._is_to_key(link) and not link.dangling:
                    self.add(link.target)
                    main = self.subjects.get(self.main_of(link.target))
                    if main is not None and main.is_single and main.is_whole:
                        return main.domains[0]
        name = self.names.domain(table.name if parts == 1 else part)
        distinct = "DISTINCT " if parts > 1 else ""
        sql = f"SELECT {distinct}{quoted(part)} FROM {aliased(base)}"
        self.domains[name] = DraftedDomain(name, sql)
        return name


def understand(
    tables: Mapping[str, SeenTable],
    bases: Mapping[str, str],
    keys: Mapping[str, Key],
    links: Sequence[Link],
    is_list: Mapping[str, bool],
    names: GivenNames,
) -> Understanding:
    """Which tables are about the same individuals, and what logical variables stand for them.

    bases: what stands after FROM for each table, where not all of its rows are taken.
    """
    finder = _Finder(tables, bases, keys, links, names)
    for name in tables:
        if not is_list[name]:
            finder.add(name)
    sides: dict[str, dict[str, Side]] = {}
    for name, link in finder.side_of.items():
        main = finder.subjects[finder.main_of(name)]
        is_to_key = link.target_columns == keys[link.target].columns
        by = main.key if is_to_key else link.target_columns
        key, base = _side(tables[name], main, link.columns[0], by)
        sides.setdefault(main.name, {})[name] = Side(key, base, link.columns, by)
    subjects = {
        name: replace(each, sides=sides.get(name, {})) for name, each in finder.subjects.items()
    }
    lists = tuple(name for name in tables if is_list[name])
    return Understanding(subjects, tuple(finder.domains.values()), lists)


def _side(
    table: SeenTable, main: DraftSubject, column: str, by: tuple[str, ...]
) -> tuple[str, str]:
    """What individuals are called in a table about them, and what stands after FROM."""
    own = main.key[0]
    if by != main.key:
        key = free_name(own, table.columns)
        return key, (
            f"(SELECT b.*, a.{quoted(own)} AS {quoted(key)} FROM {table.base} AS b "
            f"JOIN {main.base} AS a ON a.{quoted(by[0])} = b.{quoted(column)})"
        )
    if main.is_whole:
        return column, table.base
    mine = f"SELECT {quoted(own)} FROM {aliased(main.base)}"
    return column, f"(SELECT * FROM {table.base} WHERE {quoted(column)} IN ({mine}))"
