"""Large models and results as columns: folders of Parquet tables through DuckDB, and databases behind templates."""

from __future__ import annotations

from lifagu.sql.databases import check_writable, write_results
from lifagu.sql.filling import add_rows, new_database
from lifagu.sql.reading import count_arguments, load_folder, read_folder, read_folder_evidence
from lifagu.sql.templates import load_template
from lifagu.sql.writing import check_folder, group_tables, model_tables, write_folder, write_table
from lifagu.sql.writing_lifted import lifted_tables

__all__ = [
    "add_rows",
    "check_folder",
    "check_writable",
    "count_arguments",
    "group_tables",
    "lifted_tables",
    "load_folder",
    "load_template",
    "model_tables",
    "new_database",
    "read_folder",
    "read_folder_evidence",
    "write_folder",
    "write_results",
    "write_table",
]
