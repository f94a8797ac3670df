"""What a SQLite database holds, by its pragmas, as tables."""

from __future__ import annotations

from contextlib import suppress

from lifagu.data.databases.catalogue import Catalogue, CatalogueColumn
from lifagu.data.databases.catalogue.building import FoundTable, Rows, catalogue_of
from lifagu.data.databases.catalogue.kinds import kind_by_affinity
from lifagu.data.duck import literal, quoted
from lifagu.errors import FormatError

_MADE = "CREATE VIRTUAL TABLE"
# tables in which virtual ones keep their own
_KEPT_BY_VIRTUAL = (
    *("_data", "_idx", "_content", "_docsize", "_config", "_segments", "_segdir", "_stat"),
    *("_node", "_parent", "_rowid"),
)
_ORDINARY = f"""
    m.type = 'table' AND m.sql NOT LIKE '{_MADE}%' AND lower(substr(m.name, 1, 7)) <> 'sqlite_'
"""
_COLUMNS = "x.name, x.type, x.hidden, x.pk"


def catalogue_of_sqlite(rows: Rows) -> Catalogue:
    """The main database; each view and virtual table is asked alone, as it may be broken."""
    found = {name: FoundTable(("", name)) for (name,) in rows(_listed())}
    keys: dict[str, dict[int, str]] = {name: {} for name in found}
    for name, *told in rows(
        f"SELECT m.name, {_COLUMNS} FROM sqlite_master m, pragma_table_xinfo(m.name) x "
        f"WHERE {_ORDINARY} ORDER BY m.name, x.cid"
    ):
        if name in found:
            _add_column(found[name], keys[name], *told)
    for name, key in keys.items():
        found[name].primary_key = tuple(key[place] for place in sorted(key))
    _add_unique(found, rows)
    _add_references(found, rows)
    asked_alone = (
        "SELECT m.name, m.type = 'view' FROM sqlite_master m "
        f"WHERE m.type = 'view' OR m.sql LIKE '{_MADE}%'"
    )
    for name, is_view in rows(asked_alone):
        with suppress(FormatError):
            # a view that is broken may well tell of columns
            rows(f"SELECT 1 FROM {quoted(name)} LIMIT 0")
            found[name] = FoundTable(("", name), bool(is_view))
            for column in rows(
                f"SELECT {_COLUMNS} FROM pragma_table_xinfo({literal(name)}) x ORDER BY x.cid"
            ):
                _add_column(found[name], {}, *column)
    return catalogue_of("sqlite", list(found.values()))


def _listed() -> str:
    """The query for names of ordinary tables."""
    suffixes = ", ".join(f"lower(v.name) || '{each}'" for each in _KEPT_BY_VIRTUAL)
    return f"""
        SELECT m.name FROM sqlite_master m
        WHERE {_ORDINARY} AND NOT EXISTS (
            SELECT 1 FROM sqlite_master v
            WHERE v.sql LIKE '{_MADE}%' AND lower(m.name) IN ({suffixes})
        )
    """


def _add_column(
    table: FoundTable, key: dict[int, str], name: str, declared: str, hidden: int, place: int
) -> None:
    """hidden: 1 for arguments of virtual tables, 2 and 3 for what is generated."""
    if hidden != 1:
        column = CatalogueColumn(name, kind_by_affinity(declared or ""), hidden > 1)
        table.columns.append(column)
        if place:
            key[place] = name


def _add_unique(found: dict[str, FoundTable], rows: Rows) -> None:
    """Unique indexes over whole tables; a column without a name is an expression."""
    indexes: dict[tuple[str, str], list[str | None]] = {}
    for table, index, name in rows(
        f"""
        SELECT m.name, i.name, c.name
        FROM sqlite_master m, pragma_index_list(m.name) i, pragma_index_info(i.name) c
        WHERE {_ORDINARY} AND i."unique" AND NOT i.partial AND i.origin <> 'pk'
        ORDER BY m.name, i.name, c.seqno
        """
    ):
        indexes.setdefault((table, index), []).append(name)
    for (table, _), names in indexes.items():
        if table in found and None not in names:
            found[table].unique.add(tuple(name for name in names if name is not None))


def _add_references(found: dict[str, FoundTable], rows: Rows) -> None:
    """Foreign keys; tables are found whatever their case, and none named is the primary key."""
    spelled = {name.lower(): name for name in found}
    keys: dict[tuple[str, int, str], list[tuple[str, str | None]]] = {}
    for table, number, target, name, target_name in rows(
        f"""
        SELECT m.name, f.id, f."table", f."from", f."to"
        FROM sqlite_master m, pragma_foreign_key_list(m.name) f
        WHERE {_ORDINARY}
        ORDER BY m.name, f.id, f.seq
        """
    ):
        place = spelled.get(target.lower())
        if place is not None and table in found:
            keys.setdefault((table, number, place), []).append((name, target_name))
    for (table, _, target), pairs in keys.items():
        named = tuple(to for _, to in pairs if to is not None)
        columns = tuple(name for name, _ in pairs)
        found[table].references.append((columns, ("", target), named))
