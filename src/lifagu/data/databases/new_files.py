"""Tables by column put into a DuckDB file: a new database, or more rows for a table in it."""

from __future__ import annotations

from collections.abc import Mapping

from lifagu.basics.atomic_files import PathLike, replaced_file
from lifagu.basics.columns import Columns
from lifagu.data.duck import Duck, quoted
from lifagu.data.parquet.copying import selected


def new_database(path: PathLike, tables: Mapping[str, Columns]) -> None:
    """Make a DuckDB file of these tables; a file of that name is replaced in one step."""
    with replaced_file(path) as temporary:
        # DuckDB makes its own file, and takes an empty one for a broken database
        temporary.unlink()
        with Duck(file=temporary, purpose="a database") as duck:
            for name, columns in tables.items():
                with selected(duck, columns) as rows:
                    duck.run(f"CREATE TABLE {quoted(name)} AS {rows}", path)


def add_rows(path: PathLike, table: str, columns: Columns) -> None:
    """Insert rows into a table of a DuckDB file; columns are matched by name."""
    with Duck(file=path, purpose="a database") as duck, selected(duck, columns) as rows:
        duck.run(f"INSERT INTO {quoted(table)} BY NAME {rows}", path)
