"""Small folders of Parquet tables, written by SQL."""

import duckdb

TABLES = ("variables", "factors", "arguments", "tables")
GOOD = {
    "variables": """
        SELECT * FROM (
            VALUES (0, 'A', ['no', 'yes']), (1, 'B', NULL), (2, 'C', NULL)
        ) t(id, name, range)
    """,
    "factors": "SELECT * FROM (VALUES (0, 'f', 0), (1, 'g', NULL)) t(id, name, table_id)",
    "arguments": """
        SELECT * FROM (
            VALUES (0, 0, 0), (0, 1, 1), (1, 0, 2)
        ) t(factor_id, position, variable_id)
    """,
    "tables": "SELECT * FROM (VALUES (0, [1, 2, 3, 4])) t(id, potentials)",
    "evidence": """
        SELECT * FROM (
            VALUES (0, 'yes', NULL), (2, NULL, [1, 3])
        ) t(variable_id, value, likelihood)
    """,
}


def make_folder(folder, **tables):
    """A small folder written by SQL, some of its tables by other statements (None: left out)."""
    folder.mkdir(exist_ok=True)
    for name, statement in {**GOOD, **tables}.items():
        if statement:
            duckdb.sql(f"COPY ({statement}) TO '{folder}/{name}.parquet'")
    return folder
