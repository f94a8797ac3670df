"""Large models and results as columns: Parquet tables, read and written through DuckDB."""

from __future__ import annotations

from lifagu.sql.reading import count_arguments, read_folder
from lifagu.sql.reading_evidence import read_folder_evidence
from lifagu.sql.writing import check_folder, group_tables, model_tables, write_folder, write_table
from lifagu.sql.writing_lifted import lifted_tables

__all__ = [
    "check_folder",
    "count_arguments",
    "group_tables",
    "lifted_tables",
    "model_tables",
    "read_folder",
    "read_folder_evidence",
    "write_folder",
    "write_table",
]
