"""Cohorts: who is like whom when no two tables are equal."""
