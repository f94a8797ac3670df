"""The suite in which every table is estimated from a few records."""
