"""What a database holds: tables and views, their columns and keys, the same from every sort."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lifagu.data.duck import quoted

Dialect = Literal["duckdb", "sqlite", "postgresql"]
ColumnKind = Literal[
    "integer", "number", "truth", "text", "date", "time", "clock", "other", "unknown"
]
PREFIX = "lifagu_"  # of result tables, which are no data


@dataclass(frozen=True)
class CatalogueColumn:
    """A column; is_generated: whether the database computes it from others of its row.

    kind is what its declared type says: a time is a moment, a clock a time of day; other is what
    holds no single value (lists, documents, bytes, spans of time); unknown is what says nothing, as
    columns without a type. SQLite holds to no declared type; only values tell there.
    """

    name: str
    kind: ColumnKind
    is_generated: bool = False

    @property
    def sql(self) -> str:
        """The name as SQL."""
        return quoted(self.name)


@dataclass(frozen=True)
class ForeignKey:
    """Columns that refer to columns of a table; table: its name in the catalogue."""

    columns: tuple[str, ...]
    table: str
    target: tuple[str, ...]


@dataclass(frozen=True)
class CatalogueTable:
    """A table or view; schema: empty where its own name alone finds it.

    name is the whole name, such as ``ward.patients``, and no two tables share it. unique: sets of
    columns that have no two rows in common, NULLs aside, the primary key not among them.
    """

    name: str
    columns: tuple[CatalogueColumn, ...]
    primary_key: tuple[str, ...] = ()
    unique: tuple[tuple[str, ...], ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    is_view: bool = False
    schema: str = ""

    @property
    def sql(self) -> str:
        """The name as SQL, to stand after FROM.

        >>> CatalogueTable("Ward A.beds", (), schema="Ward A").sql
        '"Ward A"."beds"'
        """
        if not self.schema:
            return quoted(self.name)
        return f"{quoted(self.schema)}.{quoted(self.name.removeprefix(f'{self.schema}.'))}"


@dataclass(frozen=True)
class Catalogue:
    """All tables and views by name, in its order; columns are in the order of the schema.

    Tables of results and of the system are left out, so are views that cannot be read, partitions
    of tables, and whatever may not be read. Foreign keys lead to tables that are here.
    """

    dialect: Dialect
    tables: tuple[CatalogueTable, ...]
