"""Learning: tables from observed cells, by counts, by expectation and maximisation, by scores."""
