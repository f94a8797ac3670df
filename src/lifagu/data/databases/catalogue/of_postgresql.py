"""What a PostgreSQL database holds, by its system tables: a few queries, however many tables."""

from __future__ import annotations

from lifagu.data.databases.catalogue import Catalogue, CatalogueColumn, ColumnKind
from lifagu.data.databases.catalogue.building import FoundTable, Rows, catalogue_of
from lifagu.data.databases.catalogue.kinds import kind_of

# partitions are within their table; tables of extensions and of other sessions are no data
_TABLES = """
    SELECT c.oid, n.nspname, c.relname, c.relkind, pg_table_is_visible(c.oid) AS is_visible
    FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
      AND NOT c.relispartition
      AND n.nspname <> 'information_schema'
      AND (n.nspname !~ '^pg_' OR n.oid = pg_my_temp_schema())
      AND has_schema_privilege(n.oid, 'USAGE')
      AND has_table_privilege(c.oid, 'SELECT')
      AND NOT EXISTS (
          SELECT FROM pg_catalog.pg_depend d
          WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'
      )
"""
_COLUMNS = f"""
    SELECT a.attrelid::bigint, a.attname::text, t.typcategory::text,
           CASE WHEN t.typtype = 'd' THEN format_type(t.typbasetype, t.typtypmod)
                ELSE format_type(a.atttypid, a.atttypmod) END::text,
           a.attgenerated <> ''
    FROM pg_catalog.pg_attribute a
    JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
    WHERE a.attnum > 0 AND NOT a.attisdropped
      AND a.attrelid IN (SELECT oid FROM ({_TABLES}) AS tables)
    ORDER BY a.attrelid, a.attnum
"""


def _names(table: str, numbers: str) -> str:
    """The names of columns, of which an array has the numbers."""
    return f"""
        ARRAY(
            SELECT a.attname::text
            FROM unnest({numbers}) WITH ORDINALITY AS k(number, place)
            JOIN pg_catalog.pg_attribute a ON a.attrelid = {table} AND a.attnum = k.number
            ORDER BY k.place
        )
    """


# keys are indexes; those over expressions or some of the rows say nothing of columns
_KEYS = f"""
    SELECT i.indrelid::bigint, i.indisprimary,
           {_names("i.indrelid", "(i.indkey::int2[])[0:i.indnkeyatts - 1]")}
    FROM pg_catalog.pg_index i
    WHERE i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
      AND i.indrelid IN (SELECT oid FROM ({_TABLES}) AS tables)
"""
_REFERENCES = f"""
    SELECT f.conrelid::bigint, {_names("f.conrelid", "f.conkey")},
           f.confrelid::bigint, {_names("f.confrelid", "f.confkey")}
    FROM pg_catalog.pg_constraint f
    WHERE f.contype = 'f' AND f.conparentid = 0
      AND f.conrelid IN (SELECT oid FROM ({_TABLES}) AS tables)
"""
_CATEGORIES: dict[str, ColumnKind] = {"N": "number", "B": "truth", "S": "text", "D": "time"}


def catalogue_of_postgresql(rows: Rows) -> Catalogue:
    """All schemas that may be read; a table that the search path finds needs no schema."""
    listing = f"""
        SELECT oid::bigint, nspname::text, relname::text, relkind IN ('v', 'm'), is_visible
        FROM ({_TABLES}) AS tables
    """
    found = {
        number: FoundTable((schema, name), is_view, is_visible)
        for number, schema, name, is_view, is_visible in rows(listing)
    }
    for number, name, category, declared, is_generated in rows(_COLUMNS):
        column = CatalogueColumn(name, _kind(category, declared), is_generated)
        found[number].columns.append(column)
    for number, is_primary, names in rows(_KEYS):
        if is_primary:
            found[number].primary_key = tuple(names)
        else:
            found[number].unique.add(tuple(names))
    for number, names, target, target_names in rows(_REFERENCES):
        if target in found:
            place = found[target].place
            found[number].references.append((tuple(names), place, tuple(target_names)))
    return catalogue_of("postgresql", list(found.values()))


def _kind(category: str, declared: str) -> ColumnKind:
    """By category where types are the user's own: enumerations are texts, domains what they hold.

    >>> [_kind("E", "mood"), _kind("A", "integer[]"), _kind("S", "citext"), _kind("U", "box3d")]
    ['text', 'other', 'text', 'other']
    """
    if category == "E":
        return "text"
    kind = kind_of(declared)
    return _CATEGORIES.get(category, "other") if kind == "unknown" else kind
