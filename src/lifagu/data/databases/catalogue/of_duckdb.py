"""What a DuckDB holds, by its own functions; data files are tables like others."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress

from lifagu.data.databases.catalogue import Catalogue, CatalogueColumn
from lifagu.data.databases.catalogue.building import FoundTable, Place, Rows, catalogue_of
from lifagu.data.databases.catalogue.kinds import kind_of
from lifagu.data.duck import quoted
from lifagu.errors import FormatError

_TEMPORARY = ""  # in place of the schema, as temporary tables come before all others
_HIDDEN = "main"  # whose tables nobody finds where temporary ones have the same names
_PLACE = f"CASE database_name WHEN 'temp' THEN '{_TEMPORARY}' ELSE schema_name END"
_OWN = "database_name IN (current_database(), 'temp')"


def catalogue_of_duckdb(rows: Rows, rows_aside: Rows, files: Collection[str] = ()) -> Catalogue:
    """The current database and what is temporary; files: views that stand for data files.

    rows_aside: the rows of a query that may fail; it is asked outside of any transaction.
    """
    found = _tables(rows)
    _add_columns(found, rows)
    _add_keys(found, rows)
    for (schema, name), table in found.items():
        if table.is_view and schema != _TEMPORARY:
            table.columns = []
            with suppress(FormatError):  # a view that is broken has no columns
                described = rows_aside(f"DESCRIBE FROM {quoted(schema)}.{quoted(name)}")
                table.columns = [CatalogueColumn(row[0], kind_of(row[1])) for row in described]
        table.is_view &= name not in files
    return catalogue_of("duckdb", list(found.values()))


def _tables(rows: Rows) -> dict[Place, FoundTable]:
    listed = rows(
        f"""
        SELECT {_PLACE}, table_name, false, schema_name = current_schema()
        FROM duckdb_tables() WHERE {_OWN} AND NOT internal
        UNION ALL
        SELECT {_PLACE}, view_name, true, schema_name = current_schema()
        FROM duckdb_views() WHERE {_OWN} AND NOT internal
        """
    )
    temporary = {name.lower() for schema, name, *_ in listed if schema == _TEMPORARY}
    return {
        (schema, name): FoundTable((schema, name), is_view, schema == _TEMPORARY or is_current)
        for schema, name, is_view, is_current in listed
        if not (schema == _HIDDEN and name.lower() in temporary)
    }


def _add_columns(found: dict[Place, FoundTable], rows: Rows) -> None:
    """Columns; older versions do not say which are generated."""
    described = rows("DESCRIBE FROM duckdb_columns()")
    generated = "is_generated" if "is_generated" in {row[0] for row in described} else "false"
    for schema, table, name, declared, is_generated in rows(
        f"""
        SELECT {_PLACE}, table_name, column_name, data_type, {generated}
        FROM duckdb_columns() WHERE {_OWN} AND NOT internal
        ORDER BY database_name, schema_name, table_name, column_index
        """
    ):
        if (schema, table) in found:
            column = CatalogueColumn(name, kind_of(declared), is_generated)
            found[schema, table].columns.append(column)


def _add_keys(found: dict[Place, FoundTable], rows: Rows) -> None:
    """Constraints, and unique indexes over nothing but columns, which are listed as SQL."""
    for schema, table, kind, names, target, target_names in rows(
        f"""
        SELECT {_PLACE}, table_name, constraint_type, constraint_column_names,
               referenced_table, referenced_column_names
        FROM duckdb_constraints() WHERE {_OWN}
        """
    ):
        of = found.get((schema, table))
        if of is None:
            continue
        if kind == "PRIMARY KEY":
            of.primary_key = tuple(names)
        elif kind == "UNIQUE":
            of.unique.add(tuple(names))
        elif kind == "FOREIGN KEY":
            of.references.append((tuple(names), (schema, target), tuple(target_names)))
    for schema, table, expressions in rows(
        f"SELECT {_PLACE}, table_name, CAST(expressions AS VARCHAR[]) "
        f"FROM duckdb_indexes() WHERE {_OWN} AND is_unique AND NOT is_primary"
    ):
        of = found.get((schema, table), FoundTable((schema, table)))
        written = {form: each.name for each in of.columns for form in (each.sql, each.name)}
        if all(each in written for each in expressions):
            of.unique.add(tuple(written[each] for each in expressions))
