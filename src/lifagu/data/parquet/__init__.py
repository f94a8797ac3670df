"""Folders of Parquet tables: a model and results as columns, through DuckDB."""
