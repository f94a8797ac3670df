"""Large models and results as columns: folders of Parquet tables, databases behind templates."""
