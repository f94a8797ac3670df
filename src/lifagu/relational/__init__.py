"""Relational models: domains, relations, parfactors, and the way to a ground graph."""
