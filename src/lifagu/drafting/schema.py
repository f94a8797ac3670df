"""Who is who in a database: tables as they were seen, what columns are, keys, links, lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lifagu.basics.progress import Progress
from lifagu.data.databases import Database
from lifagu.drafting.asking import Asker, aliased, listed, quoted
from lifagu.drafting.candidates import codes_of_groups
from lifagu.drafting.columns import ColumnSort, sort_of
from lifagu.drafting.keys import Key, Link, Sorts, key_of, links_of, names_of, offered_links
from lifagu.drafting.naming import row_name
from lifagu.drafting.seen import SeenTable, in_order_of, see
from lifagu.errors import ModelError, did_you_mean


@dataclass(frozen=True)
class DraftSettings:
    """What a user may decide.

    keys: columns by table; links: by ``table.column`` the table, or None for none; leave_out:
    tables and ``table.column``; predict: relations, or columns, whose gaps are to be filled, none:
    all that have gaps; bins: that numbers are put into, 0: as many as rows allow for; sample: rows
    of each table that are looked at; individuals: rows of each that the model speaks of; tables: at
    most so many are drafted, per_relation: for each relation; seed: of the sample.
    """

    keys: Mapping[str, Sequence[str]] = field(default_factory=dict)
    links: Mapping[str, str | None] = field(default_factory=dict)
    leave_out: Sequence[str] = ()
    predict: Sequence[str] = ()
    bins: int = 0
    sample: int = 50_000
    individuals: int = 100_000
    tables: int = 400
    per_relation: int = 20
    seed: int = 0

    @property
    def plain(self) -> dict[str, Any]:
        """All of them as a template notes them."""
        return {
            **vars(self),
            "keys": {table: list(columns) for table, columns in self.keys.items()},
            "links": dict(self.links),
            "leave_out": list(self.leave_out),
            "predict": list(self.predict),
        }


@dataclass(frozen=True)
class TableInPart:
    """A table of which the model has only some rows; with_gaps: those with one, asked: here."""

    name: str
    rows: int
    taken: int
    with_gaps: int
    asked: int

    def __str__(self) -> str:
        rows = f"of {self.rows:,} rows of {self.name} about {self.taken:,} are in the model"
        if self.asked < self.with_gaps:
            return (
                f"{rows}, and of {self.with_gaps:,} with gaps only {self.asked:,}; "
                "a larger number of individuals has more of them predicted"
            )
        return f"{rows}, all with gaps among them"


@dataclass(frozen=True, eq=False)
class Schema:
    """Tables by name, in order; skipped: others, and why; lists: tables whose rows only say
    something of others; bases: what stands after FROM; parts: tables that are taken in part, of
    which those rows are taken for which the condition holds; offered: links that no foreign key
    declares, though names and values would have them.
    """

    tables: Mapping[str, SeenTable]
    skipped: Mapping[str, str]
    sorts: Sorts
    keys: Mapping[str, Key]
    links: tuple[Link, ...]
    lists: Mapping[str, bool]
    bases: Mapping[str, str]
    parts: tuple[TableInPart, ...]
    offered: tuple[Link, ...]
    conditions: Mapping[str, str]


def read_schema(
    database: Database, asker: Asker, settings: DraftSettings, progress: Progress
) -> Schema:
    """Look at all tables, and find out who is who."""
    tables, skipped = _seen(database, asker, settings, progress)
    settings = _without_left_out(settings, skipped)
    _check(settings, tables, skipped)
    if not tables:
        raise ModelError(f"{asker.place}: there is no table with rows to draft a model of")
    progress.stage("finding out who is who")
    sorts = {
        name: {each.name: sort_of(each, table.is_sampled) for each in table.columns.values()}
        for name, table in tables.items()
    }
    keys = {name: key_of(each, sorts[name], settings.keys, asker) for name, each in tables.items()}
    tables = {name: in_order_of(each, keys[name].columns) for name, each in tables.items()}
    links = tuple(links_of(tables, keys, settings.links, asker))
    for name, each in tables.items():
        sorts[name] |= codes_of_groups(each, sorts[name], links)
    places = _Places(asker, tables, sorts, keys, links, settings)
    lists = {name: places.is_list(name) for name in tables}
    bases = {name: places.base(name) for name in tables}
    return Schema(
        tables,
        skipped,
        sorts,
        keys,
        links,
        lists,
        {name: base for name, (base, *_) in bases.items()},
        tuple(part for name, (_, part, _) in bases.items() if part and not lists[name]),
        tuple(offered_links(tables, keys, links, settings.links, asker)),
        {name: condition for name, (*_, condition) in bases.items() if condition},
    )


def _seen(
    database: Database, asker: Asker, settings: DraftSettings, progress: Progress
) -> tuple[dict[str, SeenTable], dict[str, str]]:
    """Tables with rows, and others with the reason why they are skipped."""
    every = database.catalogue().tables
    only_views = all(each.is_view for each in every)
    tables, skipped = dict[str, SeenTable](), dict[str, str]()
    for number, each in enumerate(every):
        progress.stage(f"looking at {each.name}")
        progress(number, len(every))
        if each.name in settings.leave_out:
            skipped[each.name] = "you said so"
        elif each.is_view and not only_views:
            skipped[each.name] = "it is a view, whose rows are told by tables"
        elif not each.columns:
            skipped[each.name] = "it has no columns that can be read"
        else:
            seen = see(asker, each, settings.sample, settings.seed, settings.leave_out)
            if seen.rows:
                tables[each.name] = seen
            else:
                skipped[each.name] = "it is empty"
    return tables, skipped


def _without_left_out(settings: DraftSettings, skipped: Mapping[str, str]) -> DraftSettings:
    """The settings without keys and links of tables that are left out, nor links to them."""
    gone = {each for each in settings.leave_out if each in skipped}
    links = {
        place: None if target in gone else target
        for place, target in settings.links.items()
        if place.rpartition(".")[0] not in gone
    }
    keys = {table: columns for table, columns in settings.keys.items() if table not in gone}
    return replace(settings, keys=keys, links=links)


def _check(
    settings: DraftSettings, tables: Mapping[str, SeenTable], skipped: Mapping[str, str]
) -> None:
    """Refuse names of tables and columns that nobody has."""

    def column(table: str, name: str, is_read: bool = True) -> None:
        if table not in tables:
            raise ModelError(f"there is no table '{table}'{did_you_mean(table, [*tables])}")
        known = [each.name for each in tables[table].table.columns]
        if name not in known:
            close = did_you_mean(name, known)
            raise ModelError(f"the table {table} has no column '{name}'{close}")
        if is_read and name not in tables[table].columns:
            raise ModelError(
                f"{table}.{name} is left out, or holds no single values; as a key or a link it is "
                "needed"
            )

    for table, columns in settings.keys.items():
        for each in columns:
            column(table, each)
    for place, target in settings.links.items():
        column(*place.rpartition(".")[::2])
        if target is not None and target not in tables:
            raise ModelError(f"there is no table '{target}'{did_you_mean(target, [*tables])}")
    for place in settings.leave_out:
        if place not in tables and place not in skipped:
            if "." not in place:
                raise ModelError(f"there is no table '{place}'{did_you_mean(place, [*tables])}")
            column(*place.rpartition(".")[::2], is_read=False)


def _is_gap(column: str, sort: ColumnSort) -> str:
    """The condition that a row has no value in a column."""
    value = quoted(column)
    if not sort.blanks:
        return f"{value} IS NULL"
    return f"({value} IS NULL OR {value} IN ({listed(sort.blanks)}))"


@dataclass(frozen=True, eq=False)
class _Places:
    """Which rows of each table a model speaks of."""

    asker: Asker
    tables: Mapping[str, SeenTable]
    sorts: Sorts
    keys: Mapping[str, Key]
    links: Sequence[Link]
    settings: DraftSettings

    def base(self, name: str) -> tuple[str, TableInPart | None, str]:
        """What stands after FROM: a table, its rows numbered if it has no key, some if it is large.

        And which those are.

        Of a large table those rows are taken that have a gap to be predicted, and as many others as
        there is room for, from which tables are learned; half of all, if there are so many.
        """
        table, most = self.tables[name], self.settings.individuals
        key, large = self.keys[name].columns, self.tables[name].rows > most
        is_number = not key or (large and self.asker.dialect == "sqlite")  # which cannot hash
        row = row_name(table.columns)
        base = self.asker.numbered(table.table, row) if is_number else table.base
        if not large:
            return base, None, ""
        gaps = " OR ".join(_is_gap(column, self.sorts[name][column]) for column in self._gaps(name))
        many = 0
        if gaps:
            (many,) = self.asker.numbers(f"SELECT count(*) FROM {table.base} WHERE {gaps}")
        others = table.rows - many
        room = max(most - many, min(others, most // 2))
        told = (row,) if is_number else key
        wanted = self.asker.picked(told, room / max(1, others), is_number)
        if many > most - room:
            some = self.asker.picked(told, (most - room) / many, is_number)
            wanted = f"(({gaps}) AND {some}) OR (NOT ({gaps}) AND {wanted})"
        elif gaps:
            wanted = f"{gaps} OR {wanted}"
        part = TableInPart(name, table.rows, most, many, min(many, most - room))
        return f"(SELECT * FROM {aliased(base)} WHERE {wanted})", part, wanted

    def _gaps(self, name: str) -> list[str]:
        """Columns of a table that have gaps to be predicted."""
        who = names_of(name, self.keys[name].columns, self.links)
        wanted = {each.lower() for each in self.settings.predict}
        return [
            column.name
            for column in self.tables[name].columns.values()
            if column.gaps
            and column.name not in who
            and self.sorts[name][column.name].kind in ("label", "number")
            and (not wanted or {column.name.lower(), f"{name}.{column.name}".lower()} & wanted)
        ]

    def is_list(self, name: str) -> bool:
        """Whether rows only say something of others: they belong to somebody, and lack nothing.

        Nobody may belong to them in turn. Where nothing is missing anywhere, somebody new is what a
        model is for, and rows with a key of their own may be new as well.
        """
        mine = [link for link in self.links if link.table == name]
        alone = any(link.columns == self.keys[name].columns for link in mine)
        if (
            not mine
            or alone
            or any(link.target == name and link.table != name for link in self.links)
        ):
            return False
        wanted = {each.lower() for each in self.settings.predict}
        named = any(
            {column.lower(), f"{name}.{column}".lower()} & wanted
            for column in self.tables[name].columns
        )
        if (
            not wanted
            and len(self.keys[name].columns) == 1
            and not any(map(self._gaps, self.tables))
        ):
            return False
        return not self._gaps(name) and not named
