"""The verbs of a case by SQL, on DuckDB's disk or on Spark, with the results that memory gives."""
