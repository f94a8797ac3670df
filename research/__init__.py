"""Evaluations outside the package: the paper's, a harder suite, peers, and real data."""
