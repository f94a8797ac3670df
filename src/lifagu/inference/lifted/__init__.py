"""The lifted engine: elimination over rows that share a table."""
