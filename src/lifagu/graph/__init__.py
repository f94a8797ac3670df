"""Factor graphs: variables, ranges, tables, evidence, and the graph itself."""
