"""Large models and results as columns: folders of Parquet tables through DuckDB, and databases
behind templates.
"""
