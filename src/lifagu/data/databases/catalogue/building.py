"""From what a database tells of its tables to a catalogue: names, and where foreign keys lead."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from lifagu.data.databases.catalogue import (
    PREFIX,
    Catalogue,
    CatalogueColumn,
    CatalogueTable,
    Dialect,
    ForeignKey,
)

Rows = Callable[[str], list[tuple[Any, ...]]]  # the rows of a small query
Place = tuple[str, str]  # a schema and a table in it


@dataclass
class FoundTable:
    """A table as its database tells of it; is_plain: whether its own name alone finds it.

    references: columns, the table that they lead to, and its columns, none for its primary key.
    """

    place: Place
    is_view: bool = False
    is_plain: bool = True
    columns: list[CatalogueColumn] = field(default_factory=list)
    primary_key: tuple[str, ...] = ()
    unique: set[tuple[str, ...]] = field(default_factory=set)
    references: list[tuple[tuple[str, ...], Place, tuple[str, ...]]] = field(default_factory=list)

    @property
    def schema(self) -> str:
        """The schema that its name needs."""
        return "" if self.is_plain else self.place[0]

    @property
    def name(self) -> str:
        """Its name in the catalogue."""
        return self.place[1] if self.is_plain else ".".join(self.place)

    def spelled(self, names: Sequence[str]) -> tuple[str, ...]:
        """Columns as they are spelled here; none if one of them is not here."""
        own = {each.name.lower(): each.name for each in reversed(self.columns)}
        exact = {each.name for each in self.columns}
        found = [name if name in exact else own.get(name.lower()) for name in names]
        return tuple(each for each in found if each is not None) if None not in found else ()


def catalogue_of(dialect: Dialect, found: Collection[FoundTable]) -> Catalogue:
    """The catalogue of these tables, without those of results and those without columns."""
    kept = {
        each.place: each
        for each in found
        if each.columns and not each.place[1].lower().startswith(PREFIX)
    }
    tables = (_table(each, kept) for each in kept.values())
    return Catalogue(dialect, tuple(sorted(tables, key=lambda each: each.name)))


def _table(found: FoundTable, every: dict[Place, FoundTable]) -> CatalogueTable:
    keys = set()
    for columns, place, named in found.references:
        table = every.get(place)
        if table is None:
            continue
        target = table.spelled(named or table.primary_key)
        if target and len(target) == len(columns):
            keys.add(ForeignKey(columns, table.name, target))
    return CatalogueTable(
        found.name,
        tuple(found.columns),
        found.primary_key,
        tuple(sorted(found.unique - {found.primary_key})),
        tuple(sorted(keys, key=lambda each: (each.columns, each.table, each.target))),
        found.is_view,
        found.schema,
    )
